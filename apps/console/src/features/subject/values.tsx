import { useCallback, useDeferredValue, useMemo } from 'react';
import { parsePointer } from '@iss/domain/pure';
import type { api } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useMay } from '../../app/rights.ts';
import { useSubjectAccess } from '../../entities/subject-access.ts';
import { FilterField, useFilters } from '../../forms/filters.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Fold } from '../../ui/fold.tsx';
import { RowLink } from '../../ui/link.tsx';
import { Badge, Empty, Problem } from '../../ui/page.tsx';
import { usePrinting } from '../../ui/print.ts';
import { type VirtualColumn, VirtualTable } from '../../ui/table/virtual-table.tsx';
import { textOfValue } from '../../ui/text/place.tsx';
import { Time } from '../../ui/time.tsx';
import type { Content } from './content.ts';
import type { Leaf } from './leaves.ts';
import { type KnownProvenance, EVIDENCE_TONES, useProvenance } from './provenance.ts';
import { TEXT } from './words.ts';
import styles from './subject.module.css';

/** The number of characters of a value that are shown. The envelope contains the whole. */
const MAX_SHOWN = 600;

type Status = api.ProvedLeaf['evidence_status'];

const MARKS: Readonly<Record<Status, string>> = { current: '✓', carried: '↷', missing: '✗', none: '–', revoked: '⊘' };
const STATUSES: readonly Status[] = ['current', 'carried', 'missing', 'none', 'revoked'];

/** Lists the values of the verified content, with the origin and evidence that the service states. */
export function Values({ content: { snapshot, leaves }, hasProvenance }: { content: Content; hasProvenance: boolean }) {
  const provenance = useProvenance(hasProvenance ? snapshot.snapshot_version : null);
  const { search, set } = useFilters();
  const { status, find: typed = '' } = search;
  const find = useDeferredValue(typed).toLowerCase();
  const { byPath } = provenance;
  const found = useMemo(() => {
    const fits = ({ path, value }: Leaf): boolean =>
      path.toLowerCase().includes(find) || String(value).toLowerCase().includes(find);
    return find === '' ? leaves : leaves.filter(fits);
  }, [leaves, find]);
  // Cells look up their provenance, since that of a large envelope arrives in many pages.
  const statusOf = status === undefined ? null : byPath;
  const rows = useMemo(
    () => (statusOf === null ? found : found.filter(({ path }) => statusOf.get(path)?.evidence_status === status)),
    [found, statusOf, status],
  );
  const columns = useColumns(hasProvenance, byPath);
  // Without a filter, rows are in the order of the provenance pages.
  const { reach } = provenance;
  const isFiltered = find !== '' || status !== undefined;
  const onShown = useCallback((last: number) => (isFiltered ? undefined : reach(last + 200)), [isFiltered, reach]);
  if (leaves.length === 0) return <Empty title={TEXT.noValues} />;
  return (
    <>
      <Filter provenance={provenance} hasProvenance={hasProvenance} shown={rows.length} all={leaves.length} />
      {provenance.error !== null && <Problem error={provenance.error} retry={provenance.refetch} />}
      {!hasProvenance && <p className={styles.quiet}>{TEXT.noLineage}</p>}
      {rows.length === 0 && (status === undefined || provenance.isWhole) ? (
        <Empty title={TEXT.noneFits}>
          <Button onClick={() => set({ find: '', status: '' })}>{TEXT.clear}</Button>
        </Empty>
      ) : (
        <VirtualTable
          caption={TEXT.caption}
          columns={columns}
          items={rows}
          keyOf={pathOf}
          rowHeight={62}
          onShown={onShown}
          more={{ isReading: provenance.isReading, onWhole: provenance.readAll }}
        />
      )}
    </>
  );
}

function Filter({
  provenance: { byPath, known, isWhole, reach, isAsking },
  hasProvenance,
  shown,
  all,
}: {
  provenance: KnownProvenance;
  hasProvenance: boolean;
  shown: number;
  all: number;
}) {
  const { search, set } = useFilters();
  const { find = '', status } = search;
  const counts = useMemo(() => {
    const found = { current: 0, carried: 0, missing: 0, none: 0, revoked: 0 };
    for (const { evidence_status: one } of byPath.values()) found[one]++;
    return found;
  }, [byPath]);
  return (
    <div className={styles.filter}>
      <Fold title={TEXT.filter} isOpen={find !== '' || status !== undefined}>
        <FilterField label={TEXT.find} value={find} hint={TEXT.findHint} onChange={(text) => set({ find: text })} />
        {hasProvenance && (
          <div role="group" aria-label={TEXT.status} className={styles.statuses}>
            {STATUSES.map((one) => (
              <button
                key={one}
                type="button"
                className={styles.status}
                data-tone={EVIDENCE_TONES[one]}
                aria-pressed={status === one}
                title={TEXT.statusTexts[one]}
                onClick={() => set({ status: status === one ? '' : one })}
              >
                <span aria-hidden="true">{MARKS[one]}</span> {TEXT.statuses[one]}{' '}
                <strong>
                  {counts[one].toLocaleString()}
                  {!isWhole && known > 0 && '+'}
                </strong>
              </button>
            ))}
          </div>
        )}
      </Fold>
      <p className={styles.counted} role="status">
        {TEXT.count(shown, all)}
        {hasProvenance && !isWhole && known > 0 && (
          <>
            {' · '}
            {TEXT.known(known, all)}{' '}
            <Button small kind="plain" isPending={isAsking} onClick={() => reach(Infinity)}>
              {isAsking ? TEXT.asking : TEXT.askAll}
            </Button>
          </>
        )}
      </p>
    </div>
  );
}

function useColumns(hasProvenance: boolean, byPath: KnownProvenance['byPath']): readonly VirtualColumn<Leaf>[] {
  const { view } = useSubject();
  const remedy = useRemedy();
  return useMemo((): readonly VirtualColumn<Leaf>[] => {
    const attribute: VirtualColumn<Leaf> = {
      title: TEXT.attribute,
      width: 'minmax(0, 1fr)',
      isHeader: true,
      value: pathOf,
      cell: ({ path }) => <Path path={path} />,
    };
    const value: VirtualColumn<Leaf> = {
      title: TEXT.value,
      width: 'minmax(0, 1.2fr)',
      value: ({ value: one }) => textOfValue(one),
      cell: (leaf) => <Value leaf={leaf} proved={byPath.get(leaf.path)} />,
    };
    if (!hasProvenance) return [attribute, value];
    return [
      attribute,
      value,
      {
        title: TEXT.since,
        width: 'minmax(0, 1fr)',
        at: ({ path }) => byPath.get(path)?.since.effective_at,
        cell: ({ path }) => {
          const proved = byPath.get(path);
          return proved === undefined ? TEXT.notYet : <Since proved={proved} view={view} />;
        },
      },
      {
        title: TEXT.backing,
        width: 'minmax(0, 1.6fr)',
        value: ({ path }) => saidOfBacking(byPath.get(path)),
        cell: ({ path }) => {
          const proved = byPath.get(path);
          if (proved === undefined) return TEXT.notYet;
          const isMended = proved.evidence_status === 'current' || remedy === null;
          return (
            <>
              <Backing proved={proved} />
              {!isMended && <RowLink to={remedy.to + encodeURIComponent(path)}>{remedy.text}</RowLink>}
            </>
          );
        },
      },
    ];
  }, [hasProvenance, byPath, view, remedy]);
}

function pathOf({ path }: Leaf): string {
  return path;
}

/** A link for a value with missing or outdated evidence: to a proposal, or to a request to the owner. */
interface Remedy {
  readonly text: string;
  /** The address without the value's path at its end. */
  readonly to: string;
}

function useRemedy(): Remedy | null {
  const { tenantId, view } = useSubject();
  const may = useMay(tenantId);
  const { isOwner, isFound } = useSubjectAccess().data ?? {};
  const mayPropose = may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates');
  const mayAsk = may('POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests');
  return useMemo(() => {
    if (isOwner === true && mayPropose) return { text: TEXT.mend, to: `${view}/proposals/new?path=` };
    if (isOwner === false && isFound === true && mayAsk)
      return { text: TEXT.askFor, to: `${view}/requests?ask=yes&path=` };
    return null;
  }, [view, isOwner, isFound, mayPropose, mayAsk]);
}

function Path({ path }: { path: string }) {
  const names = parsePointer(path).slice(1);
  const last = names.at(-1) ?? '';
  const before = names.slice(0, -1);
  return (
    <span className={styles.path} title={path}>
      {before.length > 0 && <span className={styles.quiet}>{before.join(' / ')} / </span>}
      <strong>{last}</strong>
    </span>
  );
}

function Value({ leaf: { value }, proved }: { leaf: Leaf; proved: api.ProvedLeaf | undefined }) {
  const text = textOfValue(value);
  const most = usePrinting() ? Infinity : MAX_SHOWN;
  const differs = proved !== undefined && JSON.stringify(proved.value) !== JSON.stringify(value);
  return (
    <span className={styles.value}>
      <span className={typeof value === 'string' ? undefined : styles.literal}>{text.slice(0, most)}</span>
      {text.length > most && <span className={styles.quiet}> {TEXT.more(text.length)}</span>}{' '}
      {text !== '' && <Copy text={text} />}
      {differs && <Badge tone="bad">✗ {TEXT.differs}</Badge>}
    </span>
  );
}

function Since({
  proved: { since_version: version, since, changed_by: by, written_by: writer },
  view,
}: {
  proved: api.ProvedLeaf;
  view: string;
}) {
  return (
    <span className={styles.since} title={TEXT.storedOn(since.recorded_at)}>
      <RowLink to={`${view}?version=${version}`}>{TEXT.sinceVersion(version)}</RowLink>{' '}
      <Time at={since.effective_at} dayOnly />
      {by !== null && <span className={styles.quiet}>{`${TEXT.by} ${TEXT.writer(by, writer)}`}</span>}
    </span>
  );
}

function saidOfBacking(proved: api.ProvedLeaf | undefined): string | null {
  if (proved === undefined) return null;
  const items = proved.evidence.map(({ evidence_type: type, source }) => `${type}, ${source}`);
  return [TEXT.statuses[proved.evidence_status], ...items].join('; ');
}

function StatusBadge({ status }: { status: Status }) {
  return (
    <span title={TEXT.statusTexts[status]}>
      <Badge tone={EVIDENCE_TONES[status]}>
        <span aria-hidden="true">{MARKS[status]}</span> {TEXT.statuses[status]}
      </Badge>
    </span>
  );
}

function Backing({ proved: { evidence_status: status, evidence, unresolved } }: { proved: api.ProvedLeaf }) {
  return (
    <div className={styles.backing}>
      <StatusBadge status={status} />
      <ul className={styles.items}>
        {evidence.map(({ evidence_id: id, evidence_type: type, source, captured_at: at, role }, index) => (
          <li key={index} title={id}>
            {type}, {source}{' '}
            <span className={styles.quiet}>
              {TEXT.captured} <Time at={at} dayOnly />
              {role !== undefined && role !== null && ` · ${TEXT.roles[role]}`}
            </span>
          </li>
        ))}
        {unresolved.map(({ evidence_id: id, evidence_type: type }, index) => (
          <li key={`missing ${index}`}>
            {type} <code>{id}</code> {TEXT.dangling}
          </li>
        ))}
      </ul>
    </div>
  );
}
