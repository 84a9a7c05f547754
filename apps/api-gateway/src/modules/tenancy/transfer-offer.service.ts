import { randomUUID } from 'node:crypto';
import {
  type Acting,
  type Actor,
  DomainError,
  mayHandOver,
  OWNER,
  requireAccess,
  requireExpiry,
  RULES,
} from '@iss/domain';
import {
  type MembershipRecord,
  type NewMembership,
  type Page,
  type PageRequest,
  type TransferOfferMove,
  type TransferOfferRecord,
  TransferOfferStore,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal';
import { requireHuman, requireMember } from './require-member';

export interface TransferOfferRequest {
  toPrincipalId: string;
  message: string | null;
  expiresAt: string | null;
}

const TO_HAND_OVER = 'offer, accept or decline a transfer of ownership';

/**
 * Transfers a tenant to another owner, if that principal agrees (contract, "Transfer offers"). The current owner offers
 * it. Without an owner, an account_admin may offer it ("Founding by a non-human").
 */
@Injectable()
export class TransferOfferService {
  constructor(private readonly offers: TransferOfferStore) {}

  /**
   * Throws `validation_error`, `forbidden`, `human_principal_required`, or `conflict` while another offer is pending.
   */
  create(caller: Principal, acting: Acting, request: TransferOfferRequest): Promise<TransferOfferRecord> {
    const { tenantId, principalId, requestId } = acting;
    if (request.toPrincipalId === principalId) throw invalid('/to_principal_id', 'must be another principal');
    const offer = {
      offerId: randomUUID(),
      tenantId,
      fromPrincipalId: principalId,
      toPrincipalId: request.toPrincipalId,
      message: request.message,
      expiresAt: requireExpiry(request.expiresAt),
    };
    return this.offers.create(offer, requestId, ({ offerer, hasOtherOwner }) => {
      if (offerer !== null && isFounding(offerer, hasOtherOwner)) return;
      requireHuman(requireMember(offerer, RULES.offerTransfer), caller, TO_HAND_OVER);
    });
  }

  /**
   * Returns all offers to an admin, and to an offered principal its own, even if it is not a member. Throws `forbidden`
   * for others.
   */
  async list(actor: Actor, request: PageRequest): Promise<Page<TransferOfferRecord>> {
    const { facts, isOffered, page } = await this.offers.list(actor, request);
    if (!isOffered) requireAccess(facts, RULES.readTransferOffers);
    return page;
  }

  /** Returns an offer to an admin or to the offered principal. Throws `forbidden`, or `not_found` for a member. */
  async find(actor: Actor, offerId: string): Promise<TransferOfferRecord> {
    const { facts, offer } = await this.offers.find({ ...actor, offerId });
    if (offer?.toPrincipalId === actor.principalId) return offer;
    requireAccess(facts, offer === null ? RULES.readTenant : RULES.readTransferOffers);
    if (offer === null) throw unknownOffer();
    return offer;
  }

  /**
   * Makes the offered principal owner and account_admin. An owner that made the offer becomes tenant_admin. Throws
   * `forbidden`, `not_found`, `human_principal_required`, `limit_reached`, or `conflict` if the offer is not pending or
   * its maker may no longer make it.
   */
  accept(caller: Principal, acting: Acting, offerId: string): Promise<TransferOfferRecord> {
    return this.offers.end({ ...acting, offerId }, (move) => {
      requirePending(requireOffered(move, caller));
      const { offerer, hasOtherOwner } = move;
      if (offerer === null || !mayHandOver(offerer, hasOtherOwner)) {
        throw new DomainError(
          'conflict',
          'The offerer may no longer transfer the tenant. Ask a tenant_owner for a new offer.',
        );
      }
      const members = [newOwner(move, caller, acting.tenantId)];
      if (offerer.role === OWNER) members.push({ ...offerer, role: 'tenant_admin' });
      return { status: 'accepted', members };
    });
  }

  /** Throws like {@link accept}. */
  decline(caller: Principal, acting: Acting, offerId: string): Promise<TransferOfferRecord> {
    return this.offers.end({ ...acting, offerId }, (move) => {
      requirePending(requireOffered(move, caller));
      return { status: 'declined', members: [] };
    });
  }

  /** Cancels an offer. Only its maker can, while it is a member. Throws `forbidden`, `not_found` or `conflict`. */
  cancel(actor: Acting, offerId: string): Promise<TransferOfferRecord> {
    return this.offers.end({ ...actor, offerId }, ({ offer, caller }) => {
      requireMember(caller, RULES.readTenant);
      if (offer === null) throw unknownOffer();
      if (offer.fromPrincipalId !== actor.principalId) {
        throw new DomainError('forbidden', 'Only the principal that made the offer can cancel it.');
      }
      requirePending(offer);
      return { status: 'cancelled', members: [] };
    });
  }
}

/** Returns whether the member can give its tenant the first owner. */
function isFounding(member: MembershipRecord, hasOtherOwner: boolean): boolean {
  return member.role !== OWNER && mayHandOver(member, hasOtherOwner);
}

/** Returns the offer if it was made to the caller and the caller is human. */
function requireOffered({ offer, caller }: TransferOfferMove, principal: Principal): TransferOfferRecord {
  if (offer?.toPrincipalId !== principal.principalId) {
    requireMember(caller, RULES.readTenant);
    if (offer === null) throw unknownOffer();
    throw new DomainError('forbidden', 'Only the offered principal can accept or decline the offer.');
  }
  requireHuman(caller, principal, TO_HAND_OVER);
  return offer;
}

function requirePending(offer: TransferOfferRecord): void {
  if (offer.status !== 'pending') {
    throw new DomainError(
      'conflict',
      `The offer is ${offer.status}. Only a pending offer can be accepted, declined or cancelled.`,
    );
  }
}

/**
 * Returns the recipient's record after the transfer. A recipient that was removed before gets no previous rights back.
 */
function newOwner({ caller }: TransferOfferMove, principal: Principal, tenantId: string): NewMembership {
  return {
    tenantId,
    principalId: principal.principalId,
    role: 'tenant_owner',
    tenancyRole: 'account_admin',
    principalType: 'human',
    allowCounterpartyAccess: caller?.status === 'active' && caller.allowCounterpartyAccess,
    status: 'active',
  };
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}

function unknownOffer(): DomainError {
  return new DomainError('not_found', 'No such transfer offer of this tenant. List its transfer offers for their ids.');
}
