import { type AccessRule, DomainError, requireAccess, type SubjectRef } from '@iss/domain';
import type { FoundUpdate, UpdateRecord } from '@iss/persistence';

/**
 * Returns the update if the rule allows the caller to use it. If the path names a subject, access to that subject is
 * decided first. If it names only the update, a member gets `not_found` for an unknown id, because ids cannot be
 * guessed.
 */
export function requireUpdate(found: FoundUpdate, subject: SubjectRef | null, rule: AccessRule): UpdateRecord {
  const { facts, update } = found;
  requireAccess(facts, update === null && subject === null ? { role: rule.role } : rule);
  if (update !== null) return update;
  throw new DomainError(
    'not_found',
    `No such update of this ${subject === null ? 'tenant' : 'subject'}. List its updates for their ids.`,
  );
}

/** Creates the error for a base that is not, or is no longer, the latest snapshot. */
export function staleBase(headVersion: number): DomainError {
  return new DomainError(
    'conflict',
    `The base snapshot is stale: the latest version is ${headVersion}. Read it and propose again.`,
    [{ path: '/base_snapshot_version', message: `the latest version is ${headVersion}`, code: 'stale' }],
  );
}

/**
 * Creates the error for an update that is not proposed. If `update` still says `proposed`, it changed during this
 * request.
 */
export function notProposed({ status }: UpdateRecord): DomainError {
  const what = status === 'proposed' ? 'was applied or withdrawn in the meantime' : `is ${status}`;
  return new DomainError('conflict', `The update ${what}. Only a proposed update can be applied or withdrawn.`);
}
