import { timingSafeEqual } from 'node:crypto';
import type { CredentialProfile, Visible } from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import type { ActedBy } from '../records/acting';
import { lockTenant } from '../tenancy/tenant-lock';
import { noKey } from './credential.store';

export interface NewOffer {
  offerId: string;
  /** The owner of the subject, whose key will sign. */
  tenantId: string;
  /** The tenant that offers it by a grant; null for the owner. */
  granteeTenantId: string | null;
  subjectKey: number;
  version: number;
  snapshotId: string;
  /** The parts that the owner chose; null: everything, or what the grants show. */
  paths: Visible;
  profile: CredentialProfile | null;
  /** In seconds; null: the default. */
  expiresIn: number | null;
  codeHash: Buffer;
  /** Null if there is none. */
  txCodeHash: Buffer | null;
}

export interface CreatedOffer {
  /** The issuer of the credential. */
  issuer: string;
  /** When the code expires. */
  expiresAt: Date;
}

/** An offer that a wallet may take now. */
export interface OfferToTake extends Pick<
  NewOffer,
  'offerId' | 'granteeTenantId' | 'snapshotId' | 'paths' | 'profile' | 'expiresIn'
> {
  createdBy: string;
  /** The `aud` of the wallet's proof. */
  issuer: string;
}

/** How often a wallet may send a wrong tx_code. */
const MOST_WRONG = 5;
const OFFER_MINUTES = 10;
export const OFFER_TOKEN_MINUTES = 5;

const CREATE = statement<
  NewOffer & ActedBy & Pick<Caps, 'open_offers_per_tenant'> & { minutes: number; most: number },
  { issuer: string; cap: number; expiresAt: Date | null }
>('credential_offer_create');
const BY_CODE = statement<{ codeHash: Buffer; most: number }, { offerId: string; txCodeHash: Buffer | null }>(
  'credential_offer_by_code',
);
const REDEEM = statement<{ offerId: string; tokenHash: Buffer; minutes: number }>('credential_offer_redeem');
const MISS = statement<{ offerId: string }>('credential_offer_miss');
const BY_TOKEN = statement<{ tokenHash: Buffer }, OfferToTake>('credential_offer_by_token');

/** Offers of credentials, with hashes of their secrets. */
export class CredentialOfferStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /** Creates an offer. Throws `conflict` if the owner has no key, and `limit_reached`. */
  create({ principalId, requestId }: ActedBy, offer: NewOffer): Promise<CreatedOffer> {
    const { open_offers_per_tenant } = this.caps;
    const fixed = { principalId, requestId, open_offers_per_tenant, minutes: OFFER_MINUTES, most: MOST_WRONG };
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, { principalId, requestId, tenantId: offer.tenantId });
      const [made] = await sql.run(CREATE, { ...offer, ...fixed });
      if (made === undefined) throw noKey();
      const { issuer, cap, expiresAt } = made;
      if (expiresAt === null) throw limitReached('open_offers_per_tenant', cap);
      return { issuer, expiresAt };
    });
  }

  /**
   * Exchanges a code for a token, once. A wrong tx_code is counted, and ends the offer if it is the fifth. Returns
   * `unneeded` if a tx_code was sent that the offer has not, and the like, without counting it.
   */
  redeem(
    codeHash: Buffer,
    txCodeHash: Buffer | null,
    tokenHash: Buffer,
  ): Promise<'redeemed' | 'refused' | 'unneeded' | 'missing'> {
    return this.sql.transaction(async (sql) => {
      const [offer] = await sql.run(BY_CODE, { codeHash, most: MOST_WRONG });
      if (offer === undefined) return 'refused';
      const { offerId, txCodeHash: expected } = offer;
      if (expected === null && txCodeHash !== null) return 'unneeded';
      if (expected !== null && txCodeHash === null) return 'missing';
      if (expected !== null && txCodeHash !== null && !timingSafeEqual(expected, txCodeHash)) {
        await sql.run(MISS, { offerId });
        return 'refused';
      }
      await sql.run(REDEEM, { offerId, tokenHash, minutes: OFFER_TOKEN_MINUTES });
      return 'redeemed';
    });
  }

  /** Returns the offer that a token may take, or null. */
  async findByToken(tokenHash: Buffer): Promise<OfferToTake | null> {
    const [offer] = await this.sql.run(BY_TOKEN, { tokenHash });
    return offer ?? null;
  }
}
