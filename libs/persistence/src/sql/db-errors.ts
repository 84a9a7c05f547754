import { DomainError } from '@iss/domain';

interface DatabaseError {
  code: string;
  constraint?: string;
}

function isDatabaseError(error: unknown): error is DatabaseError {
  // Not by class: a failure of Node's own comes from another realm in some hosts.
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
}

/** What a violated unique constraint means to the caller. A constraint that is missing here is a defect, hence a 500. */
const CONFLICTS: Record<string, string> = {
  tenants_pkey: 'A tenant with this tenant_id exists. Choose another tenant_id.',
  tenants_slug_key: 'This slug is taken. Choose another slug, or leave it out.',
  subjects_identity_key: 'The subject exists. Write later versions through updates.',
  snapshots_snapshot_id_key: 'A snapshot with this snapshot_id exists. Use a fresh UUID.',
  snapshots_version_key:
    'The base snapshot is stale: another version was written in the meantime. Read the latest and propose again.',
  updates_applied_snapshot_key: 'The update was applied in the meantime. Read the latest snapshot.',
  updates_request_key: 'An update with this request_id exists. Use a fresh one.',
  erasures_pending_key: 'This subject has a pending erasure. Confirm or cancel it before you request another.',
  transfer_offers_pending_key: 'The tenant has a pending transfer offer. Answer or cancel it before you make another.',
};

/** A partition's constraint is named after that of its table (tools/trials/partitions/1-prepare.sql). */
const OF_PARTITION = /_p\d+$/;

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';
/** By `statement_timeout`: the server itself gave it up, and kept nothing of it. */
const QUERY_CANCELED = '57014';

/** Whether the same statement may simply be run again: nothing of it was kept. */
export function isRetryable(error: unknown): boolean {
  return isDatabaseError(error) && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK);
}

/** Whether a lock was not had in time (`lock_timeout`), or only at the price of a deadlock. */
export function isLockRefused(error: unknown): boolean {
  return isDatabaseError(error) && (error.code === LOCK_NOT_AVAILABLE || error.code === DEADLOCK);
}

/** Whether the login may not do what was asked. */
export function isNotPermitted(error: unknown): boolean {
  return isDatabaseError(error) && error.code === INSUFFICIENT_PRIVILEGE;
}

// Connection failures, timeouts and what a server lacks (memory, disk, connections), by SQLSTATE or its class, or Node's code:
// the statement may or may not have run.
const UNREACHABLE =
  /^(08|57P0|57014|53|55P03|25006|25P0[34]|40003|28|3D000|58|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH)/;

/** Whether the failure is the database's state and not the statement's. */
export function isUnavailable(error: unknown): boolean {
  if (isDatabaseError(error)) return UNREACHABLE.test(error.code);
  // pg reports these without a code.
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after/.test(
      error.message,
    )
  );
}

/** The server gave the statement up since it took too long. Unlike of what is `unavailable` otherwise, nothing was kept. */
export class StatementGivenUp extends DomainError {
  constructor(cause?: unknown) {
    super('unavailable', 'The database did not respond in time. Try again shortly.', undefined, { cause });
  }
}

/**
 * A failure of the driver as the domain says it: unique violations become `conflict` by constraint name, exhausted
 * retries `conflict`, an unreachable or exhausted database `unavailable`. Anything else is returned as it is.
 */
export function toDomainError(error: unknown): unknown {
  if (isRetryable(error)) {
    return new DomainError(
      'conflict',
      'Concurrent writes conflicted, and all retries failed. Read the latest and try again.',
    );
  }
  if (isDatabaseError(error) && error.code === UNIQUE_VIOLATION && error.constraint !== undefined) {
    const message = CONFLICTS[error.constraint.replace(OF_PARTITION, '')];
    if (message !== undefined) return new DomainError('conflict', message);
  }
  if (isDatabaseError(error) && error.code === QUERY_CANCELED) return new StatementGivenUp(error);
  if (isUnavailable(error)) {
    const message = 'The database cannot be reached. Try again shortly.';
    return new DomainError('unavailable', message, undefined, { cause: error });
  }
  return error;
}
