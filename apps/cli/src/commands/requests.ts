import type { api } from '@identity-state/client';
import { type Command, hasFlag, textOf, UsageError } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

const STATUSES: readonly api.RefreshRequest['status'][] = ['pending', 'fulfilled', 'declined', 'cancelled', 'expired'];
/** The most requested paths per row. */
const SHOWN_PATHS = 2;

export const requests: Command = {
  about: 'Newest first. STATUS names a version that answers the request, if the service knows one.',
  arguments: [{ ...SUBJECT_ARGUMENT, isOptional: true }],
  options: {
    overdue: { about: 'Pending requests past their due time.' },
    outgoing: { about: 'Requests of your tenant to others.' },
    status: {
      value: 'STATUS',
      about: `${STATUSES.join(', ')} or all (default: pending).`,
      choices: STATUSES,
    },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const isOutgoing = hasFlag(options, 'outgoing');
    const status = statusOf(textOf(options, 'status') ?? 'pending');
    const named = textOf(options, 'subject');
    const { type, id } = named === undefined ? {} : subjectOf(named);
    const filter = {
      direction: isOutgoing ? 'outgoing' : 'incoming',
      ...(status === null ? {} : { status }),
      ...(type === undefined || id === undefined ? {} : { subject_type: type, subject_id: id }),
      ...(hasFlag(options, 'overdue') ? { overdue: 'true' as const } : {}),
    } as const;
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, tenant.refreshRequests(filter), {
        none: 'There are no matching requests.',
        paint: { request: style.yellow },
        asRow: (request) => ({
          name: visible(request.name ?? ''),
          request: request.refresh_request_id,
          subject: visible(`${request.subject.subject_type}/${request.subject.subject_id}`),
          by: visible(request.requesting_tenant_id),
          due: dueText(request),
          status: statusText(request),
          asks: asksText(request),
        }),
      }),
    );
  },
};

function statusOf(text: string): api.RefreshRequest['status'] | null {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined && text !== 'all')
    throw new UsageError(`--status takes one of ${STATUSES.join(', ')}, or all.`);
  return status ?? null;
}

function dueText({ due_at: due, overdue_at: overdue, status }: api.RefreshRequest): string {
  return visible(`${due ?? ''}${overdue !== null && status === 'pending' ? ' overdue' : ''}`);
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
  return visible([status === 'fulfilled' ? `fulfilled by @${by}` : status, ...answer, ...series].join(', '));
}

function asksText({ requested_paths: paths, reason_code: reason, message }: api.RefreshRequest): string {
  const shown = paths.slice(0, SHOWN_PATHS).join(', ') + (paths.length > SHOWN_PATHS ? ', …' : '');
  return visible([shown === '' ? 'everything' : shown, reason, message].filter((text) => text !== null).join('; '));
}
