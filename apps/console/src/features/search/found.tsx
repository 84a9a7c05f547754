import { useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { apiCall, useList } from '../../app/api.ts';
import { useMayUseGrants } from '../../app/rights.ts';
import { keyOfSubject as keyOf, NoGrantsUsed, SUBJECT, SUBJECTS_AT_ONCE } from '../../entities/subject.tsx';
import { keyIn } from '../../forms/filters.tsx';
import { RowLink } from '../../ui/link.tsx';
import { Empty, Loading, Problem } from '../../ui/page.tsx';
import { type Column, ListTable } from '../../ui/table/table.tsx';
import { grantedColumns, ownColumns } from '../subjects/columns.tsx';
import { TEXT as SUBJECTS } from '../subjects/words.ts';
import { type FoundRecord, useFoundById } from './by-id.ts';
import { type Meaning, meaningsOf } from './meanings.ts';
import { TEXT } from './words.ts';

/** Shows own and shared subjects for each meaning of the text, or a single message if nothing is found. */
export function SearchResults({ find }: { find: string }) {
  const tenantId = useTenantId();
  const { of, type } = useSearch({ from: '/signed-in/t/$tenantId/subjects' });
  const isGranted = of === 'granted';
  const mayUse = useMayUseGrants(tenantId);
  const meanings = meaningsOf(find);
  const meaningOf = (kind: Meaning['kind']): Meaning | undefined => meanings.find((one) => one.kind === kind);
  const path = { tenant_id: tenantId };
  const subjectType = keyIn(SUBJECT.types, type);
  const ownCall = (meaning: Meaning | undefined) =>
    isGranted || meaning === undefined
      ? null
      : apiCall('GET', '/v1/tenants/{tenant_id}/subjects', {
          path,
          query: { subject_type: subjectType, ...meaning.query, limit: SUBJECTS_AT_ONCE },
        });
  // Shared subjects cannot be found by id.
  const sharedCall = (meaning: Meaning | undefined) =>
    mayUse !== true || meaning === undefined
      ? null
      : apiCall('GET', '/v1/tenants/{tenant_id}/accessible-subjects', { path, query: meaning.query });
  const byName = useList(ownCall(meaningOf('name')));
  const byIdentifier = useList(ownCall(meaningOf('identifier')));
  const byId = useList(ownCall(meaningOf('id')));
  const sharedByName = useList(sharedCall(meaningOf('name')));
  const sharedByIdentifier = useList(sharedCall(meaningOf('identifier')));
  const records = useFoundById(tenantId, find);
  if (isGranted && mayUse === false) return <NoGrantsUsed />;
  const known = new Set([...byName.items, ...byIdentifier.items].map(keyOf));
  const onlyById = { ...byId, items: byId.items.filter((one) => !known.has(keyOf(one))) };
  const lists = [byName, byIdentifier, onlyById, sharedByName, sharedByIdentifier];
  const isLoading = [...lists, records].some((query) => query.isLoading);
  const isEmpty =
    !isLoading &&
    [...lists, records].every(({ error }) => error === null) &&
    [...lists.map(({ items }) => items), records.data ?? []].every(({ length }) => length === 0);
  return (
    <>
      {isLoading && <Loading />}
      {isEmpty && <Empty title={TEXT.noneFound(find)} text={TEXT.noneFoundText} />}
      {records.error !== null && <Problem error={records.error} retry={() => void records.refetch()} />}
      {records.data !== undefined && records.data.length > 0 && <Records records={records.data} />}
      <Subjects title={TEXT.byName} list={byName} columns={ownColumns(tenantId)} />
      <Subjects title={TEXT.byIdentifier} list={byIdentifier} columns={ownColumns(tenantId)} />
      <Subjects title={TEXT.byId} list={onlyById} columns={ownColumns(tenantId)} />
      <Subjects title={SUBJECTS.granted} list={sharedByName} columns={grantedColumns(tenantId)} />
      <Subjects title={TEXT.sharedByIdentifier} list={sharedByIdentifier} columns={grantedColumns(tenantId)} />
    </>
  );
}

type Listed<T> = Parameters<typeof ListTable<T>>[0]['list'];

/** Shows subjects that were found; nothing if there are none. */
function Subjects<T extends api.Subject | api.AccessibleSubject>({
  title,
  list,
  columns,
}: {
  title: string;
  list: Listed<T>;
  columns: readonly Column<T>[];
}) {
  if (list.items.length === 0 && list.error === null) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ListTable
        caption={`${SUBJECTS.title}: ${title}`}
        list={list}
        keyOf={(one) => `${'grant_id' in one ? one.grant_id : ''}/${keyOf(one)}`}
        columns={columns}
        empty={null}
      />
    </section>
  );
}

function Records({ records }: { records: readonly FoundRecord[] }) {
  return (
    <section aria-label={TEXT.records}>
      <h2>{TEXT.records}</h2>
      <ul>
        {records.map(({ what, subjectId, to }) => (
          <li key={to}>
            <RowLink to={to}>
              {what} {subjectId}
            </RowLink>
          </li>
        ))}
      </ul>
    </section>
  );
}
