import { canonicalize, parseStoredJson } from '@iss/domain';
import { Client } from 'pg';
import { toDomainError } from '../../sql/db-errors';

export interface FilledHashes {
  /** Snapshots that got their `envelope_hash`. */
  hashes: number;
  /** Snapshots that got their `prev_hash`. */
  links: number;
  /** Ids of snapshots whose stored text is not canonical: no hash of it would ever verify. */
  notCanonical: string[];
}

interface Unsealed {
  subject_key: string;
  snapshot_version: number;
  snapshot_id: string;
  /** Null where the hash stands already. */
  envelope: string | null;
}

const BATCH = 100;
const CONNECT_TIMEOUT_MS = 5_000;

const NEXT = `
SELECT subject_key, snapshot_version, snapshot_id, CASE WHEN envelope_hash IS NULL THEN envelope END AS envelope
  FROM snapshots
 WHERE (envelope_hash IS NULL OR (prev_hash IS NULL AND snapshot_version > 1))
   AND (subject_key, snapshot_version) > ($1::bigint, $2::integer)
 ORDER BY subject_key, snapshot_version LIMIT ${BATCH}`;

const FILL_HASHES = `
UPDATE snapshots SET envelope_hash = sha256(convert_to(envelope, 'UTF8'))
 WHERE snapshot_id = ANY ($1::uuid[]) AND envelope_hash IS NULL`;

const FILL_LINKS = `
UPDATE snapshots child SET prev_hash = parent.envelope_hash
  FROM snapshots parent
 WHERE child.snapshot_id = ANY ($1::uuid[]) AND child.prev_hash IS NULL
   AND parent.subject_key = child.subject_key AND parent.snapshot_version = child.snapshot_version - 1
   AND parent.envelope_hash IS NOT NULL`;

/**
 * Fills in the `envelope_hash` of snapshots that were imported without, and the `prev_hash` of their children (contract,
 * "`envelope_hash` null"), in small batches. As the owner of the tables: the trigger that refuses every change of a
 * snapshot lets this one pass, for that one value. Repeating it changes nothing. Throws `unavailable` when the database
 * cannot be reached.
 */
export async function fillHashes(databaseUrl: string): Promise<FilledHashes> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // The failure rejects the statement under way; without a listener it would end the process.
  client.on('error', () => undefined);
  const filled: FilledHashes = { hashes: 0, links: 0, notCanonical: [] };
  try {
    await client.connect();
    let rows: Unsealed[] = [];
    do {
      const last = rows.at(-1);
      ({ rows } = await client.query<Unsealed>(NEXT, [last?.subject_key ?? 0, last?.snapshot_version ?? 0]));
      const unhashed = rows.filter((row) => row.envelope !== null);
      const canonical = unhashed.filter((row) => row.envelope !== null && isCanonical(row.envelope));
      filled.notCanonical.push(...unhashed.filter((row) => !canonical.includes(row)).map((row) => row.snapshot_id));
      // Parents stand before their children in this order, so that their hashes are there when links are made.
      filled.hashes += (await client.query(FILL_HASHES, [canonical.map((row) => row.snapshot_id)])).rowCount ?? 0;
      filled.links += (await client.query(FILL_LINKS, [rows.map((row) => row.snapshot_id)])).rowCount ?? 0;
    } while (rows.length === BATCH);
    return filled;
  } catch (error) {
    throw toDomainError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function isCanonical(text: string): boolean {
  try {
    return canonicalize(parseStoredJson(text)) === text;
  } catch {
    return false;
  }
}
