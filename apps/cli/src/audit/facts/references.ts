import type { AuditReader } from '../database';
import { type CheckName, type Found, nothingFound, report } from '../findings';

interface Reference {
  readonly check: CheckName;
  readonly what: string;
  /** Returns a name for each wrong row. */
  readonly statement: string;
}

const version = (key: string, number: string, id?: string): string =>
  `EXISTS (SELECT FROM snapshots n WHERE n.subject_key = ${key} AND n.snapshot_version = ${number}
             ${id === undefined ? '' : `AND n.snapshot_id = ${id}`})`;

/**
 * References between tables. Without a log, only these reveal a dropped newest version, unless the attacker also removed every row that
 * names it.
 */
const REFERENCES: readonly Reference[] = [
  {
    check: 'named',
    what: 'it was applied, but its version is missing',
    statement: `SELECT 'update ' || u.update_id FROM updates u
      WHERE u.status = 'applied' AND NOT ${version('u.subject_key', 'u.base_snapshot_version + 1', 'u.applied_snapshot_id')}`,
  },
  {
    check: 'named',
    what: 'its base version is missing',
    statement: `SELECT 'update ' || u.update_id FROM updates u
      WHERE NOT ${version('u.subject_key', 'u.base_snapshot_version', 'u.base_snapshot_id')}`,
  },
  {
    check: 'named',
    what: 'the version that fulfilled it is missing',
    statement: `SELECT 'refresh request ' || r.refresh_request_id FROM refresh_requests r
      WHERE r.status = 'fulfilled' AND NOT ${version('r.subject_key', 'r.resolved_snapshot_version', 'r.resolved_snapshot_id')}`,
  },
  {
    check: 'named',
    what: 'a disclosed version is missing',
    statement: `SELECT 'disclosure ' || d.disclosure_id || ' to ' || d.grantee_tenant_id FROM disclosures d
      WHERE NOT ${version('d.subject_key', 'd.to_version')}`,
  },
  {
    check: 'named',
    what: 'its version is missing',
    statement: `SELECT 'provenance of version ' || p.snapshot_version || ' of subject_key ' || p.subject_key
       FROM snapshot_provenance p WHERE NOT ${version('p.subject_key', 'p.snapshot_version')}`,
  },
  {
    check: 'credential',
    what: 'it is valid, but its version has a successor',
    statement: `SELECT 'credential cred_' || c.credential_id FROM credentials c
      WHERE c.status = 'valid' AND ${version('c.subject_key', 'c.snapshot_version + 1')}`,
  },
  {
    check: 'credential',
    what: 'it is not invalid, but its version was erased',
    statement: `SELECT 'credential cred_' || c.credential_id FROM credentials c
      WHERE c.status <> 'invalid'
        AND EXISTS (SELECT FROM erasures er WHERE er.subject_key = c.subject_key AND er.status = 'erased'
                       AND c.snapshot_version = ANY (er.versions))`,
  },
  {
    check: 'credential',
    what: 'it is not invalid, but the audit trail says that it was withdrawn',
    statement: `SELECT 'credential cred_' || c.credential_id FROM audit_records r
      JOIN credentials c ON 'cred_' || c.credential_id = r.target ->> 'credential_id' AND c.tenant_id = r.tenant_id
      WHERE r.action = 'credential.withdrawn' AND c.status <> 'invalid'`,
  },
  {
    check: 'credential',
    what: 'it is not invalid, but its key was retired before it expired',
    statement: `SELECT 'credential cred_' || c.credential_id FROM credentials c JOIN issuing_keys k USING (kid)
      WHERE c.status <> 'invalid' AND c.expires_at > k.retired_at`,
  },
  {
    check: 'changed_paths',
    what: 'they are missing, and no erasure removed them',
    statement: `SELECT 'provenance of version ' || p.snapshot_version || ' of subject_key ' || p.subject_key
       FROM snapshot_provenance p JOIN snapshots n USING (subject_key, snapshot_version)
      WHERE p.snapshot_version > 1 AND p.changed_paths IS NULL AND n.created_at >= (SELECT from_at FROM changed_paths_since)
        AND NOT EXISTS (SELECT FROM erasures er WHERE er.subject_key = p.subject_key AND er.status = 'erased'
                           AND p.snapshot_version - 1 = ANY (er.versions))`,
  },
  {
    check: 'named',
    what: 'its version is missing',
    statement: `SELECT 'view of version ' || v.snapshot_version || ' of subject_key ' || v.subject_key
       FROM snapshot_views v WHERE NOT ${version('v.subject_key', 'v.snapshot_version')}`,
  },
  {
    check: 'named',
    what: 'its snapshot is missing',
    statement: `SELECT 'event ' || o.event_id FROM outbox_events o
      WHERE o.snapshot_id IS NOT NULL AND NOT EXISTS (SELECT FROM snapshots n WHERE n.snapshot_id = o.snapshot_id)`,
  },
  {
    check: 'named',
    what: 'a version that it erased is missing',
    statement: `SELECT 'erasure ' || er.public_id FROM erasures er CROSS JOIN LATERAL unnest(er.versions) AS v(number)
      WHERE NOT ${version('er.subject_key', 'v.number')}`,
  },
  {
    check: 'named',
    what: 'its pack in the archive is missing, or was not read back',
    statement: `SELECT 'version ' || n.snapshot_version || ' of subject_key ' || n.subject_key FROM snapshots n
      WHERE n.pack_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM archive_packs p WHERE p.pack_id = n.pack_id AND p.state = 'verified')`,
  },
  {
    check: 'subject_empty',
    what: 'it has no snapshot',
    statement: `SELECT 'subject ' || s.subject_type || ' ' || s.subject_id FROM subjects s
      WHERE NOT EXISTS (SELECT FROM snapshots n WHERE n.subject_key = s.subject_key)`,
  },
  {
    check: 'grant_owner',
    what: 'its grantor does not own the subject',
    statement: `SELECT 'grant ' || g.grant_id || ' of ' || g.grantor_tenant_id FROM grants g
      WHERE g.subject_key <> 0
        AND NOT EXISTS (SELECT FROM subjects s WHERE s.subject_key = g.subject_key AND s.owner_tenant_id = g.grantor_tenant_id)`,
  },
  ...(
    [
      ['update', 'updates', 'update_id', 'tenant_id'],
      ['erasure', 'erasures', 'public_id', 'tenant_id'],
      ['refresh request', 'refresh_requests', 'refresh_request_id', 'owner_tenant_id'],
      ['identifier of subject_key', 'subject_identifiers', 'subject_key', 'owner_tenant_id'],
      ['evidence of subject_key', 'subject_evidence', 'subject_key', 'owner_tenant_id'],
    ] as const
  ).map(([name, table, id, tenant]): Reference => ({
    check: 'tenant',
    what: 'its tenant does not own its subject',
    statement: `SELECT '${name} ' || f.${id} FROM ${table} f
      WHERE f.${tenant} IS NOT NULL
        AND NOT EXISTS (SELECT FROM subjects s WHERE s.subject_key = f.subject_key AND s.owner_tenant_id = f.${tenant})`,
  })),
];

/** Checks that referenced rows exist and belong to the same tenant. */
export async function checkReferences(reader: AuditReader): Promise<Found> {
  const found = nothingFound();
  for (const { check, what, statement } of REFERENCES) {
    await reader.each(statement, [], ([where]) => report(found, check, where ?? '', what));
  }
  return found;
}
