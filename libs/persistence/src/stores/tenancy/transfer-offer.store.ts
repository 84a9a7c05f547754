import { type AccessFacts, type Acting, type Actor, OWNER, type TransferOfferStatus } from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow } from '../../sql/input';
import {
  type Before,
  before,
  fitting,
  type ListRow,
  newestFirst,
  type Page,
  type PageRequest,
  rowBytes,
  toList,
} from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS } from '../facts/access-facts';
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

const IS_OVERDUE = `o.status = 'pending' AND o.expires_at <= statement_timestamp()`;

/** The columns of the offer `o`. */
const OFFER: Columns<TransferOfferRecord> = {
  offerId: 'o.offer_id',
  tenantId: 'o.tenant_id',
  fromPrincipalId: 'o.from_principal_id',
  toPrincipalId: 'o.to_principal_id',
  message: 'o.message',
  status: `CASE WHEN ${IS_OVERDUE} THEN 'expired' ELSE o.status END`,
  createdAt: 'o.created_at',
  expiresAt: 'o.expires_at',
  resolvedAt: `CASE WHEN ${IS_OVERDUE} THEN o.expires_at ELSE o.resolved_at END`,
};

const EXPIRE = statement<{ tenantId: string }>(
  'transfer_offer_expire',
  `UPDATE transfer_offers o SET status = 'expired', resolved_at = o.expires_at
  WHERE o.tenant_id = :tenantId AND ${IS_OVERDUE}`,
);

const INSERT = statement<NewTransferOffer, TransferOfferRecord>(
  'transfer_offer_insert',
  `INSERT INTO transfer_offers AS o (offer_id, tenant_id, from_principal_id, to_principal_id, message, expires_at, created_at)
  VALUES (:offerId, :tenantId, :fromPrincipalId, :toPrincipalId, :message, :expiresAt, statement_timestamp())
  RETURNING ${columns(OFFER)}`,
);

const FIND = statement<TransferOfferRef, { facts: AccessFacts; offer: TransferOfferRecord | null }>(
  'transfer_offer_find',
  `SELECT ${FACTS},
  ${columns(OFFER, 'offer?')}
  FROM ${inputRow({ ...ACTOR, offer_id: 'uuid' })}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM transfer_offers o WHERE o.offer_id = i.offer_id LIMIT 1) o
    ON o.tenant_id = i.tenant_id`,
);

const END = statement<{ offerId: string; status: TransferOfferStatus }, TransferOfferRecord>(
  'transfer_offer_end',
  `UPDATE transfer_offers o SET status = :status, resolved_at = statement_timestamp()
  WHERE o.offer_id = :offerId AND (o.status = 'pending') IS TRUE
  RETURNING ${columns(OFFER)}`,
);

/** Records the next owner of this transaction as the successor of this principal, so that there is one change and not two. */
const HANDED_OVER_BY = statement<{ principalId: string }>(
  'transfer_offer_handed_over_by',
  `SELECT set_config('iss.owner_from', :principalId, true)`,
);

const LIST = newestFirst('o', 'offer_id');

// Each kind of caller uses its own index, so a caller that sees few offers does not scan all.
const OF_TENANT = statement<
  Actor & Before & { admins: readonly string[] },
  ListRow<AccessFacts, TransferOfferRecord> & { isOffered: boolean }
>(
  'transfer_offers_of_tenant',
  `SELECT ${FACTS},
  ${columns(OFFER, 'item?')},
  ${LIST.position}, o.found,
       coalesce((SELECT true FROM transfer_offers mine
                  WHERE mine.tenant_id = i.tenant_id AND mine.to_principal_id = i.principal_id LIMIT 1), false) AS "isOffered"
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  CROSS JOIN LATERAL (SELECT (f.member_status = 'active' AND f.role = ANY (:admins::text[])) IS TRUE AS is_admin OFFSET 0) a
  LEFT JOIN LATERAL ${fitting(
    'o',
    `SELECT * FROM (SELECT * FROM transfer_offers o
                    WHERE a.is_admin AND o.tenant_id = i.tenant_id AND ${LIST.next}) o
      UNION ALL
     SELECT * FROM (SELECT * FROM transfer_offers o
                     WHERE NOT a.is_admin AND o.tenant_id = i.tenant_id AND o.to_principal_id = i.principal_id
                       AND ${LIST.next}) o`,
    rowBytes('o'),
    LIST.order,
  )} o ON true
 ${LIST.order}`,
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
   * Returns the tenant's offers, newest first: all if the caller has one of the roles `admins`, else those made to it.
   * `isOffered` is true if the caller ever received one.
   */
  async list(
    actor: Actor,
    request: PageRequest,
    admins: readonly string[],
  ): Promise<{ facts: AccessFacts; isOffered: boolean; page: Page<TransferOfferRecord> }> {
    const rows = await this.sql.run(OF_TENANT, { ...actor, admins, ...before(request) });
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
