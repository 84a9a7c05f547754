import { useMemo } from 'react';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { api } from '@identity-state/client';
import { OF_SUBJECT, useSubject } from '../../app/address.ts';
import { type ApiCall, apiCall, type Page, useSend } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import type { SubjectAccess } from '../../entities/subject-access.ts';
import type { Versions } from './versions.ts';
import { TEXT } from './words.ts';

/** An item of the timeline: a moment at `from`, or a period from `from` to `to`. */
export interface Happening {
  readonly kind: Kind;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Null for a period without an end, absent for a moment. */
  readonly to?: number | null;
  readonly title: string;
  readonly state: string;
  readonly detail: string;
  /** The link to it, among the views of the subject. */
  readonly link: HappeningLink;
}

export type HappeningLink =
  | { readonly view: 'version'; readonly version: string }
  | { readonly view: 'proposal'; readonly updateId: string }
  | { readonly view: 'sharing' | 'requests' };

export const KINDS = ['version', 'proposal', 'grant', 'request', 'disclosure'] as const;
export type Kind = (typeof KINDS)[number];

/** The number of items that are read of each kind except versions. */
export const MOST = 1_000;
const PAGE = 200;

/** Reads all items except versions that the caller may see. */
export function useOthers(access: SubjectAccess): {
  items: readonly Happening[];
  /** True if the caller may see grants and disclosures. */
  isAdmin: boolean;
  isCut: boolean;
  failed: readonly { readonly error: Error | null; refetch(): unknown }[];
} {
  const { tenantId, subjectType, subjectId, ids: path } = useSubject();
  const may = useMay(tenantId);
  const isAdmin =
    access.isOwner && may('GET /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/access-history');
  const proposals = useNewest(access.isOwner ? apiCall('GET', `${OF_SUBJECT}/updates`, { path }) : null);
  const grants = useNewest(isAdmin ? apiCall('GET', `${OF_SUBJECT}/access-history`, { path }) : null);
  const disclosures = useNewest(isAdmin ? apiCall('GET', `${OF_SUBJECT}/disclosures`, { path }) : null);
  const requests = useNewest(
    apiCall('GET', '/v1/subjects/{subject_type}/{subject_id}/refresh-requests', {
      path: { subject_type: subjectType, subject_id: subjectId },
      query: access.isOwner ? {} : { requesting_tenant_id: tenantId },
    }),
  );
  const all = [proposals, grants, disclosures, requests] as const;
  const items = useMemo(
    () => [
      ...(proposals.data ?? []).map(ofProposal),
      ...(grants.data ?? []).map(ofGrant),
      ...(requests.data ?? []).map(ofRequest),
      ...(disclosures.data ?? []).map(ofDisclosure),
    ],
    [proposals.data, grants.data, requests.data, disclosures.data],
  );
  return {
    items,
    isAdmin,
    isCut: all.some(({ data }) => data?.length === MOST),
    failed: all.filter(({ error }) => error !== null),
  };
}

/** Reads the newest items of a list. Null sends nothing. */
function useNewest<T>(call: ApiCall<Page<T>> | null): UseQueryResult<readonly T[]> {
  const send = useSend();
  return useQuery({
    queryKey: [...(call?.path ?? 'nothing').split('/').slice(1), call?.query, 'newest'],
    queryFn: async ({ signal }) => {
      const items: T[] = [];
      for (let cursor: string | null = null; call !== null && items.length < MOST;) {
        const page: Page<T> = await send({ ...call, query: { ...call.query, limit: PAGE, cursor } }, { signal });
        items.push(...page.items);
        cursor = page.next_cursor ?? null;
        if (cursor === null) break;
      }
      return items.slice(0, MOST);
    },
    enabled: call !== null,
  });
}

/** The time that places a version on the axis. */
export type Basis = 'effective' | 'recorded';

export function versionsAsHappenings({ items }: Versions, basis: Basis): readonly Happening[] {
  return items.map(
    ({
      snapshot_version: version,
      snapshot_id: id,
      generated_at,
      created_at,
      envelope_hash: hash,
      erased,
      change_kind: change,
    }) => ({
      kind: 'version',
      key: id,
      from: Date.parse(basis === 'effective' ? generated_at : created_at),
      title: TEXT.version(version),
      state: erased !== undefined ? TEXT.erased : change === 'correction' ? TEXT.correction : '',
      detail: hash === null ? '' : `${TEXT.hashed} ${hash.slice(0, 12)}…`,
      link: { view: 'version', version: String(version) },
    }),
  );
}

function ofProposal(update: api.Update): Happening {
  const { update_id: updateId, base_snapshot_version: base, status, proposed_by: by } = update;
  return {
    kind: 'proposal',
    key: updateId,
    from: Date.parse(update.created_at),
    to: endOf(update.applied_at ?? update.withdrawn_at),
    title: TEXT.proposal(base),
    state: status,
    detail: TEXT.by(by),
    link: { view: 'proposal', updateId },
  };
}

function ofGrant(period: api.AccessPeriod): Happening {
  return {
    kind: 'grant',
    key: `${period.grant_id} ${period.from} ${period.scopes.join(' ')}`,
    from: Date.parse(period.from),
    to: endOf(period.until),
    title: TEXT.grant(period.grantee_tenant_id),
    state: period.ended_by ?? (period.until === null ? TEXT.open : ''),
    detail: [...period.scopes, ...(period.paths ?? [])].join(', '),
    link: { view: 'sharing' },
  };
}

function ofRequest(request: api.RefreshRequest): Happening {
  const { refresh_request_id: id, requesting_tenant_id: tenant, status, reason_code: reason } = request;
  return {
    kind: 'request',
    key: id,
    from: Date.parse(request.created_at),
    to: endOf(request.closed_at ?? request.resolved_at),
    title: TEXT.request(tenant),
    state: status,
    detail: reason ?? '',
    link: { view: 'requests' },
  };
}

function ofDisclosure(disclosure: api.Disclosure): Happening {
  const { grantee_tenant_id: tenant, from_version: from, to_version: to, principal_id: who, via } = disclosure;
  return {
    kind: 'disclosure',
    key: `${disclosure.first_at} ${who} ${via} ${from} ${to}`,
    from: Date.parse(disclosure.first_at),
    title: TEXT.disclosure(tenant, from, to),
    state: '',
    detail: TEXT.via(who, via),
    link: { view: 'sharing' },
  };
}

function endOf(at: string | null): number | null {
  return at === null ? null : Date.parse(at);
}
