import { type Acting, type Actor, ALL_SUBJECTS, DomainError, requireAccess, RULES } from '@iss/domain';
import {
  type GrantRecord,
  type Page,
  type PageRequest,
  type PendingGrantMove,
  type PendingGrantRecord,
  PendingGrantStore,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { requireHumanPrincipal } from '../../access/human';
import type { Principal } from '../../auth/principal';
import { requireGranted } from './grant.service';

/** Confirms, cancels and lists grants on all subjects that wait for a second human (docs/membership.md). */
@Injectable()
export class PendingGrantService {
  constructor(private readonly pending: PendingGrantStore) {}

  /** Returns the tenant's pending grants, including ended ones, newest first. Throws `forbidden`. */
  async list(actor: Actor, request: PageRequest): Promise<Page<PendingGrantRecord>> {
    const { facts, page } = await this.pending.list(actor, request);
    requireAccess(facts, RULES.confirmGrants);
    return page;
  }

  /**
   * Creates the grant. The caller must be a human other than the requester. Throws `forbidden`,
   * `human_principal_required`, `not_found`, `limit_reached`, or `conflict` if it is not pending or the grantee already
   * has a grant on all subjects.
   */
  confirm({ claimedType }: Principal, actor: Acting, grantId: string): Promise<GrantRecord> {
    const decide = (move: PendingGrantMove): PendingGrantRecord => {
      requireAccess(move.facts, RULES.confirmGrants);
      requireHumanPrincipal(move.principalType, claimedType, 'confirm a grant on all subjects');
      const pending = requirePending(move);
      if (pending.status !== 'pending') throw hasEnded(pending);
      if (pending.requestedBy === actor.principalId) {
        throw new DomainError(
          'forbidden',
          'The human who requested the grant cannot confirm it. Another human must confirm it.',
        );
      }
      return pending;
    };
    return this.pending.confirm({ ...actor, grantId }, decide, (outcome) => requireGranted(outcome, ALL_SUBJECTS));
  }

  /** Throws `forbidden`, `not_found`, or `conflict` if it has ended. */
  cancel(actor: Acting, grantId: string): Promise<PendingGrantRecord> {
    return this.pending.cancel({ ...actor, grantId }, (move) => {
      requireAccess(move.facts, RULES.confirmGrants);
      const pending = requirePending(move);
      if (pending.status !== 'pending' && pending.status !== 'expired') throw hasEnded(pending);
    });
  }
}

function requirePending({ pending }: PendingGrantMove): PendingGrantRecord {
  if (pending !== null) return pending;
  throw new DomainError('not_found', 'No such pending grant of this tenant. List its pending grants for their ids.');
}

function hasEnded({ status }: PendingGrantRecord): DomainError {
  return new DomainError(
    'conflict',
    `The pending grant is ${status}. Only one with the status pending can be confirmed or cancelled.`,
  );
}
