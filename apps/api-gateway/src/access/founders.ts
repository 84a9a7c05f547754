import { TenancyStore } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import { Injectable } from '@nestjs/common';

/** Tenants whose founder is remembered: two short texts each. */
const REMEMBERED = 10_000;

/** Finds who founded a tenant. Founders have shares, and not tenants, since another tenant costs nothing. */
@Injectable()
export class Founders {
  private readonly known = new RecentMap<string, string>(REMEMBERED);

  constructor(private readonly tenancy: TenancyStore) {}

  /** To be asked for a tenant whose member asks, so that names of no tenant are not remembered. */
  async of(tenantId: string): Promise<string> {
    const known = this.known.get(tenantId);
    if (known !== undefined) return known;
    const founderId = await this.tenancy.founder(tenantId);
    this.known.set(tenantId, founderId);
    return founderId;
  }
}
