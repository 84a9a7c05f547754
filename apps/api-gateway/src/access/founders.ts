import { TenancyStore } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';

/** How many tenants' founders are remembered: two short strings each. */
const REMEMBERED = 10_000;

/**
 * Finds the founder of a tenant. Shares are counted per founder instead of per tenant, because another tenant costs
 * nothing.
 */
@Injectable()
export class Founders {
  private readonly known = new RecentMap<string, string>(REMEMBERED);

  constructor(private readonly tenancy: TenancyStore) {}

  /**
   * Returns the founder. Call it only if a member of the tenant asks, so that ids of nonexistent tenants are not
   * remembered.
   */
  async of(tenantId: string): Promise<string> {
    const known = this.known.get(tenantId);
    if (known !== undefined) return known;
    const founderId = await this.tenancy.founder(tenantId);
    this.known.set(tenantId, founderId);
    return founderId;
  }
}
