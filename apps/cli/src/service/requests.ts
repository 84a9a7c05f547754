import type { api, Subject, Tenant } from '@identity-state/client';
import { type ArgumentSpec, Failure } from '../command';
import { visible } from '../visible';

export const REQUEST_ARGUMENT: ArgumentSpec = {
  name: 'request',
  about: 'Request id, from iss requests.',
  isShared: true,
};

/** Finds a refresh request of the tenant by its id. @throws Failure if there is none */
export async function requestOf(
  tenant: Tenant,
  requestId: string,
  direction: 'incoming' | 'outgoing',
): Promise<{ request: api.RefreshRequest; subject: Subject<object> }> {
  for await (const request of tenant.refreshRequests({ direction })) {
    if (request.refresh_request_id !== requestId.toLowerCase()) continue;
    return { request, subject: tenant.subject(request.subject.subject_type, request.subject.subject_id) };
  }
  const list = direction === 'incoming' ? 'iss requests --status all' : 'iss requests --outgoing --status all';
  throw new Failure(`${tenant.tenantId} has no ${direction} request with this id. List them: ${list}.`);
}

/** Describes the status of a request in one line. */
export function requestText(request: api.RefreshRequest): string {
  const { subject, status, requesting_tenant_id: asker, next_at: next, series_end_reason: end } = request;
  const series = next !== null ? `; the next one opens at ${next}` : end === null ? '' : '; its series has ended';
  return visible(`The request of ${asker} on ${subject.subject_type}/${subject.subject_id} is ${status}${series}`);
}
