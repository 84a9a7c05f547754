import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { OF_SUBJECT, SUBJECT_VIEW, useSubject, useTenantId } from '../../app/address.ts';
import { apiCall } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { subjectLinkColumn } from '../../entities/subject.tsx';
import { ChoiceFilter, Filters, keyIn, useFilters } from '../../forms/filters.tsx';
import { List, ListPage } from '../../forms/list-page.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Loaded, Empty, Notice, Page, type Tone } from '../../ui/page.tsx';
import { badgeColumn, type Column } from '../../ui/table/table.tsx';
import { wholeName } from '../../ui/text/place.tsx';
import { drafts, isChanged, useDrafts } from './draft/draft.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

const SHOWN_PATHS = 3;

export const UPDATE_TONES: Readonly<Record<api.Update['status'], Tone>> = {
  proposed: 'accent',
  applied: 'good',
  withdrawn: 'plain',
};

/** Lists the proposals of the tenant. */
export function ProposalsView() {
  const tenantId = useTenantId();
  const query = useStatusQuery();
  const call = apiCall('GET', '/v1/tenants/{tenant_id}/entity-state-updates', { path: { tenant_id: tenantId }, query });
  const toSubjects = (
    <Link to="/t/$tenantId/subjects" params={{ tenantId }} className={buttonClass()}>
      {TEXT.toSubjects}
    </Link>
  );
  return (
    <ListPage
      title={TEXT.title}
      note={TEXT.note}
      call={call}
      tabs={<Unsent tenantId={tenantId} subjectPath={null} />}
      filters={<StatusFilter />}
      caption={TEXT.caption}
      keyOf={({ update_id: id }) => id}
      columns={[whatColumn(tenantId), subjectLinkColumn(TEXT.subject, tenantId), ...COLUMNS]}
      empty={{ title: TEXT.none, text: TEXT.noneText, children: toSubjects }}
    />
  );
}

/** Lists the proposals on a subject. */
export function SubjectProposalsView() {
  const { tenantId, subjectId, path, params, ids } = useSubject();
  const may = useMay(tenantId);
  const access = useSubjectAccess();
  const isOwner = access.data?.isOwner === true;
  const call = apiCall('GET', `${OF_SUBJECT}/updates`, { path: ids, query: useStatusQuery() });
  const isErased = useSubjectHead(access.data).data?.erased !== undefined;
  const mayCreate =
    isOwner && !isErased && may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates');
  const create = mayCreate && (
    <Link to={`${SUBJECT_VIEW}/proposals/new`} params={params} className={buttonClass('primary')}>
      {TEXT.create}
    </Link>
  );
  return (
    <Page title={TEXT.titleOf(subjectId)} note={TEXT.note} actions={create} call={call}>
      <Unsent tenantId={tenantId} subjectPath={path} />
      <Filters>
        <StatusFilter />
      </Filters>
      <Loaded query={access}>
        {(): ReactNode =>
          isOwner ? (
            <List
              caption={TEXT.caption}
              call={call}
              keyOf={({ update_id: id }) => id}
              columns={[whatColumn(tenantId), ...COLUMNS]}
              empty={{ title: TEXT.none, text: TEXT.noneOfSubject }}
            />
          ) : (
            <Empty title={TEXT.ownersChange} />
          )
        }
      </Loaded>
    </Page>
  );
}

function useStatusQuery(): { status?: api.Update['status'] } {
  const status = keyIn(TEXT.statuses, useFilters().search['status']);
  return status === undefined ? {} : { status };
}

function StatusFilter() {
  return <ChoiceFilter name="status" label={TEXT.status} options={{ '': TEXT.everyStatus, ...TEXT.statuses }} />;
}

function whatColumn(tenantId: string): Column<api.Update> {
  const what = ({ patch_ops: operations }: api.Update): string =>
    operations === null ? TEXT.erased : changedPathsText(operations);
  return {
    title: TEXT.what,
    isHeader: true,
    value: what,
    cell: (update) => {
      const { update_id: updateId, subject_type: subjectType, subject_id: subjectId } = update;
      return (
        <Link to={`${SUBJECT_VIEW}/proposals/$updateId`} params={{ tenantId, subjectType, subjectId, updateId }}>
          {what(update)}
        </Link>
      );
    },
  };
}

const COLUMNS: readonly Column<api.Update>[] = [
  badgeColumn(TEXT.status, ({ status }) => status, UPDATE_TONES, TEXT.statuses),
  { title: TEXT.base, value: ({ base_snapshot_version: version }) => version },
  whoColumn(TEXT.by, ({ proposed_by: by }) => by),
  { title: TEXT.when, at: ({ created_at: at }) => at },
];

/** Returns the changed attributes, or else the other changed paths. */
export function changedPathsText(operations: readonly api.PatchOperation[]): string {
  const paths = [...new Set(operations.map(({ path }) => path))];
  const attributes = paths.filter((path) => path.startsWith('/attributes/'));
  const shown = (attributes.length > 0 ? attributes : paths).map(wholeName);
  return TEXT.firstPaths(shown.slice(0, SHOWN_PATHS), Math.max(0, shown.length - SHOWN_PATHS));
}

/** Lists the unsent drafts of this page. */
function Unsent({ tenantId, subjectPath }: { tenantId: string; subjectPath: string | null }) {
  const unsent = useDrafts().filter(
    (draft) =>
      draft.subject.tenantId === tenantId &&
      (subjectPath === null || draft.subject.path === subjectPath) &&
      isChanged(draft),
  );
  return unsent.map(({ subject }) => (
    <Notice key={subject.path} tone="warn">
      <div className={styles.line}>
        <span>{TEXT.unsent(subject.subjectId)}</span>
        <Link to={`${SUBJECT_VIEW}/proposals/new`} params={subject.params}>
          {TEXT.goOn}
        </Link>
        <Button kind="plain" small onClick={() => drafts.drop(subject)}>
          {TEXT.discard}
        </Button>
      </div>
    </Notice>
  ));
}
