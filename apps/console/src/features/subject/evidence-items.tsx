import { useMemo } from 'react';
import type { api, Envelope } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useMay } from '../../app/rights.ts';
import { CopyCurl, Hash } from '../../ui/copy.tsx';
import { Badge, Empty } from '../../ui/page.tsx';
import { type VirtualColumn, VirtualTable } from '../../ui/table/virtual-table.tsx';
import { Time } from '../../ui/time.tsx';
import { TEXT } from './words.ts';
import styles from './subject.module.css';

const MAX_PATHS = 4;
const MAX_TEXT = 400;

interface Item extends api.Evidence {
  readonly place: number;
  readonly paths: readonly string[];
}

/** Lists the evidence of a version, with the paths that name each item. */
export function EvidenceItems({ envelope }: { envelope: Envelope }) {
  const items = useMemo(() => itemsOf(envelope), [envelope]);
  if (items.length === 0) return <NoEvidence version={envelope.snapshot_version} />;
  return <VirtualTable caption={TEXT.evidenceCaption} columns={COLUMNS} items={items} keyOf={placeOf} rowHeight={90} />;
}

function NoEvidence({ version }: { version: number }) {
  const { path, subjectId, tenantId } = useSubject();
  const may = useMay(tenantId);
  const now = new Date().toISOString();
  const body = {
    subject_id: subjectId,
    base_snapshot_version: version,
    patch_ops: [
      {
        op: 'add',
        path: '/evidence/-',
        value: { evidence_id: 'ev-1', evidence_type: 'registry_extract', source: '', captured_at: now },
      },
    ],
  };
  return (
    <Empty title={TEXT.noEvidence} text={TEXT.noEvidenceText}>
      {may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates') && (
        <CopyCurl call={{ method: 'POST', path: `${path}/updates`, body }} />
      )}
    </Empty>
  );
}

function placeOf({ place }: Item): string {
  return String(place);
}

/** Returns the items with the paths that name them. A reference names an item by id and type. */
function itemsOf({ evidence, attribute_paths: paths }: Envelope): readonly Item[] {
  const pointing = new Map<string, string[]>();
  const keyOf = ({ evidence_id: id, evidence_type: type }: { evidence_id: string; evidence_type: string }): string =>
    JSON.stringify([id, type]);
  for (const [path, references] of Object.entries(paths ?? {})) {
    for (const reference of references) {
      const key = keyOf(reference);
      const found = pointing.get(key);
      if (found === undefined) pointing.set(key, [path]);
      else found.push(path);
    }
  }
  return evidence.map((item, place) => ({ ...item, place, paths: pointing.get(keyOf(item)) ?? [] }));
}

const COLUMNS: readonly VirtualColumn<Item>[] = [
  {
    title: TEXT.item,
    width: 'minmax(0, 1fr)',
    isHeader: true,
    value: ({ evidence_id: id, evidence_type: type }) => `${type} ${id}`,
    cell: ({ evidence_id: id, evidence_type: type }) => (
      <span className={styles.path}>
        <strong>{type}</strong> <code>{id}</code>
      </span>
    ),
  },
  {
    title: TEXT.source,
    width: 'minmax(0, 1.6fr)',
    value: ({ source }) => source,
    cell: ({ source, captured_at: captured, retrieved_at: retrieved, hash, locator, notes }) => (
      <span className={styles.value}>
        {source}{' '}
        <span className={styles.quiet}>
          {TEXT.captured} <Time at={captured} />
          {retrieved !== undefined && retrieved !== null && (
            <>
              , {TEXT.retrieved} <Time at={retrieved} />
            </>
          )}
        </span>
        {locator !== undefined && locator !== null && <code className={styles.line}>{locator.slice(0, MAX_TEXT)}</code>}
        {notes !== undefined && notes !== null && <span className={styles.line}>{notes.slice(0, MAX_TEXT)}</span>}
        {hash !== undefined && hash !== null && (
          <span className={styles.line}>
            {hash.alg} <Hash value={hash.value} />
          </span>
        )}
      </span>
    ),
  },
  {
    title: TEXT.backs,
    width: 'minmax(0, 1.2fr)',
    value: ({ paths }) => paths.join(' '),
    cell: ({ paths }) =>
      paths.length === 0 ? (
        <Badge>{TEXT.backsNothing}</Badge>
      ) : (
        <ul className={styles.items}>
          {paths.slice(0, MAX_PATHS).map((path) => (
            <li key={path}>
              <code>{path}</code>
            </li>
          ))}
          {paths.length > MAX_PATHS && <li className={styles.quiet}>{TEXT.andMore(paths.length - MAX_PATHS)}</li>}
        </ul>
      ),
  },
];
