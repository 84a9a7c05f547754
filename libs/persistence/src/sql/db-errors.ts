import { DomainError } from '@iss/domain';

interface DatabaseError {
  code: string;
  constraint?: string;
}

function isDatabaseError(error: unknown): error is DatabaseError {
  // Not `instanceof`: in some hosts, Node's own errors come from another realm.
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
}

/** The message for each violated unique constraint. A constraint that is not listed is a defect, so the answer is 500. */
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

/**
 * The constraint of a partition has the name of the table's constraint with this suffix (tools/trials/partitions/1-prepare.sql).
 */
const OF_PARTITION = /_p\d+$/;

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';
/** The server cancelled the statement because of `statement_timeout`, and stored nothing. */
const QUERY_CANCELED = '57014';

/** Returns true if the statement can simply run again, because nothing was stored. */
export function isRetryable(error: unknown): boolean {
  return isDatabaseError(error) && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK);
}

/** Returns true if a lock was not acquired within `lock_timeout`, or only a deadlock would have allowed it. */
export function isLockRefused(error: unknown): boolean {
  return isDatabaseError(error) && (error.code === LOCK_NOT_AVAILABLE || error.code === DEADLOCK);
}

/** Returns true if the login lacks the privilege. */
export function isNotPermitted(error: unknown): boolean {
  return isDatabaseError(error) && error.code === INSUFFICIENT_PRIVILEGE;
}

// Codes of connection failures, timeouts, and resources that the server lacks (memory, disk, connections): SQLSTATEs, their
// classes and Node's codes. The statement may or may not have run.
const UNREACHABLE =
  /^(08|57P0|57014|53|55P03|25006|25P0[34]|40003|28|3D000|58|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH)/;

/** Returns true if the database's state caused the failure, not the statement. */
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

/** The server cancelled the statement because it took too long. Unlike after other `unavailable` errors, nothing was stored. */
export class StatementGivenUp extends DomainError {
  constructor(cause?: unknown) {
    super('unavailable', 'The database did not respond in time. Try again shortly.', undefined, { cause });
  }
}

/**
 * Converts an error of the driver to a domain error. Unique violations (by constraint name) and exhausted retries become
 * `conflict`; an unreachable or exhausted database becomes `unavailable`. Any other error is returned unchanged.
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
