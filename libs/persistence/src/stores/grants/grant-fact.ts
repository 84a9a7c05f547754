import { type EventType, grantData } from '@iss/domain';
import type { Fact } from '../webhooks/record';

/** The data of a grant in its facts. */
export type GrantOfFact = Parameters<typeof grantData>[0];

/** Returns a fact about a grant, for both parties. */
export function grantFact(
  type: Exclude<Extract<EventType, `grant.${string}`>, 'grant.requested'>,
  grant: GrantOfFact,
  at: Date,
): Fact {
  return { type, at, data: grantData(grant), tenantIds: [grant.ownerTenantId, grant.granteeTenantId] };
}
