import type { api, Subject, Tenant } from '@identity-state/client';
import { Failure, UsageError, wholeNumber } from '../command';
import { defineCall, defineList, listing } from '../service/define';
import { momentToCome } from '../service/moments';
import { OPTIONAL_SUBJECT, SUBJECT_ARGUMENT, subjectFilter } from '../service/subject-name';
import { visible } from '../visible';

const STATUSES: readonly api.RefreshRequest['status'][] = ['pending', 'fulfilled', 'declined', 'cancelled', 'expired'];
/** The most requested paths per row. */
const SHOWN_PATHS = 2;

const REQUEST = { about: 'Request id, from iss requests.', isShared: true } as const;

export const requests = defineList({
  about: 'Newest first. STATUS names a version that answers the request, if the service knows one.',
  arguments: { subject: OPTIONAL_SUBJECT },
  options: {
    overdue: { about: 'Pending requests past their due time.' },
    outgoing: { about: 'Requests of your tenant to others.' },
    status: {
      value: 'STATUS',
      about: `${STATUSES.join(', ')} or all (default: pending).`,
      choices: STATUSES,
      read: statusOf,
    },
  },
  list({ subject, overdue, outgoing, status = 'pending' }) {
    const filter = {
      direction: outgoing ? 'outgoing' : 'incoming',
      ...(status === null ? {} : { status }),
      ...subjectFilter(subject),
      ...(overdue ? { overdue: 'true' as const } : {}),
    } as const;
    return listing({
      items: ({ tenant }) => tenant.refreshRequests(filter),
      none: 'There are no matching requests.',
      paint: { request: 'yellow' },
      columns: (request) => ({
        name: request.name,
        request: request.refresh_request_id,
        subject: `${request.subject.subject_type}/${request.subject.subject_id}`,
        by: request.requesting_tenant_id,
        due: dueText(request),
        status: statusText(request),
        asks: asksText(request),
      }),
    });
  },
});

/** Returns the status; null for `all`. */
function statusOf(text: string): api.RefreshRequest['status'] | null {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined && text !== 'all')
    throw new UsageError(`--status takes one of ${STATUSES.join(', ')}, or all.`);
  return status ?? null;
}

function dueText({ due_at: due, overdue_at: overdue, status }: api.RefreshRequest): string {
  return `${due ?? ''}${overdue !== null && status === 'pending' ? ' overdue' : ''}`;
}

/** Returns the status, with the version that answers the request and the next one of its series. */
function statusText({
  status,
  suggested_fulfilment: suggested,
  resolved_snapshot_version: by,
  every,
  next_at: next,
}: api.RefreshRequest): string {
  const answer = suggested === undefined || suggested === null ? [] : [`@${suggested.snapshot_version} answers it`];
  const series = next !== null ? [`next ${next}`] : every !== null && status === 'pending' ? [`every ${every}`] : [];
  return [status === 'fulfilled' ? `fulfilled by @${by}` : status, ...answer, ...series].join(', ');
}

function asksText({ requested_paths: paths, reason_code: reason, message }: api.RefreshRequest): string {
  const first = paths.slice(0, SHOWN_PATHS).join(', ') + (paths.length > SHOWN_PATHS ? ', …' : '');
  return [first === '' ? 'everything' : first, reason, message].filter((text) => text !== null).join('; ');
}

export const requestsAsk = defineCall({
  arguments: { subject: SUBJECT_ARGUMENT },
  options: {
    path: { value: 'PATH', about: 'Part to update, such as /attributes/legal (default: all).', isRepeated: true },
    reason: { value: 'CODE', about: 'Your own reason code.' },
    message: { value: 'TEXT', about: 'Message to the owner.' },
    due: { value: 'TIME', about: 'Due time, such as 14d.', read: momentToCome },
    expires: { value: 'TIME', about: 'Expiry time, such as 30d.', read: momentToCome },
    every: {
      value: 'DURATION',
      about: 'Repeat the request at this interval, such as P1Y or P3M, until you cancel it.',
    },
  },
  call: ({ tenant }, { subject: { type, id }, path: paths, reason, message, due, expires, every }) =>
    tenant.subject(type, id).refreshRequests.create({
      requesting_tenant_id: tenant.tenantId,
      ...(paths.length === 0 ? {} : { requested_paths: [...paths] }),
      reason_code: reason ?? null,
      message: message ?? null,
      due_at: due ?? null,
      expires_at: expires ?? null,
      every: every ?? null,
    }),
  text: ({ refresh_request_id: id }, { subject }) => `Requested an update of ${subject.type}/${subject.id}: ${id}`,
});

export const requestsFulfil = defineCall({
  about: 'Without --version, it uses the version that the service suggests.',
  arguments: { request: REQUEST },
  options: {
    version: {
      value: 'N',
      about: 'Version that answers the request.',
      read: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    },
  },
  async call({ tenant }, { request: requestId, version }) {
    const { request, subject } = await findRequest(tenant, requestId, 'incoming');
    const snapshotId = version === undefined ? suggestedFor(request) : (await subject.version(version)).snapshot_id;
    return subject.refreshRequests.fulfil(request.refresh_request_id, snapshotId);
  },
  text: (request) => `${requestText(request)} by version ${request.resolved_snapshot_version}`,
});

function suggestedFor({ suggested_fulfilment: suggested, status }: api.RefreshRequest): string {
  if (suggested !== undefined && suggested !== null) return suggested.snapshot_id;
  if (status !== 'pending') throw new Failure(`The request is already ${visible(status)}.`);
  throw new Failure('No version answers the whole request yet. Write one, or choose one with --version N.');
}

export const requestsDecline = defineCall({
  arguments: { request: REQUEST },
  options: { reason: { value: 'TEXT', about: 'Reason for the requester.' } },
  async call({ tenant }, { request: requestId, reason = '' }) {
    const { request, subject } = await findRequest(tenant, requestId, 'incoming');
    return subject.refreshRequests.decline(request.refresh_request_id, { reason });
  },
  text: requestText,
});

export const requestsCancel = defineCall({
  about: 'To end the series of a repeating request, name the newest one.',
  arguments: { request: REQUEST },
  async call({ tenant }, { request: requestId }) {
    const { request, subject } = await findRequest(tenant, requestId, 'outgoing');
    return subject.refreshRequests.cancel(request.refresh_request_id);
  },
  text: requestText,
});

/** Finds a refresh request of the tenant by its id. @throws Failure if there is none */
async function findRequest(
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
function requestText(request: api.RefreshRequest): string {
  const { subject, status, requesting_tenant_id: requester, next_at: next, series_end_reason: end } = request;
  const series = next !== null ? `; the next one opens at ${next}` : end === null ? '' : '; its series has ended';
  return `The request of ${requester} on ${subject.subject_type}/${subject.subject_id} is ${status}${series}`;
}
