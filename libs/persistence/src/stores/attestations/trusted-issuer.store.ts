import type { AccessFacts, Actor, JsonObject } from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import { type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import type { ActedBy } from '../records/acting';
import { lockTenant } from '../tenancy/tenant-lock';

/** An issuer whose credentials a tenant accepts as evidence. */
export interface TrustedIssuerRecord {
  tenantId: string;
  issuer: string;
  /** The accepted types of credentials. */
  vcts: readonly string[];
  /** Public JWKs. */
  keys: readonly JsonObject[];
  /** Certificates, as base64 of DER. */
  roots: readonly string[];
  createdAt: Date;
  updatedAt: Date;
}

export type NewTrustedIssuer = Omit<TrustedIssuerRecord, 'createdAt' | 'updatedAt'>;

interface Named {
  tenantId: string;
  issuer: string;
}

const PUT = statement<
  Omit<NewTrustedIssuer, 'keys'> & { keys: string } & Pick<Caps, 'trusted_issuers_per_tenant'>,
  { trusted: TrustedIssuerRecord | null; cap: number }
>('trusted_issuer_put');
const FIND = statement<Actor & Named, { facts: AccessFacts; trusted: TrustedIssuerRecord | null }>(
  'trusted_issuer_find',
);
const LIST = statement<Actor & { after: string | number; rows: number }, ListRow<AccessFacts, TrustedIssuerRecord>>(
  'trusted_issuers_of_tenant',
);
const REMOVE = statement<ActedBy & Named>('trusted_issuer_remove');

/** The trust list of each tenant. */
export class TrustedIssuerStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /** Adds or replaces an issuer. Throws `limit_reached` if the tenant has the maximum number. */
  put(by: ActedBy, issuer: NewTrustedIssuer): Promise<TrustedIssuerRecord> {
    const { trusted_issuers_per_tenant } = this.caps;
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, { ...by, tenantId: issuer.tenantId });
      const keys = JSON.stringify(issuer.keys);
      const { trusted, cap } = await sql.one(PUT, { ...issuer, keys, trusted_issuers_per_tenant });
      if (trusted === null) throw limitReached('trusted_issuers_per_tenant', cap);
      return trusted;
    });
  }

  /** Returns the tenant's issuer, or null, and the caller's access facts. */
  find(actor: Actor, issuer: string): Promise<{ facts: AccessFacts; trusted: TrustedIssuerRecord | null }> {
    return this.sql.one(FIND, { ...actor, issuer });
  }

  /** Returns a page of the tenant's issuers by name, and the caller's access facts. Only an active member gets any. */
  async list(
    actor: Actor,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<TrustedIssuerRecord> }> {
    return toList(await this.sql.run(LIST, { ...actor, after: after?.[0] ?? '', rows: limit + 1 }), limit);
  }

  /** Removes an issuer. Returns false if there is none. */
  async remove(by: ActedBy, tenantId: string, issuer: string): Promise<boolean> {
    return (await this.sql.run(REMOVE, { ...by, tenantId, issuer })).length === 1;
  }
}
