import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type AuditReader, isText, type Row } from '../database';
import { type Found, nothingFound, report } from '../findings';

/** The names of records in entries, by entry_type. */
export const RECORD_NAMES: Readonly<Record<string, string>> = { 11: 'audit record', 12: 'disclosure' };

const TYPES: Readonly<Record<string, string>> = { 11: 'audit.recorded', 12: 'disclosures.recorded' };

const TIME = (column: string): string =>
  `replace(to_char(date_trunc('milliseconds', ${column}), 'YYYY-MM-DD HH24:MI:SS.MS'), ' ', 'T') || 'Z'`;

/** Batches of records in a range of entries. Missing records are null. */
export const BATCHES = `
SELECT e.log_index, e.record_batch_id, translate(encode(e.salt, 'base64'), '+/=', '-_'), e.entry_type, b.entry_type, b.tenant_id,
       array_to_json(b.record_ids), encode(b.digests, 'hex'), b.is_late,
       (SELECT jsonb_agg(CASE b.entry_type
                 WHEN 11 THEN (SELECT jsonb_build_object(
                     'audit_id', a.audit_id, 'at', ${TIME('a.at')}, 'action', a.action, 'principal_id', a.principal_id,
                     'request_id', a.request_id, 'target', a.target, 'details', a.details - 'purpose')
                   FROM audit_records a WHERE (a.tenant_id || '#') = (b.tenant_id || '#') AND a.audit_id = r.id LIMIT 1)
                 ELSE (SELECT jsonb_build_object(
                     'subject_type', s.subject_type, 'subject_id', s.subject_id, 'disclosed_on', to_char(d.disclosed_on, 'YYYY-MM-DD'),
                     'first_at', ${TIME('d.first_at')}, 'grantee_tenant_id', d.grantee_tenant_id, 'grant_id', d.grant_id,
                     'principal_id', d.principal_id, 'via', d.via, 'from_version', d.from_version, 'to_version', d.to_version,
                     'request_id', d.request_id)
                     || CASE WHEN e.names_paths AND d.paths IS NOT NULL THEN jsonb_build_object('paths', d.paths) ELSE '{}' END
                   FROM disclosures d LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s ON true
                  WHERE d.disclosure_id = r.id LIMIT 1) END ORDER BY r.place)
          FROM unnest(b.record_ids) WITH ORDINALITY AS r(id, place))
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type IN (11, 12)
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM record_batches b WHERE b.batch_id = e.record_batch_id LIMIT 1) b ON true`;

type StoredRecord = Readonly<Record<string, unknown>>;

/** A batch as the tables have it. */
export interface StoredBatch {
  readonly text: string;
  /** The time of its oldest record, and of its newest one. */
  readonly times: readonly string[];
  readonly isLate: boolean;
  /** Returns what is wrong with single records; empty if the entry alone differs. */
  readonly faults: () => { where: string; what: string }[];
}

/** Reads a row of {@link BATCHES}. Returns null if the batch is missing. */
export function readBatch([, , salt, type, batchType, tenant, ids, digests, isLate, records]: Row): StoredBatch | null {
  if (!isText(type) || batchType !== type || !isText(tenant) || !isText(ids) || !isText(records)) return null;
  const recordIds: number[] = JSON.parse(ids);
  const stored: (StoredRecord | null)[] = JSON.parse(records);
  const present = stored.filter((record) => record !== null);
  const entry = { entry_version: 'iss_log_entry_v1', records: present, salt, tenant_id: tenant, type: TYPES[type] };
  const name = RECORD_NAMES[type] ?? '';
  return {
    text: canonicalize(entry) ?? '',
    times: present.map((record) => String(record['at'] ?? record['first_at'])).sort(),
    isLate: isLate === 't',
    faults: () =>
      recordIds.flatMap((id, place) => {
        const record = stored[place] ?? null;
        const where = `${name} ${id} of ${tenant}`;
        if (record === null) return [{ where, what: 'it was deleted' }];
        const digest = hash('sha256', canonicalize(record) ?? '', 'hex').slice(0, 8);
        const isSame = digests?.slice(8 * place, 8 * place + 8) === digest;
        return isSame ? [] : [{ where, what: `it was changed: ${canonicalize(record)?.slice(0, 1_000)}` }];
      }),
  };
}

const AUDIT_KEYS = `coalesce(tenant_id, '') AS tenant_id, unnest(record_ids) AS id`;

/** Finds records that are in no batch and not marked, in two batches or marked twice, or stored twice. */
const STRAY_RECORDS: readonly { name: string; statement: string }[] = [
  {
    name: 'audit record',
    statement: `
WITH named AS (
  SELECT ${AUDIT_KEYS} FROM record_batches WHERE entry_type = 11
   UNION ALL SELECT ${AUDIT_KEYS} FROM records_waiting WHERE entry_type = 11
), counted AS (
  SELECT tenant_id, id, count(*) AS named FROM named GROUP BY tenant_id, id
), stored AS (
  SELECT tenant_id, audit_id AS id, count(*) AS rows FROM audit_records GROUP BY tenant_id, audit_id
)
SELECT s.id, s.tenant_id, coalesce(c.named, 0), s.rows
  FROM stored s LEFT JOIN counted c USING (tenant_id, id) WHERE coalesce(c.named, 0) <> 1 OR s.rows <> 1`,
  },
  {
    name: 'disclosure',
    statement: `
WITH named AS (
  SELECT unnest(record_ids) AS id FROM record_batches WHERE entry_type = 12
   UNION ALL SELECT unnest(record_ids) FROM records_waiting WHERE entry_type = 12
), counted AS (
  SELECT id, count(*) AS named FROM named GROUP BY id
), stored AS (
  SELECT d.disclosure_id AS id, max(s.owner_tenant_id) AS tenant_id, count(*) AS rows
    FROM disclosures d LEFT JOIN subjects s ON s.subject_key = d.subject_key GROUP BY d.disclosure_id
)
SELECT s.id, s.tenant_id, coalesce(c.named, 0), s.rows
  FROM stored s LEFT JOIN counted c USING (id) WHERE coalesce(c.named, 0) <> 1 OR s.rows <> 1`,
  },
];

/** Finds batches without an entry. */
const UNLOGGED_BATCHES = `SELECT b.batch_id FROM record_batches b
 WHERE NOT EXISTS (SELECT FROM log_entries e WHERE e.record_batch_id = b.batch_id)
   AND NOT EXISTS (SELECT FROM log_waiting w WHERE w.record_batch_id = b.batch_id)`;

const BACKFILL = 'SELECT entry_type FROM records_backfill';

/** Checks that each record is in exactly one entry, or waits for it. */
export async function checkRecords(reader: AuditReader): Promise<Found> {
  const found = nothingFound();
  const unmarked = new Set((await reader.rows(BACKFILL)).map(([type]) => RECORD_NAMES[type ?? '']));
  for (const { name, statement } of STRAY_RECORDS) {
    await reader.each(statement, [], ([id, tenant, named, rows]) => {
      const where = `${name} ${id} of ${tenant}`;
      if (rows !== '1') report(found, 'record', where, `it is stored ${rows} times`);
      else if (named !== '0') report(found, 'record', where, `it is in ${named} entries`);
      else if (!unmarked.has(name)) report(found, 'not_logged', where, 'it has no log entry');
    });
  }
  await reader.each(UNLOGGED_BATCHES, [], ([id]) =>
    report(found, 'not_logged', `batch ${id} of records`, 'it has no log entry'),
  );
  return found;
}
