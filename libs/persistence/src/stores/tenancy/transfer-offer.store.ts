import type { AccessFacts, Actor, TransferOfferStatus } from '@iss/domain';
import { type Page, type PageRequest, type Position, toPage } from '../../sql/page';
import { type Sql, statement } from '../../sql/sql';
import { ACCESS_COLUMNS, type AccessFactsRow, toAccessFacts } from '../facts/access-facts';
import {
  findMember,
  lockMembers,
  MEMBER_ACCESS,
  type MembershipRecord,
  type NewMembership,
  putMember,
} from './memberships';

/** An offer of a tenant's ownership, with its status by the clock of the moment it was read. */
export interface TransferOfferRecord {
  offerId: string;
  tenantId: string;
  fromPrincipalId: string;
  toPrincipalId: string;
  message: string | null;
  status: TransferOfferStatus;
  createdAt: Date;
  expiresAt: Date | null;
  /** When it left `pending`; null before. */
  resolvedAt: Date | null;
}

export type NewTransferOffer = Omit<TransferOfferRecord, 'status' | 'createdAt' | 'resolvedAt'>;

/** One offer, as one principal meets it. */
export interface TransferOfferRef extends Actor {
  offerId: string;
}

/** What a move of an offer is decided by; it stays so until the move is stored. */
export interface TransferOfferMove {
  /** Null when the tenant has no such offer. */
  offer: TransferOfferRecord | null;
  caller: MembershipRecord | null;
  offerer: MembershipRecord | null;
}

/** How an offer ends, and the members' records that change with it. */
export interface TransferOfferEnd {
  status: Exclude<TransferOfferStatus, 'pending' | 'expired'>;
  members: readonly NewMembership[];
}

interface OfferRow {
  offer_id: string;
  tenant_id: string;
  from_principal_id: string;
  to_principal_id: string;
  message: string | null;
  status: TransferOfferStatus;
  created_at: Date;
  /** As text, since a `Date` has no microseconds. */
  position: string;
  expires_at: Date | null;
  resolved_at: Date | null;
}
type MaybeOfferRow = { [Column in keyof OfferRow]: OfferRow[Column] | null };

const IS_OVERDUE = `o.status = 'pending' AND o.expires_at <= statement_timestamp()`;

const OFFER_COLUMNS = `o.offer_id, o.tenant_id, o.from_principal_id, o.to_principal_id, o.message,
  CASE WHEN ${IS_OVERDUE} THEN 'expired' ELSE o.status END AS status, o.created_at, o.created_at::text AS position,
  o.expires_at, CASE WHEN ${IS_OVERDUE} THEN o.expires_at ELSE o.resolved_at END AS resolved_at`;

const EXPIRE = statement(
  'transfer_offer_expire',
  `UPDATE transfer_offers o SET status = 'expired', resolved_at = o.expires_at WHERE o.tenant_id = $1 AND ${IS_OVERDUE}`,
);

const INSERT = statement<OfferRow>(
  'transfer_offer_insert',
  `INSERT INTO transfer_offers AS o (offer_id, tenant_id, from_principal_id, to_principal_id, message, expires_at, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, statement_timestamp())
  RETURNING ${OFFER_COLUMNS}`,
);

const CALLER = `(SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS offer_id) i ${MEMBER_ACCESS}`;

const FIND = statement<AccessFactsRow & MaybeOfferRow>(
  'transfer_offer_find',
  `SELECT ${ACCESS_COLUMNS}, ${OFFER_COLUMNS}
  FROM ${CALLER}
  LEFT JOIN LATERAL (SELECT * FROM transfer_offers o WHERE o.offer_id = i.offer_id LIMIT 1) o
    ON o.tenant_id = i.tenant_id`,
);

const END = statement<OfferRow>(
  'transfer_offer_end',
  `UPDATE transfer_offers o SET status = $2, resolved_at = statement_timestamp()
  WHERE o.offer_id = $1 AND (o.status = 'pending') IS TRUE
  RETURNING ${OFFER_COLUMNS}`,
);

const LIST = statement<AccessFactsRow & MaybeOfferRow & { is_offered: boolean }>(
  'transfer_offers_of_tenant',
  `SELECT ${ACCESS_COLUMNS}, ${OFFER_COLUMNS},
       coalesce((SELECT true FROM transfer_offers mine
                  WHERE mine.tenant_id = i.tenant_id AND mine.to_principal_id = i.principal_id LIMIT 1), false) AS is_offered
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (
    SELECT * FROM transfer_offers o
     WHERE o.tenant_id = i.tenant_id
       AND (o.to_principal_id = i.principal_id OR (f.member_status = 'active' AND f.role = ANY ($3)))
       AND (o.created_at, o.offer_id) < ($4::timestamptz, $5::uuid)
     ORDER BY o.created_at DESC, o.offer_id DESC LIMIT $6
  ) o ON true
 ORDER BY o.created_at DESC, o.offer_id DESC`,
);

/** Before the newest offer. */
const START: Position = ['infinity', '00000000-0000-0000-0000-000000000000'];

/** Offers of a tenant's ownership from one principal to another. */
export class TransferOfferStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Stores an offer unless `decide`, which sees its maker's record, throws; it may be called more than once. Throws
   * `conflict` while another offer of the tenant is pending; one that is overdue stands in no one's way.
   */
  async create(
    offer: NewTransferOffer,
    decide: (offerer: MembershipRecord | null) => void,
  ): Promise<TransferOfferRecord> {
    const { offerId, tenantId, fromPrincipalId, toPrincipalId, message, expiresAt } = offer;
    return this.sql.transaction(async (sql) => {
      await lockMembers(sql, tenantId);
      decide(await findMember(sql, tenantId, fromPrincipalId));
      await sql.run(EXPIRE, [tenantId]);
      const values = [offerId, tenantId, fromPrincipalId, toPrincipalId, message, expiresAt];
      const [row] = await sql.run(INSERT, values);
      if (row === undefined) throw new Error('transfer_offer_insert answered no row');
      return toOffer(row);
    });
  }

  /** The tenant's offer with this id, or null; and what the caller may do in the tenant. */
  async find(ref: TransferOfferRef): Promise<{ facts: AccessFacts; offer: TransferOfferRecord | null }> {
    const [row] = await this.sql.run(FIND, [ref.tenantId, ref.principalId, ref.offerId]);
    if (row === undefined) throw new Error('transfer_offer_find answered no row');
    return { facts: toAccessFacts(row), offer: isOfferRow(row) ? toOffer(row) : null };
  }

  /**
   * The tenant's offers, newest first: all of them if the caller holds one of `admins`, else those made to it. `isOffered`
   * says whether any ever was.
   */
  async list(
    { tenantId, principalId }: Omit<TransferOfferRef, 'offerId'>,
    { limit, after }: PageRequest,
    admins: readonly string[],
  ): Promise<{ facts: AccessFacts; isOffered: boolean; page: Page<TransferOfferRecord> }> {
    const rows = await this.sql.run(LIST, [tenantId, principalId, admins, ...(after ?? START), limit + 1]);
    const [first] = rows;
    if (first === undefined) throw new Error('transfer_offers_of_tenant answered no row');
    const page = toPage(rows.filter(isOfferRow), limit, toOffer, (row) => [row.position, row.offer_id]);
    return { facts: toAccessFacts(first), isOffered: first.is_offered, page };
  }

  /**
   * Ends a pending offer by the rule `decide`, together with the members' records that change with it; what `decide`
   * throws leaves all as it is, and it may be called more than once. It must refuse an offer that is not pending.
   */
  async end(
    ref: TransferOfferRef,
    decide: (move: TransferOfferMove) => TransferOfferEnd,
  ): Promise<TransferOfferRecord> {
    const { tenantId, principalId, offerId } = ref;
    return this.sql.transaction(async (sql) => {
      await lockMembers(sql, tenantId);
      const [found] = await sql.run(FIND, [tenantId, principalId, offerId]);
      const offer = found !== undefined && isOfferRow(found) ? toOffer(found) : null;
      const caller = await findMember(sql, tenantId, principalId);
      const offerer = offer === null ? null : await findMember(sql, tenantId, offer.fromPrincipalId);
      const { status, members } = decide({ offer, caller, offerer });
      const [row] = await sql.run(END, [offerId, status]);
      if (row === undefined) throw new Error('an offer was moved that is not pending');
      for (const member of members) await putMember(sql, member);
      return toOffer(row);
    });
  }
}

function isOfferRow<Row extends MaybeOfferRow>(row: Row): row is Row & OfferRow {
  return row.offer_id !== null;
}

function toOffer(row: OfferRow): TransferOfferRecord {
  return {
    offerId: row.offer_id,
    tenantId: row.tenant_id,
    fromPrincipalId: row.from_principal_id,
    toPrincipalId: row.to_principal_id,
    message: row.message,
    status: row.status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    resolvedAt: row.resolved_at,
  };
}
