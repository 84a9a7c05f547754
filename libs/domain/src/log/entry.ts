import { canonicalize } from '../json/canonicalize';
import type { SubjectRef } from '../subject-ref';

/** Entries of the transparency log: what is proved of each fact (docs/log.md). An open list: `entry_version` names its rules. */
export const LOG_ENTRY_VERSION = 'iss_log_entry_v1';

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
  /** The authenticated principal, and the request; null where an earlier release wrote the version. */
  writtenBy: string | null;
  writeRequestId: string | null;
  /** Whether the entry names the writer: entries that an earlier release made do not. */
  namesWriter: boolean;
}

/** A grant as it was made, on a subject or on `ALL_SUBJECTS`; what it became later is told by a `GrantChangedFact`. */
export interface GrantCreatedFact extends SubjectRef {
  type: 'grant.created';
  tenantId: string;
  grantId: string;
  granteeTenantId: string;
  scopes: readonly string[];
  expiresAt: Date | null;
  createdAt: Date;
}

/** What a grant gives from then on, and until when. */
export interface GrantChangedFact {
  type: 'grant.changed';
  tenantId: string;
  grantId: string;
  scopes: readonly string[];
  expiresAt: Date | null;
  changedAt: Date;
}

export interface GrantRevokedFact {
  type: 'grant.revoked';
  tenantId: string;
  grantId: string;
  revokedAt: Date;
}

/** What of a grant is proved: of its changes the newest one. */
export const GRANT_FACTS = ['created', 'changed', 'revoked'] as const;
export type GrantFact = (typeof GRANT_FACTS)[number];

/** One of the two principals may be null: at founding nobody was there before, and somebody may cease to be an owner with no successor. */
export interface OwnerChangedFact {
  type: 'tenant.owner_changed';
  tenantId: string;
  principalId: string | null;
  fromPrincipalId: string | null;
  changedAt: Date;
}

/** The log was begun anew, since its end was lost: the first entry under its new name. It concerns no tenant. */
export interface LogRestartedFact {
  type: 'log.restarted';
  previousOrigin: string;
  /** Of the last checkpoint under the previous name. */
  previousSize: number;
  /** Of that checkpoint; 32 bytes. */
  previousRoot: Uint8Array;
  /** Lowercase hex SHA-256 of its note. */
  previousCheckpointHash: string;
  reason: string;
  restartedAt: Date;
}

/** An operator announced a key: from this entry on checkpoints may be signed by it. It concerns no tenant. */
export interface LogKeyAnnouncedFact {
  type: 'log.key_announced';
  /** C2SP signed-note verifier key; the part before its first `+` is the name of the log. */
  vkey: string;
  /** The login of the database that announced it. */
  announcedBy: string;
  announcedAt: Date;
}

/** Facts about the log itself. */
export type LogOwnFact = LogRestartedFact | LogKeyAnnouncedFact;

/** That the content of versions was destroyed on purpose: what tells an erased entry from a stolen one. */
export interface SubjectErasedFact extends SubjectRef {
  type: 'subject.erased';
  tenantId: string;
  /** Places in the log of the erased versions' entries, ascending. */
  erasedIndexes: readonly number[];
  erasedAt: Date;
  /** The versions, in the order of their places; null: an earlier release made the entry, which does not name them. */
  erasedVersions: readonly ErasedVersionFact[] | null;
}

/** What is left of an erased version. */
export interface ErasedVersionFact extends Pick<
  SnapshotCreatedFact,
  'snapshotId' | 'snapshotVersion' | 'envelopeHash' | 'prevHash'
> {
  /** As the API writes it. */
  createdAt: string;
}

/** What concerns a tenant. */
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
 * The text of a fact's entry: RFC 8785, times as the API writes them. The same fact and salt give the same text, so that
 * only the salt is stored. `salt` is 128 random bits: whoever guesses the fact cannot tell whether a hash is its own.
 */
export function logEntryText(fact: LogFact | LogOwnFact, salt: Uint8Array): string {
  return canonicalize({
    entry_version: LOG_ENTRY_VERSION,
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

function membersOf(fact: LogFact) {
  switch (fact.type) {
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
      };
    case 'grant.created':
      return {
        grant_id: fact.grantId,
        grantee_tenant_id: fact.granteeTenantId,
        subject_type: fact.subjectType,
        subject_id: fact.subjectId,
        scopes: [...fact.scopes].sort(),
        expires_at: fact.expiresAt?.toISOString() ?? null,
        created_at: fact.createdAt.toISOString(),
      };
    case 'grant.changed':
      return {
        grant_id: fact.grantId,
        scopes: [...fact.scopes].sort(),
        expires_at: fact.expiresAt?.toISOString() ?? null,
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
