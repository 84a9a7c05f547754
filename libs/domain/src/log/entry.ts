import { canonicalize } from '../json/canonicalize';
import type { SubjectRef } from '../subject-ref';
import { type LogRecordsFact, recordMembers } from './records';

/** The format of the transparency log's entries (docs/log.md). `entry_version` names its rules. */
export const LOG_ENTRY_VERSION = 'iss_log_entry_v1';

/** The format of entries whose leaf is a public text with the keys of the map (docs/log.md). */
export const KEYED_ENTRY_VERSION = 'iss_log_entry_v2';

/** 128 random bits (docs/log.md). */
export const LOG_SALT_BYTES = 16;

/** A version of a subject. */
export interface SnapshotCreatedFact extends SubjectRef {
  type: 'snapshot.created';
  tenantId: string;
  snapshotId: string;
  snapshotVersion: number;
  /** Lowercase hex SHA-256. */
  envelopeHash: string;
  prevHash: string | null;
  createdAt: Date;
  /** The authenticated principal and the request. Null if an earlier release wrote the version. */
  writtenBy: string | null;
  writeRequestId: string | null;
  /** True if the entry names the writer. Entries of earlier releases do not. */
  namesWriter: boolean;
  /** The hash of the version's view, as lowercase hex. Null if the entry does not name it. */
  viewHash: string | null;
}

/** The view of a version whose own entry does not name it. */
export interface ViewCommittedFact extends SubjectRef {
  type: 'view.committed';
  tenantId: string;
  snapshotId: string;
  snapshotVersion: number;
  /** Lowercase hex SHA-256. */
  viewHash: string;
  committedAt: Date;
}

/** The rights that a grant gives, and when. */
export interface GrantTerms {
  scopes: readonly string[];
  /** Sorted JSON Pointers; null: everything. */
  paths: readonly string[] | null;
  /** When the grant starts; null: at its creation. */
  startsAt: Date | null;
  expiresAt: Date | null;
}

/** The terms in an entry of the log. */
interface LoggedTerms extends GrantTerms {
  /** True if the entry names paths and start. Entries of earlier releases do not. */
  namesPaths: boolean;
}

/** A grant as it was created, on a subject or on `ALL_SUBJECTS`. A `GrantChangedFact` records a later change. */
export interface GrantCreatedFact extends SubjectRef, LoggedTerms {
  type: 'grant.created';
  tenantId: string;
  grantId: string;
  granteeTenantId: string;
  createdAt: Date;
}

/** The terms of a grant after a change. */
export interface GrantChangedFact extends LoggedTerms {
  type: 'grant.changed';
  tenantId: string;
  grantId: string;
  changedAt: Date;
}

export interface GrantRevokedFact {
  type: 'grant.revoked';
  tenantId: string;
  grantId: string;
  revokedAt: Date;
}

/** The facts that are proved about a grant. Of its changes, only the newest is proved. */
export const GRANT_FACTS = ['created', 'changed', 'revoked'] as const;
export type GrantFact = (typeof GRANT_FACTS)[number];

/**
 * A change of ownership. `fromPrincipalId` is null when a tenant is founded, and `principalId` is null when an owner
 * has no successor.
 */
export interface OwnerChangedFact {
  type: 'tenant.owner_changed';
  tenantId: string;
  principalId: string | null;
  fromPrincipalId: string | null;
  changedAt: Date;
}

/** The first entry under a new name, after the end of the log was lost. It belongs to no tenant. */
export interface LogRestartedFact {
  type: 'log.restarted';
  previousOrigin: string;
  /** Size of the last checkpoint under the previous name. */
  previousSize: number;
  /** Root of that checkpoint; 32 bytes. */
  previousRoot: Uint8Array;
  /** Lowercase hex SHA-256 of that checkpoint's note. */
  previousCheckpointHash: string;
  reason: string;
  restartedAt: Date;
}

/** An operator announced a key: it may sign checkpoints from this entry on. The entry belongs to no tenant. */
export interface LogKeyAnnouncedFact {
  type: 'log.key_announced';
  /** C2SP signed-note verifier key. The part before its first `+` is the name of the log. */
  vkey: string;
  /** The database login that announced it. */
  announcedBy: string;
  announcedAt: Date;
}

/** Facts about the log itself. */
export type LogOwnFact = LogRestartedFact | LogKeyAnnouncedFact;

/**
 * The content of versions was destroyed on purpose. This entry distinguishes erased content from content that was
 * removed secretly.
 */
export interface SubjectErasedFact extends SubjectRef {
  type: 'subject.erased';
  tenantId: string;
  /** Log indexes of the erased versions' entries, ascending. */
  erasedIndexes: readonly number[];
  erasedAt: Date;
  /** The versions in the order of `erasedIndexes`. Null in an entry of an earlier release, which does not name them. */
  erasedVersions: readonly ErasedVersionFact[] | null;
}

/** The remaining facts about an erased version. */
export interface ErasedVersionFact extends Pick<
  SnapshotCreatedFact,
  'snapshotId' | 'snapshotVersion' | 'envelopeHash' | 'prevHash'
> {
  /** The time in the format of the API. */
  createdAt: string;
}

/** A fact about a tenant. */
export type LogFact =
  SnapshotCreatedFact | GrantCreatedFact | GrantChangedFact | GrantRevokedFact | OwnerChangedFact | SubjectErasedFact;
export type LogEntryType = LogFact['type'];

/** Returns when a fact was committed. */
export function momentOfFact(fact: LogFact): Date {
  switch (fact.type) {
    case 'snapshot.created':
    case 'grant.created':
      return fact.createdAt;
    case 'grant.changed':
    case 'tenant.owner_changed':
      return fact.changedAt;
    case 'grant.revoked':
      return fact.revokedAt;
    case 'subject.erased':
      return fact.erasedAt;
  }
}

/**
 * Returns the text of a fact's entry: RFC 8785, with times as the API formats them. The same fact and salt give the
 * same text, so that only the salt is stored. `salt` is 128 random bits, so that nobody can confirm a guessed fact by
 * its hash. An entry with keys in the map has the version `KEYED_ENTRY_VERSION`.
 */
export function logEntryText(
  fact: LogFact | LogOwnFact | LogRecordsFact | ViewCommittedFact,
  salt: Uint8Array,
  version: typeof LOG_ENTRY_VERSION | typeof KEYED_ENTRY_VERSION = LOG_ENTRY_VERSION,
): string {
  return canonicalize({
    entry_version: version,
    type: fact.type,
    salt: Buffer.from(salt).toString('base64url'),
    ...('tenantId' in fact ? { tenant_id: fact.tenantId, ...membersOf(fact) } : ownMembersOf(fact)),
  });
}

function ownMembersOf(fact: LogOwnFact) {
  if (fact.type === 'log.key_announced') {
    return {
      vkey: fact.vkey,
      log_origin: fact.vkey.slice(0, fact.vkey.indexOf('+')),
      announced_by: fact.announcedBy,
      announced_at: fact.announcedAt.toISOString(),
    };
  }
  return {
    previous_origin: fact.previousOrigin,
    previous_size: fact.previousSize,
    previous_root: Buffer.from(fact.previousRoot).toString('base64'),
    previous_checkpoint_hash: fact.previousCheckpointHash,
    reason: fact.reason,
    restarted_at: fact.restartedAt.toISOString(),
  };
}

function erasedVersionMembers(version: ErasedVersionFact) {
  return {
    snapshot_id: version.snapshotId,
    snapshot_version: version.snapshotVersion,
    envelope_hash: version.envelopeHash,
    prev_hash: version.prevHash,
    created_at: version.createdAt,
  };
}

function termMembers({ scopes, paths, startsAt, expiresAt, namesPaths }: LoggedTerms) {
  return {
    scopes: [...scopes].sort(),
    expires_at: expiresAt?.toISOString() ?? null,
    ...(namesPaths ? { paths: paths && [...paths].sort(), starts_at: startsAt?.toISOString() ?? null } : {}),
  };
}

function membersOf(fact: LogFact | LogRecordsFact | ViewCommittedFact) {
  switch (fact.type) {
    case 'audit.recorded':
    case 'disclosures.recorded':
      return { records: recordMembers(fact) };
    case 'snapshot.created':
      return {
        subject_type: fact.subjectType,
        subject_id: fact.subjectId,
        snapshot_id: fact.snapshotId,
        snapshot_version: fact.snapshotVersion,
        envelope_hash: fact.envelopeHash,
        prev_hash: fact.prevHash,
        created_at: fact.createdAt.toISOString(),
        ...(fact.namesWriter ? { written_by: fact.writtenBy, write_request_id: fact.writeRequestId } : {}),
        ...(fact.viewHash === null ? {} : { view_hash: fact.viewHash }),
      };
    case 'view.committed':
      return {
        subject_type: fact.subjectType,
        subject_id: fact.subjectId,
        snapshot_id: fact.snapshotId,
        snapshot_version: fact.snapshotVersion,
        view_hash: fact.viewHash,
        committed_at: fact.committedAt.toISOString(),
      };
    case 'grant.created':
      return {
        grant_id: fact.grantId,
        grantee_tenant_id: fact.granteeTenantId,
        subject_type: fact.subjectType,
        subject_id: fact.subjectId,
        ...termMembers(fact),
        created_at: fact.createdAt.toISOString(),
      };
    case 'grant.changed':
      return {
        grant_id: fact.grantId,
        ...termMembers(fact),
        changed_at: fact.changedAt.toISOString(),
      };
    case 'grant.revoked':
      return { grant_id: fact.grantId, revoked_at: fact.revokedAt.toISOString() };
    case 'tenant.owner_changed':
      return {
        principal_id: fact.principalId,
        from_principal_id: fact.fromPrincipalId,
        changed_at: fact.changedAt.toISOString(),
      };
    case 'subject.erased':
      return {
        subject_type: fact.subjectType,
        subject_id: fact.subjectId,
        erased_indexes: [...fact.erasedIndexes],
        erased_at: fact.erasedAt.toISOString(),
        ...(fact.erasedVersions === null ? {} : { erased_versions: fact.erasedVersions.map(erasedVersionMembers) }),
      };
  }
}
