import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type api, ApiError, type IdentityState } from '@identity-state/client';
import { encodePath } from '../../app/api.ts';
import { useClient } from '../../app/context.tsx';
import { isRecordId } from './meanings.ts';
import { TEXT } from './words.ts';

/** A record that an id names, and the address of its view. */
export interface FoundRecord {
  readonly what: string;
  readonly subjectId: string;
  readonly to: string;
}

interface Place {
  readonly client: IdentityState;
  readonly tenantId: string;
  readonly id: string;
  readonly signal: AbortSignal;
}

const PAGE = 200;
const MAX_REQUESTS = 2_000;

/** Finds the snapshot, grant, update or refresh request with an id. */
export function useFoundById(tenantId: string, id: string): UseQueryResult<readonly FoundRecord[]> {
  const client = useClient();
  return useQuery({
    queryKey: ['v1', 'tenants', tenantId, 'by-id', id.toLowerCase()],
    enabled: isRecordId(id),
    queryFn: async ({ signal }): Promise<readonly FoundRecord[]> => {
      const place: Place = { client, tenantId, id: id.toLowerCase(), signal };
      const byRoute = await Promise.all([snapshotOf(place), grantOf(place), updateOf(place)]);
      const found = byRoute.filter((record) => record !== null);
      if (found.length > 0) return found;
      const requests = await Promise.all([requestOf(place, 'incoming'), requestOf(place, 'outgoing')]);
      return requests.filter((record) => record !== null).slice(0, 1);
    },
  });
}

/** Awaits a read. Returns null if the caller may not read it, or it does not exist. */
async function ifFound<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return null;
    throw error;
  }
}

/** Finds a version by its proof, which an erased version has too. */
async function snapshotOf(place: Place): Promise<FoundRecord | null> {
  const { client, tenantId, id, signal } = place;
  const path = { tenant_id: tenantId, snapshot_id: id };
  const route = '/v1/tenants/{tenant_id}/snapshots/{snapshot_id}/proof';
  const proof = await ifFound(client.request('GET', route, { path, signal }));
  if (proof === null) return null;
  const { subject_id: subjectId, snapshot_version: version } = proof;
  return { what: TEXT.version(version), subjectId, to: `${viewOf(place, proof)}?version=${version}` };
}

async function grantOf(place: Place): Promise<FoundRecord | null> {
  const { client, tenantId, id, signal } = place;
  const path = { tenant_id: tenantId, grant_id: id };
  const grant = await ifFound(client.request('GET', '/v1/tenants/{tenant_id}/grants/{grant_id}', { path, signal }));
  if (grant === null) return null;
  const isIssued = grant.grantor_tenant_id === tenantId;
  const isOnAll = grant.subject_type === '*';
  const views = isIssued ? '/sharing?on=all' : '/sharing?show=held';
  return {
    what: TEXT.grant(isIssued ? grant.grantee_tenant_id : null, grant.grantor_tenant_id),
    subjectId: isOnAll ? TEXT.allSubjects : grant.subject_id,
    to: isOnAll ? encodePath('t', tenantId) + views : viewOf(place, grant) + (isIssued ? '/sharing' : ''),
  };
}

async function updateOf(place: Place): Promise<FoundRecord | null> {
  const { client, tenantId, id, signal } = place;
  const path = { tenant_id: tenantId, update_id: id };
  const route = '/v1/tenants/{tenant_id}/entity-state-updates/{update_id}';
  const update = await ifFound(client.request('GET', route, { path, signal }));
  if (update === null) return null;
  return { what: TEXT.update, subjectId: update.subject_id, to: `${viewOf(place, update)}/proposals/${id}` };
}

/** Finds a refresh request in the tenant's list, because no route reads one by its id alone. */
async function requestOf(
  { client, tenantId, id, signal }: Place,
  direction: 'incoming' | 'outgoing',
): Promise<FoundRecord | null> {
  let cursor: string | null = null;
  for (let count = 0; count < MAX_REQUESTS; count += PAGE) {
    const query = { direction, limit: PAGE, cursor };
    const path = { tenant_id: tenantId };
    const route = '/v1/tenants/{tenant_id}/refresh-requests';
    const page: api.RefreshRequestPage = await client.request('GET', route, { path, query, signal });
    const request = page.items.find(({ refresh_request_id: one }) => one === id);
    if (request !== undefined) {
      return {
        what: TEXT.request,
        subjectId: request.subject_id,
        to: `${viewOf({ tenantId }, request)}/requests`,
      };
    }
    cursor = page.next_cursor;
    if (cursor === null) return null;
  }
  return null;
}

function viewOf(
  { tenantId }: Pick<Place, 'tenantId'>,
  { subject_type: type, subject_id: id }: { readonly subject_type: string; readonly subject_id: string },
): string {
  return encodePath('t', tenantId, 'subjects', type, id);
}
