import { type AccessFacts, type Acting, type Actor, OWNER, type TransferOfferStatus } from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { findMember, hasOtherOwner, type MembershipRecord, type NewMembership, putMember } from './memberships';
import { lockTenant } from './tenant-lock';

/** An offer of a tenant's ownership. Its status is that of the moment it was read. */
export interface TransferOfferRecord {
  offerId: string;
  tenantId: string;
  fromPrincipalId: string;
  toPrincipalId: string;
  message: string | null;
  status: TransferOfferStatus;
  createdAt: Date;
  expiresAt: Date | null;
  /** When it left the status `pending`; null before. */
  resolvedAt: Date | null;
}

export type NewTransferOffer = Omit<TransferOfferRecord, 'status' | 'createdAt' | 'resolvedAt'>;

/** An offer and the principal that acts on it. */
export interface TransferOfferRef extends Actor {
  offerId: string;
}

/** The facts that decide the end of an offer. They cannot change until the end is stored. */
export interface TransferOfferMove {
  /** Null if the tenant has no such offer. */
  offer: TransferOfferRecord | null;
  caller: MembershipRecord | null;
  /** The principal that made the offer. */
  offerer: MembershipRecord | null;
  /** True if the tenant has an active owner other than the offerer. */
  hasOtherOwner: boolean;
}

/** The new status of an offer, and the members' records that change with it. */
export interface TransferOfferEnd {
  status: Exclude<TransferOfferStatus, 'pending' | 'expired'>;
  members: readonly NewMembership[];
}

const EXPIRE = statement<{ tenantId: string }>('transfer_offer_expire');

const INSERT = statement<NewTransferOffer, TransferOfferRecord>('transfer_offer_insert');

const FIND = statement<TransferOfferRef, { facts: AccessFacts; offer: TransferOfferRecord | null }>(
  'transfer_offer_find',
);

const END = statement<{ offerId: string; status: TransferOfferStatus }, TransferOfferRecord>('transfer_offer_end');

const HANDED_OVER_BY = statement<{ principalId: string }>('transfer_offer_handed_over_by');

const OF_TENANT = statement<Actor & Before, ListRow<AccessFacts, TransferOfferRecord> & { isOffered: boolean }>(
  'transfer_offers_of_tenant',
);

/** Offers of a tenant's ownership from one principal to another. */
export class TransferOfferStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Stores an offer unless `decide` throws. `decide` receives the offerer's record, and may be called more than once. Throws
   * `conflict` while another offer of the tenant is pending; an overdue one does not count.
   */
  async create(
    offer: NewTransferOffer,
    requestId: string,
    decide: (made: Pick<TransferOfferMove, 'offerer' | 'hasOtherOwner'>) => void,
  ): Promise<TransferOfferRecord> {
    const { tenantId, fromPrincipalId } = offer;
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, { tenantId, principalId: fromPrincipalId, requestId });
      const offerer = await findMember(sql, tenantId, fromPrincipalId);
      decide({ offerer, hasOtherOwner: await hasOtherOwner(sql, tenantId, fromPrincipalId) });
      await sql.run(EXPIRE, { tenantId });
      return sql.one(INSERT, offer);
    });
  }

  /** Returns the tenant's offer with this id, or null, and the caller's access facts. */
  find(ref: TransferOfferRef): Promise<{ facts: AccessFacts; offer: TransferOfferRecord | null }> {
    return this.sql.one(FIND, ref);
  }

  /**
   * Returns the tenant's offers, newest first: all if the caller may read them, else those made to it.
   * `isOffered` is true if the caller ever received one.
   */
  async list(
    actor: Actor,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; isOffered: boolean; page: Page<TransferOfferRecord> }> {
    const rows = await this.sql.run(OF_TENANT, { ...actor, ...before(request) });
    return { ...toList(rows, request.limit), isOffered: rows.some(({ isOffered }) => isOffered) };
  }

  /**
   * Ends a pending offer with the status and members' records from `decide`. If `decide` throws, nothing changes; it may be
   * called more than once. It must refuse an offer that is not pending. Throws `limit_reached` if a new member would exceed the
   * maximum.
   */
  async end(
    ref: TransferOfferRef & Acting,
    decide: (move: TransferOfferMove) => TransferOfferEnd,
  ): Promise<TransferOfferRecord> {
    const { tenantId, principalId, offerId } = ref;
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, ref);
      const { offer } = await sql.one(FIND, ref);
      const caller = await findMember(sql, tenantId, principalId);
      const fromId = offer?.fromPrincipalId ?? principalId;
      const offerer = offer === null ? null : await findMember(sql, tenantId, fromId);
      const move = { offer, caller, offerer, hasOtherOwner: await hasOtherOwner(sql, tenantId, fromId) };
      const { status, members } = decide(move);
      const ended = await sql.one(END, { offerId, status });
      // If the caller already owns the tenant, the offerer's loss of ownership is a change by itself.
      const isNewOwner = caller?.role !== OWNER || caller.status !== 'active';
      if (isNewOwner && members.some(({ principalId: id }) => id === fromId)) {
        await sql.run(HANDED_OVER_BY, { principalId: fromId });
      }
      for (const member of members) await putMember(sql, member, { caps: this.caps, actingId: principalId });
      return ended;
    });
  }
}
