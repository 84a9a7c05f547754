import { type LogFact, logEntryText, type LogRecordsFact, type ViewCommittedFact } from '@iss/domain';
import {
  appendLeaves,
  type Checkpoint,
  createVerifier,
  EMPTY_EDGE,
  leafHash,
  openNote,
  parseCheckpoint,
  readConsistencyProof,
  type RightEdge,
  rootOfLeaves,
  TileHashes,
  tileHashReader,
  toHex,
  verifyConsistency,
} from '@iss/tlog';
import type { Product } from './product.ts';
import { waitFor } from './wait-for.ts';

const DEADLINE_MS = 120_000;

const PUBLISHED = `
  SELECT t.size::int AS size
    FROM log_tree t
   WHERE NOT EXISTS (SELECT FROM log_waiting) AND NOT EXISTS (SELECT FROM records_waiting)
     AND t.size = (SELECT c.size FROM log_checkpoints c ORDER BY checkpoint_id DESC LIMIT 1)`;

/** SQL that returns every fact as its entry should name it. */
const FACTS = `
  SELECT 1 AS entry_type, subject_key, snapshot_version, NULL::uuid AS grant_id, NULL::bigint AS owner_change_id,
         NULL::bigint AS grant_change_id, NULL::bigint AS record_batch_id FROM snapshots
  UNION ALL SELECT 2, NULL, NULL, grant_id, NULL, NULL, NULL FROM grants
  UNION ALL SELECT 3, NULL, NULL, grant_id, NULL, NULL, NULL FROM grants WHERE revoked_at IS NOT NULL
  UNION ALL SELECT 4, NULL, NULL, NULL, owner_change_id, NULL, NULL FROM owner_changes
  UNION ALL SELECT 5, NULL, NULL, NULL, NULL, grant_change_id, NULL FROM grant_changes
  UNION ALL SELECT entry_type, NULL, NULL, NULL, NULL, NULL, batch_id FROM record_batches
  UNION ALL SELECT 14, v.subject_key, v.snapshot_version, NULL, NULL, NULL, NULL
              FROM snapshot_views v LEFT JOIN log_entries e ON e.entry_type = 1 AND e.subject_key = v.subject_key
                                                           AND e.snapshot_version = v.snapshot_version
             WHERE e.names_view IS NOT TRUE`;

/** SQL that returns the place of every record: its own, and the one in its batch. */
const RECORDS = `SELECT 11 AS entry_type, tenant_id, audit_id AS record_id FROM audit_records
  UNION ALL SELECT 12, s.owner_tenant_id, d.disclosure_id FROM disclosures d JOIN subjects s USING (subject_key)`;
const BATCHED = 'SELECT entry_type::int, tenant_id, unnest(record_ids) FROM record_batches';

/** SQL that finds every possible difference between facts and entries. */
const FAULTS = `
  WITH facts AS (${FACTS}), entries AS (
    SELECT entry_type::int, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id, record_batch_id FROM log_entries
  )
  SELECT 'fact without entry' AS fault, to_jsonb(f) AS which FROM (TABLE facts EXCEPT ALL TABLE entries) f
  UNION ALL
  SELECT 'entry without fact, or its second one', to_jsonb(e) FROM (TABLE entries EXCEPT ALL TABLE facts) e
  UNION ALL
  SELECT 'record without batch', to_jsonb(r) FROM ((${RECORDS}) EXCEPT ALL ${BATCHED}) r
  UNION ALL
  SELECT 'record in a second batch', to_jsonb(r) FROM (${BATCHED} EXCEPT ALL (${RECORDS})) r
  UNION ALL
  SELECT 'version before its parent', to_jsonb(e)
    FROM log_entries e JOIN log_entries p ON p.subject_key = e.subject_key AND p.snapshot_version = e.snapshot_version - 1
   WHERE p.log_index > e.log_index AND e.entry_type = 1 AND p.entry_type = 1
  UNION ALL
  SELECT 'a gap in front of', to_jsonb(e)
    FROM (SELECT *, row_number() OVER (ORDER BY log_index) - 1 AS place FROM log_entries) e WHERE log_index <> place`;

/** SQL of a time as entries contain it. */
const timeOf = (column: string): string =>
  `to_char(date_trunc('milliseconds', ${column} AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL that returns the records of a batch `b` in its order. */
const AUDIT_RECORDS_OF_BATCH = `
  SELECT jsonb_agg(jsonb_build_object('auditId', a.audit_id, 'at', ${timeOf('a.at')}, 'action', a.action,
           'principalId', a.principal_id, 'requestId', a.request_id, 'target', a.target,
           'details', a.details - 'purpose') ORDER BY a.audit_id)
    FROM audit_records a WHERE b.entry_type = 11 AND a.tenant_id = b.tenant_id AND a.audit_id = ANY (b.record_ids)`;
const DISCLOSURES_OF_BATCH = `
  SELECT jsonb_agg(jsonb_build_object('subjectType', s.subject_type, 'subjectId', s.subject_id,
           'disclosedOn', to_char(d.disclosed_on, 'YYYY-MM-DD'), 'firstAt', ${timeOf('d.first_at')},
           'granteeTenantId', d.grantee_tenant_id, 'grantId', d.grant_id, 'principalId', d.principal_id, 'via', d.via,
           'fromVersion', d.from_version, 'toVersion', d.to_version, 'requestId', d.request_id,
           'paths', CASE WHEN e.names_paths THEN d.paths END) ORDER BY d.disclosure_id)
    FROM disclosures d JOIN subjects s USING (subject_key) WHERE b.entry_type = 12 AND d.disclosure_id = ANY (b.record_ids)`;

const ENTRIES = `
  SELECT e.entry_type, e.salt, to_jsonb(s) AS subject, g.scopes, g.grant_id, g.grantor_tenant_id, g.grantee_tenant_id,
         g.created_at AS granted_at, g.expires_at, g.revoked_at,
         n.tenant_id, n.snapshot_id, n.snapshot_version, n.created_at, encode(n.envelope_hash, 'hex') AS envelope_hash,
         encode(n.prev_hash, 'hex') AS prev_hash, n.written_by, n.write_request_id,
         (e.names_writer AND n.written_by IS NOT NULL) IS TRUE AS names_writer,
         CASE WHEN e.names_view OR e.entry_type = 14 THEN encode(v.view_hash, 'hex') END AS view_hash, v.committed_at AS view_committed_at,
         h.grant_id AS changed_grant_id, h.grantor_tenant_id AS changed_by_tenant, h.scopes AS new_scopes,
         h.expires_at AS new_expires_at, h.changed_at AS grant_changed_at, first.from_scopes, first.from_expires_at,
         e.names_paths IS TRUE AS names_paths,
         CASE WHEN e.entry_type = 5 THEN h.paths WHEN first.grant_id IS NULL THEN g.paths ELSE first.from_paths END AS paths,
         CASE WHEN e.entry_type = 5 THEN h.starts_at WHEN first.grant_id IS NULL THEN g.starts_at ELSE first.from_starts_at END
           AS starts_at,
         c.tenant_id AS owned, c.principal_id, c.from_principal_id, c.changed_at,
         b.tenant_id AS records_of, (${AUDIT_RECORDS_OF_BATCH}) AS audit_records, (${DISCLOSURES_OF_BATCH}) AS disclosures
    FROM log_entries e
    LEFT JOIN snapshots n USING (subject_key, snapshot_version)
    LEFT JOIN snapshot_views v USING (subject_key, snapshot_version)
    LEFT JOIN grants g USING (grant_id)
    LEFT JOIN owner_changes c USING (owner_change_id)
    LEFT JOIN grant_changes h USING (grant_change_id)
    LEFT JOIN record_batches b ON b.batch_id = e.record_batch_id
    LEFT JOIN LATERAL (SELECT * FROM grant_changes f WHERE f.grant_id = e.grant_id ORDER BY f.grant_change_id LIMIT 1) first
      ON true
    LEFT JOIN subjects s ON s.subject_key = coalesce(n.subject_key, g.subject_key)
   ORDER BY e.log_index`;

interface EntryRow {
  entry_type: number;
  salt: Buffer;
  /** Null for all subjects. */
  subject: { subject_type: string; subject_id: string } | null;
  from_scopes: string[] | null;
  from_expires_at: Date | null;
  names_paths: boolean;
  paths: string[] | null;
  starts_at: Date | null;
  changed_grant_id: string;
  changed_by_tenant: string;
  new_scopes: string[];
  new_expires_at: Date | null;
  grant_changed_at: Date;
  scopes: string[];
  grant_id: string;
  grantor_tenant_id: string;
  grantee_tenant_id: string;
  granted_at: Date;
  expires_at: Date | null;
  revoked_at: Date;
  tenant_id: string;
  snapshot_id: string;
  snapshot_version: number;
  created_at: Date;
  envelope_hash: string;
  prev_hash: string | null;
  written_by: string | null;
  write_request_id: string | null;
  names_writer: boolean;
  view_hash: string | null;
  view_committed_at: Date;
  owned: string;
  principal_id: string | null;
  from_principal_id: string | null;
  changed_at: Date;
  records_of: string;
  audit_records: Extract<LogRecordsFact, { type: 'audit.recorded' }>['records'];
  disclosures: Extract<LogRecordsFact, { type: 'disclosures.recorded' }>['records'];
}

/**
 * Waits until everything is published. Then requires that every fact has one entry, that the entries' hashes give the stored
 * tiles and root, and that each published checkpoint verifies, belongs to this tree, and is consistent with later ones. Returns
 * the number of entries.
 */
export async function requireWholeLog(product: Product, vkey: string): Promise<number> {
  const { size } = await waitFor(async () => (await product.query<{ size: number }>(PUBLISHED))[0], {
    deadlineMs: DEADLINE_MS,
    what: 'all facts to be published',
  });
  expect(await product.query(FAULTS)).toEqual([]);
  const leaves = (await product.query<EntryRow>(ENTRIES)).map((row) => leafHash(logEntryText(factOf(row), row.salt)));
  expect(leaves).toHaveLength(size);
  const checkpoints = await checkpointsOf(product, vkey);
  const tiles = requireRoots(leaves, checkpoints);
  await requireStored(product, tiles, rootOfLeaves(leaves));
  await requireConsistent(checkpoints, tiles);
  return size;
}

function factOf(row: EntryRow): LogFact | LogRecordsFact | ViewCommittedFact {
  const { subject, grant_id: grantId, grantor_tenant_id: grantor } = row;
  const part = { paths: row.paths, startsAt: row.starts_at, namesPaths: row.names_paths };
  switch (row.entry_type) {
    case 1:
      return {
        type: 'snapshot.created',
        tenantId: row.tenant_id,
        subjectType: subject?.subject_type ?? '*',
        subjectId: subject?.subject_id ?? '*',
        snapshotId: row.snapshot_id,
        snapshotVersion: row.snapshot_version,
        envelopeHash: row.envelope_hash,
        prevHash: row.prev_hash,
        createdAt: row.created_at,
        writtenBy: row.written_by,
        writeRequestId: row.write_request_id,
        namesWriter: row.names_writer,
        viewHash: row.view_hash,
      };
    case 2:
      return {
        type: 'grant.created',
        tenantId: grantor,
        grantId,
        granteeTenantId: row.grantee_tenant_id,
        subjectType: subject?.subject_type ?? '*',
        subjectId: subject?.subject_id ?? '*',
        scopes: row.from_scopes ?? row.scopes,
        expiresAt: row.from_scopes === null ? row.expires_at : row.from_expires_at,
        ...part,
        createdAt: row.granted_at,
      };
    case 3:
      return { type: 'grant.revoked', tenantId: grantor, grantId, revokedAt: row.revoked_at };
    case 4:
      return {
        type: 'tenant.owner_changed',
        tenantId: row.owned,
        principalId: row.principal_id,
        fromPrincipalId: row.from_principal_id,
        changedAt: row.changed_at,
      };
    case 5:
      return {
        type: 'grant.changed',
        tenantId: row.changed_by_tenant,
        grantId: row.changed_grant_id,
        scopes: row.new_scopes,
        expiresAt: row.new_expires_at,
        ...part,
        changedAt: row.grant_changed_at,
      };
    case 11:
      return { type: 'audit.recorded', tenantId: row.records_of, records: row.audit_records };
    case 12:
      return { type: 'disclosures.recorded', tenantId: row.records_of, records: row.disclosures };
    case 14:
      return {
        type: 'view.committed',
        tenantId: row.tenant_id,
        subjectType: subject?.subject_type ?? '*',
        subjectId: subject?.subject_id ?? '*',
        snapshotId: row.snapshot_id,
        snapshotVersion: row.snapshot_version,
        viewHash: row.view_hash ?? '',
        committedAt: row.view_committed_at,
      };
    default:
      throw new Error(`There are no entries of type ${row.entry_type}`);
  }
}

/** Returns the published checkpoints in order. This key must have signed all of them. */
async function checkpointsOf(product: Product, vkey: string): Promise<Checkpoint[]> {
  const rows = await product.query<{ note: string }>('SELECT note FROM log_checkpoints ORDER BY checkpoint_id');
  const verifiers = [createVerifier(vkey)];
  return Promise.all(rows.map(async ({ note }) => parseCheckpoint((await openNote(note, verifiers)).text)));
}

/** Grows a tree from checkpoint to checkpoint, none of which may be smaller. Returns the tiles of the last one. */
function requireRoots(leaves: readonly Uint8Array[], checkpoints: readonly Checkpoint[]): Map<string, Buffer> {
  const tiles = new Map<string, Buffer>();
  let edge: RightEdge = EMPTY_EDGE;
  for (const checkpoint of checkpoints) {
    expect(checkpoint.size).toBeGreaterThanOrEqual(edge.size);
    const grown = appendLeaves(edge, leaves.slice(edge.size, checkpoint.size));
    edge = grown.edge;
    expect({ size: edge.size, root: toHex(grown.root) }).toEqual({
      size: checkpoint.size,
      root: toHex(checkpoint.root),
    });
    for (const { level, index, hashes } of grown.added) {
      const name = `${level}/${index}`;
      tiles.set(name, Buffer.concat([tiles.get(name) ?? Buffer.alloc(0), hashes]));
    }
  }
  return tiles;
}

async function requireStored(product: Product, tiles: ReadonlyMap<string, Buffer>, root: Uint8Array): Promise<void> {
  const stored = await product.query<{ name: string; hashes: Buffer }>(
    `SELECT level || '/' || tile_index AS name, hashes FROM log_tiles`,
  );
  const texts = (all: Iterable<[string, Buffer]>): Record<string, string> =>
    Object.fromEntries([...all].map(([name, hashes]) => [name, toHex(hashes)]));
  expect(texts(stored.map(({ name, hashes }) => [name, hashes]))).toEqual(texts(tiles));
  expect(await product.query('SELECT root FROM log_tree')).toEqual([{ root: Buffer.from(root) }]);
}

/** Requires consistency proofs from each checkpoint to the next. */
async function requireConsistent(
  checkpoints: readonly Checkpoint[],
  tiles: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const newest = checkpoints.at(-1);
  if (newest === undefined) throw new Error('Nothing was published');
  const reader = tileHashReader(newest.size, async (asked) =>
    asked.map(({ level, index }) => new TileHashes(tiles.get(`${level}/${index}`) ?? Buffer.alloc(0))),
  );
  for (const older of checkpoints) {
    const proof = older.size === 0 ? [] : await readConsistencyProof(older.size, newest.size, reader);
    verifyConsistency(older, newest, proof);
  }
}
