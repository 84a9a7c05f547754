import { useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { tenantPath, useList } from '../../app/api.ts';
import { useMayUseGrants } from '../../app/rights.ts';
import { Problem } from '../../ui/problem.tsx';
import { Empty, Loading } from '../../ui/state.tsx';
import { RowLink } from '../../ui/table/row-link.tsx';
import { type Column, ListTable } from '../../ui/table/table.tsx';
import { keyOfSubject as keyOf, NoGrantsUsed } from '../../entities/subject.tsx';
import { grantedColumns, ownColumns } from '../subjects/columns.tsx';
import { TEXT as SUBJECTS } from '../subjects/words.ts';
import { type FoundRecord, useFoundById } from './by-id.ts';
import { useFoundByScheme } from './by-scheme.ts';
import { meaningsOf } from './meanings.ts';
import { TEXT } from './words.ts';

/** Shows own and shared subjects for each meaning of the text, or a single message if nothing is found. */
export function Found({ find }: { find: string }) {
  const tenantId = useTenantId();
  const { of, type } = useSearch({ from: '/signed-in/t/$tenantId/subjects' });
  const isGranted = of === 'granted';
  const mayUse = useMayUseGrants(tenantId);
  const [first, second] = meaningsOf(find);
  const ownPath = isGranted ? null : tenantPath(tenantId, 'subjects');
  const byFirst = useList<api.Subject>(first === undefined ? null : ownPath, { subject_type: type, ...first?.query });
  const byId = useList<api.Subject>(second === undefined ? null : ownPath, { subject_type: type, ...second?.query });
  // Shared subjects cannot be found by id.
  const isSharedWanted = first !== undefined && first.kind !== 'id' && mayUse === true;
  const shared = useList<api.AccessibleSubject>(
    isSharedWanted ? tenantPath(tenantId, 'accessible-subjects') : null,
    first?.query,
  );
  const byScheme = useFoundByScheme({ tenantId, find, subjectType: type, isOwnWanted: !isGranted, isSharedWanted });
  const records = useFoundById(tenantId, find);
  if (isGranted && mayUse === false) return <NoGrantsUsed />;
  const known = new Set([...byFirst.items, ...(byScheme.data?.own ?? [])].map(keyOf));
  const onlyById = { ...byId, items: byId.items.filter((one) => !known.has(keyOf(one))) };
  const lists = [byFirst, onlyById, shared];
  const sets = [byScheme.data?.own, byScheme.data?.shared, records.data].map((items) => items ?? []);
  const queries = [...lists, byScheme, records];
  const isLoading = queries.some((query) => query.isLoading);
  const isEmpty =
    !isLoading &&
    queries.every(({ error }) => error === null) &&
    [...lists.map(({ items }) => items), ...sets].every(({ length }) => length === 0);
  const titles = { name: TEXT.byName, identifier: TEXT.byIdentifier, id: TEXT.byId };
  return (
    <>
      {isLoading && <Loading />}
      {isEmpty && (
        <Empty title={TEXT.noneFound(find)}>
          <p>{TEXT.noneFoundText}</p>
        </Empty>
      )}
      {records.error !== null && <Problem error={records.error} retry={() => void records.refetch()} />}
      {records.data !== undefined && records.data.length > 0 && <Records records={records.data} />}
      <Subjects title={first === undefined ? '' : titles[first.kind]} list={byFirst} columns={ownColumns(tenantId)} />
      <Subjects
        title={TEXT.byIdentifier}
        list={wholeList(byScheme, byScheme.data?.own)}
        columns={ownColumns(tenantId)}
      />
      <Subjects
        title={second === undefined ? '' : titles[second.kind]}
        list={onlyById}
        columns={ownColumns(tenantId)}
      />
      <Subjects title={SUBJECTS.granted} list={shared} columns={grantedColumns(tenantId)} />
      <Subjects
        title={TEXT.sharedByIdentifier}
        list={wholeList({ ...byScheme, error: null }, byScheme.data?.shared)}
        columns={grantedColumns(tenantId)}
      />
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

/** Returns items as a list without further pages. */
function wholeList<T>(
  { isPending, isFetching, error, refetch }: Pick<Listed<T>, 'isPending' | 'isFetching' | 'error' | 'refetch'>,
  items: readonly T[] = [],
): Listed<T> {
  const more = { hasNextPage: false, isFetchingNextPage: false, fetchNextPage: () => undefined };
  return { items, isPending, isFetching, error, refetch, ...more };
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
