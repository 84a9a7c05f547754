import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { useSubject, useTenantId } from '../../app/address.ts';
import { tenantPath, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { TEXT } from './words.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { wholeName } from '../../ui/text/place.tsx';
import { Answer, Badge, Empty, Notice, type Tone } from '../../ui/state.tsx';
import { SubjectLink } from '../../entities/subject-link.tsx';
import { type Column, ListTable } from '../../ui/table/table.tsx';
import { Who } from '../../entities/principal.tsx';
import ui from '../../ui/ui.module.css';
import { drafts, isChanged, useDrafts } from './draft.ts';
import styles from './proposals.module.css';

type Status = api.Update['status'];
const STATUSES = ['proposed', 'applied', 'withdrawn'] as const satisfies readonly Status[];
const SHOWN_PATHS = 3;

export const STATUS_TONES: Readonly<Record<Status, Tone>> = { proposed: 'accent', applied: 'good', withdrawn: 'plain' };

/** Lists the proposals of the tenant. */
export function ProposalsView() {
  const tenantId = useTenantId();
  const { status } = useSearch({ from: '/signed-in/t/$tenantId/proposals' });
  const navigate = useNavigate();
  const path = tenantPath(tenantId, 'entity-state-updates');
  const query = status === undefined ? {} : { status };
  const list = useList<api.Update>(path, query);
  return (
    <Page title={TEXT.title} note={TEXT.note} call={{ method: 'GET', path, query }}>
      <Unsent tenantId={tenantId} subjectPath={null} />
      <StatusFilter
        status={status}
        choose={(next) =>
          void navigate({ to: '/t/$tenantId/proposals', params: { tenantId }, search: next, replace: true })
        }
      />
      <ListTable
        caption={TEXT.caption}
        list={list}
        keyOf={({ update_id: id }) => id}
        columns={[
          columns.what(tenantId),
          columns.subject(tenantId),
          columns.status,
          columns.base,
          columns.by,
          columns.when,
        ]}
        empty={
          <Empty title={TEXT.none}>
            <p>{TEXT.noneText}</p>
            <Link to="/t/$tenantId/subjects" params={{ tenantId }} className={buttonClass()}>
              {TEXT.toSubjects}
            </Link>
          </Empty>
        }
      />
    </Page>
  );
}

/** Lists the proposals on a subject. */
export function SubjectProposalsView() {
  const { tenantId, subjectId, path: subjectPath, params } = useSubject();
  const { status } = useSearch({ from: '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId/proposals' });
  const navigate = useNavigate();
  const may = useMay(tenantId);
  const path = `${subjectPath}/updates`;
  const query = status === undefined ? {} : { status };
  const access = useSubjectAccess();
  const isOwner = access.data?.isOwner === true;
  const list = useList<api.Update>(isOwner ? path : null, query);
  const isErased = useSubjectHead(access.data).data?.erased !== undefined;
  const mayCreate =
    isOwner && !isErased && may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates');
  const create = mayCreate && (
    <Link
      to="/t/$tenantId/subjects/$subjectType/$subjectId/proposals/new"
      params={params}
      className={buttonClass('primary')}
    >
      {TEXT.create}
    </Link>
  );
  return (
    <Page title={TEXT.titleOf(subjectId)} note={TEXT.note} actions={create} call={{ method: 'GET', path, query }}>
      <Unsent tenantId={tenantId} subjectPath={subjectPath} />
      <StatusFilter
        status={status}
        choose={(next) =>
          void navigate({
            to: '/t/$tenantId/subjects/$subjectType/$subjectId/proposals',
            params,
            search: next,
            replace: true,
          })
        }
      />
      <Answer query={access}>
        {() =>
          isOwner ? (
            <ListTable
              caption={TEXT.caption}
              list={list}
              keyOf={({ update_id: id }) => id}
              columns={[columns.what(tenantId), columns.status, columns.base, columns.by, columns.when]}
              empty={
                <Empty title={TEXT.none}>
                  <p>{TEXT.noneOfSubject}</p>
                </Empty>
              }
            />
          ) : (
            <Empty title={TEXT.ownersChange} />
          )
        }
      </Answer>
    </Page>
  );
}

const columns = {
  what: (tenantId: string): Column<api.Update> => ({
    title: TEXT.what,
    isHeader: true,
    value: ({ patch_ops: operations }) => (operations === null ? TEXT.erased : pathsOf(operations)),
    cell: ({ update_id: updateId, subject_type: subjectType, subject_id: subjectId, patch_ops: operations }) => (
      <Link
        to="/t/$tenantId/subjects/$subjectType/$subjectId/proposals/$updateId"
        params={{ tenantId, subjectType, subjectId, updateId }}
      >
        {operations === null ? TEXT.erased : pathsOf(operations)}
      </Link>
    ),
  }),
  subject: (tenantId: string): Column<api.Update> => ({
    title: TEXT.subject,
    value: ({ subject_id: id }) => id,
    cell: ({ subject_type: type, subject_id: id, name }) => (
      <SubjectLink tenantId={tenantId} type={type} id={id} name={name} version={null} />
    ),
  }),
  status: {
    title: TEXT.status,
    value: ({ status }) => TEXT.statuses[status],
    cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{TEXT.statuses[status]}</Badge>,
  },
  base: { title: TEXT.base, value: ({ base_snapshot_version: version }) => version },
  by: { title: TEXT.by, value: ({ proposed_by: by }) => by, cell: ({ proposed_by: by }) => <Who id={by} /> },
  when: { title: TEXT.when, at: ({ created_at: at }) => at },
} satisfies Record<string, Column<api.Update> | ((tenantId: string) => Column<api.Update>)>;

/** Returns the changed attributes, or else the other changed paths. */
export function pathsOf(operations: readonly api.PatchOperation[]): string {
  const paths = [...new Set(operations.map(({ path }) => path))];
  const attributes = paths.filter((path) => path.startsWith('/attributes/'));
  const shown = (attributes.length > 0 ? attributes : paths).map(wholeName);
  return TEXT.firstPaths(shown.slice(0, SHOWN_PATHS), Math.max(0, shown.length - SHOWN_PATHS));
}

function StatusFilter({
  status,
  choose,
}: {
  status: string | undefined;
  choose: (search: { status?: string }) => void;
}) {
  return (
    <div className={ui.filters}>
      <Select
        label={TEXT.status}
        value={status ?? ''}
        options={[
          { value: '', label: TEXT.everyStatus },
          ...STATUSES.map((value) => ({ value, label: TEXT.statuses[value] })),
        ]}
        onChange={(event) => choose(event.target.value === '' ? {} : { status: event.target.value })}
      />
    </div>
  );
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
        <Link to="/t/$tenantId/subjects/$subjectType/$subjectId/proposals/new" params={subject.params}>
          {TEXT.goOn}
        </Link>
        <Button kind="plain" small onClick={() => drafts.drop(subject)}>
          {TEXT.discard}
        </Button>
      </div>
    </Notice>
  ));
}
