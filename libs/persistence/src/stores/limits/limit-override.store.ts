import type { LimitScope, OverridableName } from '@iss/platform';
import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** The tenant or principal that a limit is for. */
export interface LimitOwner {
  scope: LimitScope;
  /** `tenant_id` or `principal_id`. */
  scopeId: string;
}

/** A limit that an operator set for one tenant or principal instead of the default. */
export interface LimitOverride extends LimitOwner {
  name: string;
  value: number;
  reason: string | null;
  setAt: Date;
}

const LIST = statement<{ scope: LimitScope; afterId: string; afterName: string; rows: number }, LimitOverride>(
  'limit_override_list',
);

const OF = statement<LimitOwner, LimitOverride>('limit_override_of');

const TENANT = statement<{ tenantId: string }, { tenantId: string }>('limit_override_tenant');

const SET = statement<LimitOwner & { name: OverridableName; value: number; reason: string | null }, LimitOverride>(
  'limit_override_set',
);

const UNSET = statement<LimitOwner & { name: OverridableName }, LimitOverride>('limit_override_unset');

const PAGE = 1000;

/** Limits of single tenants and principals, for their operator. The applications' role can only read them. */
export class LimitOverrideStore {
  constructor(private readonly sql: TransactionSql) {}

  /** Returns the overrides of all tenants or of all principals, by id and name. */
  async all(scope: LimitScope): Promise<LimitOverride[]> {
    const found: LimitOverride[] = [];
    let rows: LimitOverride[];
    do {
      const last = found.at(-1);
      rows = await this.sql.run(LIST, {
        scope,
        afterId: last?.scopeId ?? '',
        afterName: last?.name ?? '',
        rows: PAGE,
      });
      found.push(...rows);
    } while (rows.length === PAGE);
    return found;
  }

  /** Returns the overrides of one tenant or principal, by name. */
  of(owner: LimitOwner): Promise<LimitOverride[]> {
    return this.sql.run(OF, owner);
  }

  async hasTenant(tenantId: string): Promise<boolean> {
    return (await this.sql.run(TENANT, { tenantId })).length > 0;
  }

  /** Sets the value, and replaces a previous one. */
  set(owner: LimitOwner, name: OverridableName, value: number, reason: string | null): Promise<LimitOverride> {
    return this.sql.one(SET, { ...owner, name, value, reason });
  }

  /** Removes the override, so that the default applies again. Returns the removed one, or null. */
  async unset(owner: LimitOwner, name: OverridableName): Promise<LimitOverride | null> {
    const [unset = null] = await this.sql.run(UNSET, { ...owner, name });
    return unset;
  }
}
