import type { LogEntryType, LogFact, LogKeyAnnouncedFact, LogOwnFact, LogRestartedFact } from '@iss/domain';
import { columns } from '../../sql/columns';
import { grantedColumns } from '../facts/access-facts';

/**
 * Joins the fact that the keys of entry `k` name; all other rows are null. For a grant, `first` has the values before its first
 * change.
 */
export const FACT_OF_KEYS = `
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id LIMIT 1) h ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id) LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
                      WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
  LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id LIMIT 1) c ON true
  LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s
                      WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true`;

/** The time at which the fact of {@link FACT_OF_KEYS} was committed. */
export const FACT_AT = `coalesce(n.created_at, c.changed_at, h.changed_at, er.erased_at,
                                     CASE k.entry_type WHEN 3 THEN g.revoked_at ELSE g.created_at END)`;

/** The number of each type of entry. */
export const LOG_ENTRY_NUMBERS = {
  'snapshot.created': 1,
  'grant.created': 2,
  'grant.revoked': 3,
  'tenant.owner_changed': 4,
  'grant.changed': 5,
  'subject.erased': 6,
} as const satisfies Record<LogEntryType, number>;

const typeName = (type: LogEntryType): string => `CASE k.entry_type WHEN ${LOG_ENTRY_NUMBERS[type]} THEN '${type}' END`;

/** Selects the snapshot `n` of subject `s` as the member `snapshot` of a {@link FactRow}. */
export const SNAPSHOT_FACT = columns(
  {
    type: `CASE WHEN n.snapshot_id IS NOT NULL THEN ${typeName('snapshot.created')} END`,
    tenantId: 'n.tenant_id',
    subjectType: 's.subject_type',
    subjectId: 's.subject_id',
    snapshotId: 'n.snapshot_id',
    snapshotVersion: 'n.snapshot_version',
    envelopeHash: `encode(n.envelope_hash, 'hex')`,
    prevHash: `encode(n.prev_hash, 'hex')`,
    createdAt: 'n.created_at',
    writtenBy: 'n.written_by',
    writeRequestId: 'n.write_request_id',
    namesWriter: 'k.names_writer IS TRUE AND n.written_by IS NOT NULL',
  },
  'snapshot?',
);

/** Selects the versions that entry `k` of erasure `er` names, in the order of their places; null if the entry names none. */
const ERASED_VERSIONS = `CASE WHEN k.names_versions THEN (
    SELECT json_agg(json_build_object(
             'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
             'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
             'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
           ORDER BY v.place)
      FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
     CROSS JOIN LATERAL (SELECT * FROM snapshots gone
                          WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version LIMIT 1) gone) END`;

/** Selects the fact of {@link FACT_OF_KEYS} as a {@link FactRow}, with everything that the text of its entry has. */
export const FACT_OF_ENTRY = factColumns(ERASED_VERSIONS);

/** Selects the same without the versions of an erasure. */
export const FACT = factColumns('NULL::json');

function factColumns(erasedVersions: string): string {
  return [
    SNAPSHOT_FACT,
    columns(
      {
        type: `CASE WHEN g.grant_id IS NOT NULL THEN ${typeName('grant.created')} END`,
        tenantId: 'g.grantor_tenant_id',
        grantId: 'g.grant_id',
        granteeTenantId: 'g.grantee_tenant_id',
        ...grantedColumns(),
        scopes: 'coalesce(first.from_scopes, g.scopes)',
        expiresAt: 'CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END',
        createdAt: 'g.created_at',
      },
      'grant?',
    ),
    columns(
      {
        type: `CASE WHEN g.revoked_at IS NOT NULL THEN ${typeName('grant.revoked')} END`,
        tenantId: 'g.grantor_tenant_id',
        grantId: 'g.grant_id',
        revokedAt: 'g.revoked_at',
      },
      'revocation?',
    ),
    columns(
      {
        type: `CASE WHEN h.grant_id IS NOT NULL THEN ${typeName('grant.changed')} END`,
        tenantId: 'h.grantor_tenant_id',
        grantId: 'h.grant_id',
        scopes: 'h.scopes',
        expiresAt: 'h.expires_at',
        changedAt: 'h.changed_at',
      },
      'grantChange?',
    ),
    columns(
      {
        type: `CASE WHEN c.owner_change_id IS NOT NULL THEN ${typeName('tenant.owner_changed')} END`,
        tenantId: 'c.tenant_id',
        principalId: 'c.principal_id',
        fromPrincipalId: 'c.from_principal_id',
        changedAt: 'c.changed_at',
      },
      'ownerChange?',
    ),
    columns(
      {
        type: `CASE WHEN er.erased_at IS NOT NULL THEN ${typeName('subject.erased')} END`,
        tenantId: 'er.tenant_id',
        subjectType: 's.subject_type',
        subjectId: 's.subject_id',
        erasedIndexes: 'er.erased_indexes::float8[]',
        erasedAt: 'er.erased_at',
        erasedVersions,
      },
      'erasure?',
    ),
  ].join(',\n  ');
}

/** Joins the fact about the log itself that row `k` names: the restart `r`, or the announcement `a` of a key. */
export const OWN_FACT_OF_KEYS = `
  LEFT JOIN LATERAL (SELECT * FROM log_restarts r WHERE r.restart_id = k.restart_id LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT * FROM log_key_announcements a WHERE a.announcement_id = k.announcement_id LIMIT 1) a ON true`;

/** The time at which the fact of {@link OWN_FACT_OF_KEYS} was committed. */
export const OWN_FACT_AT = 'coalesce(r.restarted_at, a.announced_at)';

/** Selects the fact of {@link OWN_FACT_OF_KEYS} as an {@link OwnFactRow}. */
export const OWN_FACT = [
  columns(
    {
      type: `CASE WHEN r.restart_id IS NOT NULL THEN 'log.restarted' END`,
      previousOrigin: 'r.previous_origin',
      previousSize: 'r.previous_size::float8',
      previousRoot: 'r.previous_root',
      previousCheckpointHash: `encode(sha256(convert_to(r.previous_checkpoint, 'UTF8')), 'hex')`,
      reason: 'r.reason',
      restartedAt: 'r.restarted_at',
    },
    'restart?',
  ),
  columns(
    {
      type: `CASE WHEN a.announcement_id IS NOT NULL THEN 'log.key_announced' END`,
      vkey: 'a.vkey',
      announcedBy: 'a.announced_by',
      announcedAt: 'a.announced_at',
    },
    'announcement?',
  ),
].join(',\n  ');

/** Both are null for an entry of any other type. */
export interface OwnFactRow {
  restart: LogRestartedFact | null;
  announcement: LogKeyAnnouncedFact | null;
}

/** Returns the row's fact about the log itself, or null. */
export function ownFactOf({ restart, announcement }: OwnFactRow): LogOwnFact | null {
  return restart ?? announcement;
}

/** At most one member is set. None is set if the fact is missing from its table. */
export interface FactRow {
  snapshot: Extract<LogFact, { type: 'snapshot.created' }> | null;
  grant: Extract<LogFact, { type: 'grant.created' }> | null;
  revocation: Extract<LogFact, { type: 'grant.revoked' }> | null;
  grantChange: Extract<LogFact, { type: 'grant.changed' }> | null;
  ownerChange: Extract<LogFact, { type: 'tenant.owner_changed' }> | null;
  erasure: Extract<LogFact, { type: 'subject.erased' }> | null;
}

/** Returns the fact of a row; null if it is missing from its table. */
export function factOf({ snapshot, grant, revocation, grantChange, ownerChange, erasure }: FactRow): LogFact | null {
  return snapshot ?? grant ?? revocation ?? grantChange ?? ownerChange ?? erasure;
}
