import { type AccessRule, type Actor, requireAccess } from '@iss/domain';
import { TenancyStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';

/**
 * Checks access to things that belong to a tenant. Reads and writes of subjects load their facts together with the
 * data.
 */
@Injectable()
export class AccessService {
  constructor(private readonly tenancy: TenancyStore) {}

  /** Throws `forbidden` unless the principal may do this in the tenant at this moment. */
  async require(actor: Actor, rule: AccessRule): Promise<void> {
    requireAccess(await this.tenancy.facts(actor), rule);
  }
}
