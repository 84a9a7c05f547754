import { type EventType, refreshRequestData } from '@iss/domain';
import type { EventTrace, Fact } from '../webhooks/record';
import type { RefreshRequestRecord } from './refresh-request-record';

export type RefreshEventType = Extract<EventType, `refresh_request.${string}`>;

/** Returns a fact about a request as it is then, for these tenants. */
export function refreshFact(
  type: RefreshEventType,
  request: RefreshRequestRecord,
  at: Date,
  tenantIds: readonly string[],
  trace?: EventTrace,
): Fact {
  return { type, at, data: refreshRequestData(request), tenantIds, ...(trace === undefined ? {} : { trace }) };
}
