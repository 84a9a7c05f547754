import type { AccessFacts, Acting, Actor } from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { lockTenant } from '../tenancy/tenant-lock';

/** A key with which a tenant signs credentials, without its private part. */
export interface IssuingKeyRecord {
  /** The JWK thumbprint of the public key. */
  kid: string;
  tenantId: string;
  /** The `iss` of the credentials that it signs. */
  issuer: string;
  /** The `x` of an Ed25519 JWK. */
  publicKey: string;
  createdBy: string;
  createdAt: Date;
  /** When another key replaced it; null while it signs. */
  replacedAt: Date | null;
  /** When it was retired; null if what it signed still verifies. */
  retiredAt: Date | null;
}

export interface NewIssuingKey extends Pick<IssuingKeyRecord, 'kid' | 'issuer' | 'publicKey'> {
  /** The private part, sealed with the kid as associated data. */
  sealed: string;
}

interface Facts {
  facts: AccessFacts;
  key: IssuingKeyRecord | null;
}

const REPLACE = statement<{ tenantId: string }>('issuing_key_replace');
const CREATE = statement<
  NewIssuingKey & Acting & Pick<Caps, 'issuing_keys_per_tenant'> & { isForced: boolean },
  { key: IssuingKeyRecord | null; cap: number }
>('issuing_key_create');
const RETIRE = statement<{ kid: string }>('issuing_key_retire');
const FIND = statement<Actor & { kid: string }, Facts>('issuing_key_find');
const LIST = statement<Actor & Before, ListRow<AccessFacts, IssuingKeyRecord>>('issuing_keys_of_tenant');
const NEEDED = statement<{ tenantId: string }, { key: IssuingKeyRecord }>('issuing_keys_needed');

/** The keys with which tenants sign. A tenant has one that signs, or none. */
export class IssuingKeyStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /** Creates a key that signs from now on instead of the previous one. Throws `limit_reached`. */
  create(by: Acting, key: NewIssuingKey): Promise<IssuingKeyRecord> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, by);
      return this.replace(sql, by, key, false);
    });
  }

  /**
   * Makes everything that a key signed invalid. If the key signs, `successor` replaces it. Returns false if the key was
   * retired before.
   */
  retire(by: Acting, kid: string, successor: NewIssuingKey): Promise<boolean> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, by);
      const { key } = await sql.one(FIND, { ...by, kid });
      if (key === null || key.retiredAt !== null) return false;
      if (key.replacedAt === null) await this.replace(sql, by, successor, true);
      await sql.run(RETIRE, { kid });
      return true;
    });
  }

  /** Returns the tenant's key, or null, and the caller's access facts. */
  find(actor: Actor, kid: string): Promise<Facts> {
    return this.sql.one(FIND, { ...actor, kid });
  }

  /** Returns a page of the tenant's keys, newest first, and the caller's access facts. */
  async list(actor: Actor, request: PageRequest): Promise<{ facts: AccessFacts; page: Page<IssuingKeyRecord> }> {
    const { beforeTime, rows } = before(request);
    // A kid begins with a character of base64url, so `~` is after each.
    const beforeId = request.after?.[1] ?? '~';
    return toList(await this.sql.run(LIST, { ...actor, beforeTime, beforeId, rows }), request.limit);
  }

  /** Returns the keys that verify what the tenant issued, newest first: the one that signs, and those of valid credentials. */
  async needed(tenantId: string): Promise<IssuingKeyRecord[]> {
    return (await this.sql.run(NEEDED, { tenantId })).map(({ key }) => key);
  }

  private async replace(sql: TransactionSql, by: Acting, key: NewIssuingKey, isForced: boolean) {
    const { issuing_keys_per_tenant } = this.caps;
    await sql.run(REPLACE, { tenantId: by.tenantId });
    const { key: made, cap } = await sql.one(CREATE, { ...key, ...by, isForced, issuing_keys_per_tenant });
    if (made === null) throw limitReached('issuing_keys_per_tenant', cap);
    return made;
  }
}
