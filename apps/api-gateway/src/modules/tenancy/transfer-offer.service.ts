import { randomUUID } from 'node:crypto';
import { type Actor, DomainError, requireAccess, requireExpiry, rolesFrom, RULES } from '@iss/domain';
import {
  type NewMembership,
  type Page,
  type PageRequest,
  type TransferOfferMove,
  type TransferOfferRecord,
  TransferOfferStore,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal';
import { requireMember } from './require-member';

export interface TransferOfferRequest {
  toPrincipalId: string;
  message: string | null;
  expiresAt: string | null;
}

/** A tenant_owner hands its role to another principal, if that one agrees (contract, "Transfer offers"). */
@Injectable()
export class TransferOfferService {
  constructor(private readonly offers: TransferOfferStore) {}

  /** Throws `validation_error`, `forbidden`, `human_principal_required`, or `conflict` while another offer is pending. */
  create({ tenantId, principalId }: Actor, request: TransferOfferRequest): Promise<TransferOfferRecord> {
    if (request.toPrincipalId === principalId) throw invalid('/to_principal_id', 'must be another principal');
    const offer = {
      offerId: randomUUID(),
      tenantId,
      fromPrincipalId: principalId,
      toPrincipalId: request.toPrincipalId,
      message: request.message,
      expiresAt: requireExpiry(request.expiresAt),
    };
    return this.offers.create(offer, (offerer) => {
      if (requireMember(offerer, RULES.offerTransfer).principalType !== 'human') throw humanRequired();
    });
  }

  /** All offers for an admin; for an offered principal, member or not, its own; else `forbidden`. */
  async list(actor: Actor, request: PageRequest): Promise<Page<TransferOfferRecord>> {
    const admins = rolesFrom(RULES.readTransferOffers.role);
    const { facts, isOffered, page } = await this.offers.list(actor, request, admins);
    if (!isOffered) requireAccess(facts, RULES.readTransferOffers);
    return page;
  }

  /** For an admin and for the offered principal. Throws `forbidden`, or `not_found` for a member. */
  async find(actor: Actor, offerId: string): Promise<TransferOfferRecord> {
    const { facts, offer } = await this.offers.find({ ...actor, offerId });
    if (offer?.toPrincipalId === actor.principalId) return offer;
    requireAccess(facts, offer === null ? RULES.readTenant : RULES.readTransferOffers);
    if (offer === null) throw unknownOffer();
    return offer;
  }

  /**
   * Makes the offered principal owner and account_admin, and the offerer admin. Throws `forbidden`, `not_found`,
   * `human_principal_required`, or `conflict` when the offer is not pending or its maker no longer the owner.
   */
  accept(caller: Principal, tenantId: string, offerId: string): Promise<TransferOfferRecord> {
    return this.offers.end({ tenantId, principalId: caller.principalId, offerId }, (move) => {
      requirePending(requireOffered(move, caller));
      const { offerer } = move;
      if (offerer?.status !== 'active' || offerer.role !== 'tenant_owner') {
        throw new DomainError('conflict', 'The offerer is no longer a tenant_owner. Ask one for a new offer.');
      }
      return {
        status: 'accepted',
        members: [newOwner(move, caller, tenantId), { ...offerer, role: 'tenant_admin' }],
      };
    });
  }

  /** Throws like {@link accept}. */
  decline(caller: Principal, tenantId: string, offerId: string): Promise<TransferOfferRecord> {
    return this.offers.end({ tenantId, principalId: caller.principalId, offerId }, (move) => {
      requirePending(requireOffered(move, caller));
      return { status: 'declined', members: [] };
    });
  }

  /** By the offerer, as long as it is a member. Throws `forbidden`, `not_found` or `conflict`. */
  cancel(actor: Actor, offerId: string): Promise<TransferOfferRecord> {
    return this.offers.end({ ...actor, offerId }, ({ offer, caller }) => {
      requireMember(caller, RULES.readTenant);
      if (offer === null) throw unknownOffer();
      if (offer.fromPrincipalId !== actor.principalId) {
        throw new DomainError('forbidden', 'Only the principal that made the offer may cancel it.');
      }
      requirePending(offer);
      return { status: 'cancelled', members: [] };
    });
  }
}

/** The offer, when it was made to the caller and the caller is human: by its record, or without one by its token. */
function requireOffered({ offer, caller }: TransferOfferMove, principal: Principal): TransferOfferRecord {
  if (offer?.toPrincipalId !== principal.principalId) {
    requireMember(caller, RULES.readTenant);
    if (offer === null) throw unknownOffer();
    throw new DomainError('forbidden', 'Only the offered principal may answer the offer.');
  }
  if ((caller?.principalType ?? principal.claimedType) !== 'human') throw humanRequired();
  return offer;
}

function requirePending(offer: TransferOfferRecord): void {
  if (offer.status !== 'pending') {
    throw new DomainError('conflict', `The offer is ${offer.status}; only a pending one can be answered or cancelled.`);
  }
}

/** The recipient's record after the transfer; one that comes back after a removal starts anew but for its type. */
function newOwner({ caller }: TransferOfferMove, principal: Principal, tenantId: string): NewMembership {
  return {
    tenantId,
    principalId: principal.principalId,
    role: 'tenant_owner',
    tenancyRole: 'account_admin',
    principalType: caller?.principalType ?? principal.claimedType,
    allowCounterpartyAccess: caller?.status === 'active' && caller.allowCounterpartyAccess,
    status: 'active',
  };
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}

function humanRequired(): DomainError {
  return new DomainError(
    'human_principal_required',
    'Only a human principal, with its own token, may offer, accept or decline a transfer of ownership.',
  );
}

function unknownOffer(): DomainError {
  return new DomainError('not_found', 'No such transfer offer of this tenant.');
}
