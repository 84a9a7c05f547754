import type { AuditReader } from '../database';
import { type Found, nothingFound, notice, report } from '../findings';

/** Looks for unlogged snapshots of a range of subjects. */
export interface FactsTask {
  readonly kind: 'facts';
  /** A subject_key. `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

const SEALED = `n.envelope_hash IS NOT NULL AND (n.prev_hash IS NOT NULL OR n.snapshot_version = 1)`;

const UNLOGGED_SNAPSHOTS = `
SELECT n.snapshot_id, n.subject_key, n.snapshot_version FROM snapshots n
 WHERE n.subject_key >= $1 AND n.subject_key < $2 AND ${SEALED}
   AND NOT EXISTS (SELECT FROM log_entries e WHERE e.entry_type = 1 AND e.subject_key = n.subject_key
                                               AND e.snapshot_version = n.snapshot_version)
   AND NOT EXISTS (SELECT FROM log_waiting w WHERE w.entry_type = 1 AND w.subject_key = n.subject_key
                                               AND w.snapshot_version = n.snapshot_version)`;

/** Finds views that no entry names. */
const UNLOGGED_VIEWS = `
SELECT v.subject_key, v.snapshot_version FROM snapshot_views v
 WHERE v.subject_key >= $1 AND v.subject_key < $2 AND v.view_hash IS NOT NULL
   AND NOT EXISTS (SELECT FROM log_entries e WHERE e.entry_type = 14 AND e.subject_key = v.subject_key
                                               AND e.snapshot_version = v.snapshot_version)
   AND NOT EXISTS (SELECT FROM log_entries e WHERE e.entry_type = 1 AND e.subject_key = v.subject_key
                                               AND e.snapshot_version = v.snapshot_version AND e.names_view)
   AND NOT EXISTS (SELECT FROM log_waiting w WHERE w.entry_type IN (1, 14) AND w.subject_key = v.subject_key
                                               AND w.snapshot_version = v.snapshot_version)`;

/** Finds a restart of the log whose entry is not the first entry of the new log. */
const MISPLACED_RESTART = `
SELECT r.restart_id, e.log_index FROM (SELECT * FROM log_restarts ORDER BY restart_id DESC LIMIT 1) r
  JOIN log_entries e ON e.restart_id = r.restart_id WHERE e.log_index <> 0`;

/**
 * Finds signing keys without an announcement, and keys that are stored as first keys of the log although they came
 * later.
 */
const STRANGE_KEYS = `
SELECT k.vkey, 'it signs but is not announced' FROM log_keys k
 WHERE k.until_at IS NULL
   AND NOT EXISTS (SELECT FROM log_key_announcements a WHERE a.vkey = k.vkey AND a.ended_at IS NULL)
 UNION ALL
SELECT a.vkey, 'it counts as a first key, but others were announced before it' FROM log_key_announcements a
 WHERE a.is_first
   AND EXISTS (SELECT FROM log_key_announcements b
                WHERE split_part(b.vkey, '+', 1) = split_part(a.vkey, '+', 1) AND b.announced_at < a.announced_at)`;

const UNSEALED = `SELECT count(*) FROM snapshots n WHERE NOT (${SEALED})`;

const noEntry = (type: number, column: string): string =>
  `NOT EXISTS (SELECT FROM log_entries e WHERE e.entry_type = ${type} AND e.${column} = f.${column})
   AND NOT EXISTS (SELECT FROM log_waiting w WHERE w.entry_type = ${type} AND w.${column} = f.${column})`;

/** Statements that find unlogged facts other than snapshots, by name. */
const UNLOGGED: Readonly<Record<string, string>> = {
  grant: `SELECT f.grant_id FROM grants f WHERE ${noEntry(2, 'grant_id')}`,
  'revocation of grant': `SELECT f.grant_id FROM grants f WHERE f.revoked_at IS NOT NULL AND ${noEntry(3, 'grant_id')}`,
  'change of grant': `SELECT f.grant_change_id FROM grant_changes f WHERE ${noEntry(5, 'grant_change_id')}`,
  'announcement of a key': `SELECT f.announcement_id FROM log_key_announcements f WHERE NOT f.is_first AND ${noEntry(8, 'announcement_id')}`,
  'restart of the log': `SELECT f.restart_id FROM log_restarts f WHERE ${noEntry(7, 'restart_id')}`,
  erasure: `SELECT f.erasure_id FROM erasures f WHERE f.erased_at IS NOT NULL AND ${noEntry(6, 'erasure_id')}`,
  'owner change': `SELECT f.owner_change_id FROM owner_changes f WHERE ${noEntry(4, 'owner_change_id')}`,
};

/** Finds differences between the owners by the logged changes (the last one per principal counts) and the memberships. */
const OWNERS = `
WITH named AS (
  SELECT tenant_id, principal_id, owner_change_id, true AS is_owner FROM owner_changes WHERE principal_id IS NOT NULL
  UNION ALL
  SELECT tenant_id, from_principal_id, owner_change_id, false FROM owner_changes WHERE from_principal_id IS NOT NULL
), logged AS (
  SELECT DISTINCT ON (tenant_id, principal_id) * FROM named
   ORDER BY tenant_id, principal_id, owner_change_id DESC, is_owner DESC
), held AS (
  SELECT tenant_id, principal_id FROM memberships WHERE api_functional_role = 'tenant_owner' AND status = 'active'
)
SELECT coalesce(l.tenant_id, h.tenant_id), coalesce(l.principal_id, h.principal_id), h.tenant_id IS NOT NULL
  FROM (SELECT * FROM logged WHERE is_owner) l
  FULL JOIN held h ON h.tenant_id = l.tenant_id AND h.principal_id = l.principal_id
 WHERE l.tenant_id IS NULL OR h.tenant_id IS NULL`;

/**
 * Finds grants that differ from their last change, and changes that do not continue the previous state, name another tenant or subject than
 * their grant, or have no grant.
 */
const GRANTS = `
SELECT h.grant_id, h.grant_change_id,
       CASE WHEN g.grant_id IS NULL THEN 'the grant does not exist'
            WHEN (g.grantor_tenant_id, g.subject_key) <> (h.grantor_tenant_id, h.subject_key)
            THEN 'it names another grantor or subject than the grant'
            WHEN n.grant_change_id IS NULL THEN 'the grant differs from its last change'
            ELSE 'the next change, ' || n.grant_change_id || ', does not continue it' END
  FROM grant_changes h
  LEFT JOIN grants g ON g.grant_id = h.grant_id
  LEFT JOIN LATERAL (SELECT * FROM grant_changes n
                      WHERE n.grant_id = h.grant_id AND (-n.grant_change_id) < (-h.grant_change_id)
                      ORDER BY (-n.grant_change_id) DESC LIMIT 1) n ON true
 WHERE g.grant_id IS NULL OR (g.grantor_tenant_id, g.subject_key) <> (h.grantor_tenant_id, h.subject_key)
    OR h.scopes <> CASE WHEN n.grant_change_id IS NULL THEN g.scopes ELSE n.from_scopes END
    OR (h.paths, h.starts_at, h.expires_at) IS DISTINCT FROM
       (CASE WHEN n.grant_change_id IS NULL THEN g.paths ELSE n.from_paths END,
        CASE WHEN n.grant_change_id IS NULL THEN g.starts_at ELSE n.from_starts_at END,
        CASE WHEN n.grant_change_id IS NULL THEN g.expires_at ELSE n.from_expires_at END)`;

/** Finds snapshots that are neither logged nor waiting to be logged. */
export async function checkFacts(reader: AuditReader, { from, to }: FactsTask): Promise<Found> {
  const found = nothingFound();
  await reader.each(UNLOGGED_SNAPSHOTS, [from, to], ([id, key, version]) =>
    report(found, 'not_logged', `snapshot ${id}: version ${version} of subject_key ${key}`, 'it has no log entry'),
  );
  await reader.each(UNLOGGED_VIEWS, [from, to], ([key, version]) =>
    report(found, 'not_logged', `view of version ${version} of subject_key ${key}`, 'no log entry names it'),
  );
  return found;
}

/** Finds other facts that are neither logged nor waiting to be logged, a misplaced restart, and wrong keys. */
export async function checkLoggedFacts(reader: AuditReader): Promise<Found> {
  const found = nothingFound();
  for (const [name, statement] of Object.entries(UNLOGGED)) {
    await reader.each(statement, [], ([id]) => report(found, 'not_logged', `${name} ${id}`, 'it has no log entry'));
  }
  await reader.each(MISPLACED_RESTART, [], ([id, index]) =>
    report(found, 'restart', `restart ${id} of the log`, `it is entry ${index}`),
  );
  await reader.each(STRANGE_KEYS, [], ([vkey, what]) => report(found, 'log_key', `key ${vkey}`, what ?? ''));
  return found;
}

/** Checks that owners and grants match their logged changes. Counts snapshots without hashes. */
export async function checkOwnersAndGrants(reader: AuditReader): Promise<Found> {
  const found = nothingFound();
  await reader.each(OWNERS, [], ([tenant, principal, isHeld]) => {
    const what =
      isHeld === 't'
        ? 'is an owner without a change of owners'
        : 'is an owner by the changes of owners, but not in memberships';
    report(found, 'owner', `tenant ${tenant}`, `${principal} ${what}`);
  });
  await reader.each(GRANTS, [], ([grant, change, what]) =>
    report(found, 'grant', `grant ${grant}`, `change ${change}: ${what}`),
  );
  const [unsealed] = await reader.rows(UNSEALED);
  if (unsealed?.[0] !== '0') {
    notice(
      found,
      'snapshots',
      `imported without hashes: ${unsealed?.[0]}. These snapshots are neither logged nor checked (npm run tool -- db/fill-hashes)`,
    );
  }
  return found;
}
