/** Builds log entries as docs/log.md describes them, independently of the writers. Members are in RFC 8785 order. */

const VERSION = '"entry_version":"iss_log_entry_v1"';
/** RFC 8785, section 3.2.2.2, uses the ECMAScript serializer for strings. */
const quote = (text: string | null): string => JSON.stringify(text);

export interface SnapshotFact {
  tenantId: string;
  subjectType: string;
  subjectId: string;
  snapshotId: string;
  /** Decimal. */
  version: string;
  envelopeHash: string | null;
  prevHash: string | null;
  createdAt: string;
  /** Null if the entry does not name the writer. */
  writer: { principalId: string; requestId: string | null } | null;
  /** Null if the entry does not name the view. */
  viewHash: string | null;
}

export function snapshotEntry(salt: string, row: SnapshotFact): string {
  const { writer, viewHash } = row;
  const viewed = viewHash === null ? '' : `,"view_hash":${quote(viewHash)}`;
  const written =
    writer === null ? '' : `,"write_request_id":${quote(writer.requestId)},"written_by":${quote(writer.principalId)}`;
  return (
    `{"created_at":${quote(row.createdAt)},${VERSION},"envelope_hash":${quote(row.envelopeHash)},` +
    `"prev_hash":${quote(row.prevHash)},"salt":${quote(salt)},"snapshot_id":${quote(row.snapshotId)},` +
    `"snapshot_version":${row.version},"subject_id":${quote(row.subjectId)},"subject_type":${quote(row.subjectType)},` +
    `"tenant_id":${quote(row.tenantId)},"type":"snapshot.created"${viewed}${written}}`
  );
}

export interface ViewRow extends Pick<
  SnapshotFact,
  'tenantId' | 'subjectType' | 'subjectId' | 'snapshotId' | 'version'
> {
  viewHash: string;
  committedAt: string;
}

export function viewEntry(salt: string, row: ViewRow): string {
  return (
    `{"committed_at":${quote(row.committedAt)},${VERSION},"salt":${quote(salt)},"snapshot_id":${quote(row.snapshotId)},` +
    `"snapshot_version":${row.version},"subject_id":${quote(row.subjectId)},"subject_type":${quote(row.subjectType)},` +
    `"tenant_id":${quote(row.tenantId)},"type":"view.committed","view_hash":${quote(row.viewHash)}}`
  );
}

interface Terms {
  scopes: readonly string[];
  expiresAt: string | null;
  /** Null if the entry does not name them. */
  part: { paths: readonly string[] | null; startsAt: string | null } | null;
}

export interface GrantRow extends Terms {
  grantId: string;
  tenantId: string;
  granteeTenantId: string;
  subjectType: string | null;
  subjectId: string | null;
  createdAt: string;
}

const listText = (texts: readonly string[]): string => `[${[...texts].sort().map(quote).join(',')}]`;

/** The members from `paths` to `starts_at`. */
function termsText(salt: string, { scopes, part }: Terms): string {
  const middle = `"salt":${quote(salt)},"scopes":${listText(scopes)},`;
  if (part === null) return middle;
  const paths = part.paths === null ? 'null' : listText(part.paths);
  return `"paths":${paths},${middle}"starts_at":${quote(part.startsAt)},`;
}

export function grantEntry(salt: string, row: GrantRow): string {
  return (
    `{"created_at":${quote(row.createdAt)},${VERSION},"expires_at":${quote(row.expiresAt)},"grant_id":${quote(row.grantId)},` +
    `"grantee_tenant_id":${quote(row.granteeTenantId)},${termsText(salt, row)}` +
    `"subject_id":${quote(row.subjectId)},"subject_type":${quote(row.subjectType)},"tenant_id":${quote(row.tenantId)},` +
    `"type":"grant.created"}`
  );
}

export interface GrantChangeRow extends Terms {
  grantId: string;
  tenantId: string;
  changedAt: string;
}

export function grantChangeEntry(salt: string, row: GrantChangeRow): string {
  return (
    `{"changed_at":${quote(row.changedAt)},${VERSION},"expires_at":${quote(row.expiresAt)},"grant_id":${quote(row.grantId)},` +
    `${termsText(salt, row)}"tenant_id":${quote(row.tenantId)},"type":"grant.changed"}`
  );
}

export function revocationEntry(salt: string, row: { grantId: string; tenantId: string; revokedAt: string }): string {
  return (
    `{${VERSION},"grant_id":${quote(row.grantId)},"revoked_at":${quote(row.revokedAt)},"salt":${quote(salt)},` +
    `"tenant_id":${quote(row.tenantId)},"type":"grant.revoked"}`
  );
}

export interface OwnerChangeRow {
  tenantId: string;
  principalId: string | null;
  fromPrincipalId: string | null;
  changedAt: string;
}

export function ownerEntry(salt: string, row: OwnerChangeRow): string {
  return (
    `{"changed_at":${quote(row.changedAt)},${VERSION},"from_principal_id":${quote(row.fromPrincipalId)},` +
    `"principal_id":${quote(row.principalId)},"salt":${quote(salt)},"tenant_id":${quote(row.tenantId)},` +
    `"type":"tenant.owner_changed"}`
  );
}

export interface ErasureRow {
  tenantId: string;
  subjectType: string;
  subjectId: string;
  /** A JSON array of numbers. */
  erasedIndexes: string;
  erasedAt: string;
  /** Id, version, hash, previous hash and PostgreSQL time of each version. Null if the entry does not name the versions. */
  erasedVersions: readonly (readonly [string, string, string, string | null, string])[] | null;
}

export function erasureEntry(salt: string, row: ErasureRow): string {
  const versions = row.erasedVersions?.map(
    ([id, version, hash, previous, created]) =>
      `{"created_at":${quote(apiTime(created))},"envelope_hash":${quote(hash)},"prev_hash":${quote(previous)},` +
      `"snapshot_id":${quote(id)},"snapshot_version":${version}}`,
  );
  const named = versions === undefined ? '' : `"erased_versions":[${versions.join(',')}],`;
  return (
    `{${VERSION},"erased_at":${quote(row.erasedAt)},"erased_indexes":${row.erasedIndexes.replaceAll(' ', '')},${named}` +
    `"salt":${quote(salt)},"subject_id":${quote(row.subjectId)},"subject_type":${quote(row.subjectType)},` +
    `"tenant_id":${quote(row.tenantId)},"type":"subject.erased"}`
  );
}

export interface RestartRow {
  previousOrigin: string;
  /** Decimal. */
  previousSize: string;
  /** Base64. */
  previousRoot: string;
  previousCheckpointHash: string;
  reason: string;
  restartedAt: string;
}

export function restartEntry(salt: string, row: RestartRow): string {
  return (
    `{${VERSION},"previous_checkpoint_hash":${quote(row.previousCheckpointHash)},"previous_origin":${quote(row.previousOrigin)},` +
    `"previous_root":${quote(row.previousRoot)},"previous_size":${row.previousSize},"reason":${quote(row.reason)},` +
    `"restarted_at":${quote(row.restartedAt)},"salt":${quote(salt)},"type":"log.restarted"}`
  );
}

export interface KeyRow {
  vkey: string;
  announcedBy: string;
  announcedAt: string;
}

export function keyEntry(salt: string, { vkey, announcedBy, announcedAt }: KeyRow): string {
  return (
    `{"announced_at":${quote(announcedAt)},"announced_by":${quote(announcedBy)},${VERSION},` +
    `"log_origin":${quote(vkey.split('+')[0] ?? '')},"salt":${quote(salt)},"type":"log.key_announced","vkey":${quote(vkey)}}`
  );
}

/** Converts a UTC time of PostgreSQL to the format of the API, truncated to milliseconds. */
export function apiTime(time: string): string {
  const second = time.slice(0, 19).replace(' ', 'T');
  const fraction = time[19] === '.' ? time.slice(20, time.indexOf('+', 20)) : '';
  return `${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}
