import { type AccessRule, DomainError, requireAccess, type SubjectRef } from '@iss/domain';
import type { FoundUpdate, UpdateRecord } from '@iss/persistence';

/**
 * The update, if the caller may do this with it. A path that names a subject is decided on that subject first; one that
 * names the update alone tells a member that there is none, since ids cannot be guessed.
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

/** The base is not the latest snapshot any more, or never was. */
export function staleBase(headVersion: number): DomainError {
  return new DomainError(
    'conflict',
    `The base snapshot is stale: the latest version is ${headVersion}. Read it and propose again.`,
    [{ path: '/base_snapshot_version', message: `the latest version is ${headVersion}`, code: 'stale' }],
  );
}

/** The update moved before, or while this request ran: then `update` still says that it is proposed. */
export function notProposed({ status }: UpdateRecord): DomainError {
  const what = status === 'proposed' ? 'was applied or withdrawn in the meantime' : `is ${status}`;
  return new DomainError('conflict', `The update ${what}. Only a proposed update can be applied or withdrawn.`);
}
