import type { AuditReader } from '../database';
import { type Found, nothingFound, report } from '../findings';

/**
 * The rows of the feeds that entries and facts require or permit. These rows are required: those of a fact's own
 * tenant, and of the grantee of a grant on one subject. Versions of a subject are required for a tenant with a live
 * grant on it, once a worker has announced its start. Rows for other grants depend on when a grant was accepted or
 * ended, so they are permitted but not required.
 */
const FACTS = `
WITH size AS (SELECT f.size FROM log_feed f WHERE f.is_one),
entries AS (
  SELECT e.log_index, e.entry_type, e.snapshot_version, coalesce(e.subject_key, er.subject_key) AS subject_key,
         coalesce(g.grantor_tenant_id, c.tenant_id, er.tenant_id, s.owner_tenant_id) AS tenant_id,
         g.grantee_tenant_id, g.subject_key AS granted_key
    FROM log_entries e
    LEFT JOIN grant_changes h ON h.grant_change_id = e.grant_change_id
    LEFT JOIN grants g ON g.grant_id = coalesce(e.grant_id, h.grant_id)
    LEFT JOIN owner_changes c ON c.owner_change_id = e.owner_change_id
    LEFT JOIN erasures er ON er.erasure_id = e.erasure_id
    LEFT JOIN subjects s ON s.subject_key = e.subject_key
   WHERE e.log_index < (SELECT size FROM size) AND e.entry_type <= 6
)`;

const FEEDS: readonly { name: string; statement: string }[] = [
  {
    name: 'feed',
    statement: `${FACTS}, permitted AS (
  SELECT tenant_id, log_index, true AS is_required FROM entries WHERE tenant_id IS NOT NULL
   UNION ALL
  SELECT grantee_tenant_id, log_index, granted_key <> 0 FROM entries WHERE grantee_tenant_id <> tenant_id
), stored AS (
  SELECT tenant_id, log_index, count(*) AS rows FROM tenant_feed CROSS JOIN LATERAL unnest(log_indexes) AS i(log_index)
   GROUP BY tenant_id, log_index
)
SELECT coalesce(s.tenant_id, p.tenant_id), coalesce(s.log_index, p.log_index), coalesce(s.rows, 0), p.tenant_id IS NOT NULL
  FROM stored s FULL JOIN permitted p ON p.tenant_id = s.tenant_id AND p.log_index = s.log_index
 WHERE p.tenant_id IS NULL OR s.rows > 1 OR (s.rows IS NULL AND p.is_required)`,
  },
  {
    name: 'feed of shared subjects',
    statement: `${FACTS}, versions AS (
  SELECT * FROM entries WHERE entry_type IN (1, 6)
), granted AS (
  SELECT g.grantee_tenant_id, g.grantor_tenant_id, g.subject_key,
         bool_or(g.revoked_at IS NULL AND coalesce(g.expires_at, 'infinity') > now()
                 AND (g.starts_at IS NULL OR (g.started_told_for = g.starts_at AND NOT g.is_feed_due))
                 AND EXISTS (SELECT FROM log_entries e WHERE e.grant_id = g.grant_id AND e.entry_type = 2
                                                         AND e.log_index < (SELECT size FROM size))
                 AND NOT EXISTS (SELECT FROM grant_changes h LEFT JOIN log_entries e ON e.grant_change_id = h.grant_change_id
                                  WHERE h.grant_id = g.grant_id AND (e.log_index < (SELECT size FROM size)) IS NOT TRUE)) AS is_live
    FROM grants g GROUP BY g.grantee_tenant_id, g.grantor_tenant_id, g.subject_key
), required AS (
  SELECT g.grantee_tenant_id AS tenant_id, v.log_index FROM granted g JOIN versions v ON v.subject_key = g.subject_key
   WHERE g.is_live AND g.subject_key <> 0
)
SELECT r.tenant_id, r.log_index, 0, true FROM required r
 WHERE NOT EXISTS (SELECT FROM shared_feed f WHERE f.tenant_id = r.tenant_id AND f.log_index = r.log_index)
 UNION ALL
SELECT f.tenant_id, f.log_index, 1, false FROM shared_feed f LEFT JOIN entries v ON v.log_index = f.log_index
 WHERE (v.granted_key = 0 AND v.grantee_tenant_id = f.tenant_id) IS NOT TRUE
   AND NOT EXISTS (SELECT FROM granted g WHERE g.grantee_tenant_id = f.tenant_id AND g.subject_key = v.subject_key)
   AND NOT EXISTS (SELECT FROM granted g WHERE g.grantee_tenant_id = f.tenant_id AND g.subject_key = 0
                                           AND g.grantor_tenant_id = v.tenant_id AND v.entry_type IN (1, 6))
   AND f.log_index < (SELECT size FROM size)`,
  },
];

/** Recomputes the change feeds of all tenants from entries and facts. */
export async function checkFeeds(reader: AuditReader): Promise<Found> {
  const found = nothingFound();
  for (const { name, statement } of FEEDS) {
    await reader.each(statement, [], ([tenant, index, rows, isPermitted]) => {
      const where = `${name} of ${tenant}, entry ${index}`;
      if (isPermitted !== 't') report(found, 'feed', where, 'it does not concern the tenant');
      else report(found, 'feed', where, rows === '0' ? 'it is missing' : `the tenant has it ${rows} times`);
    });
  }
  return found;
}
