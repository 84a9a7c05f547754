import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import type { ApiCall, Page } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { subjectLinkColumn } from '../../entities/subject.tsx';
import { List } from '../../forms/list-page.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Badge, type Tone } from '../../ui/page.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Place } from '../../ui/text/place.tsx';
import { Time } from '../../ui/time.tsx';
import { Cancel, Decline, Fulfil } from './dialogs.tsx';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

type Request = api.RefreshRequest;

const ROUTE = 'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}';
const STATUS_TONES: Readonly<Record<Request['status'], Tone>> = {
  pending: 'accent',
  fulfilled: 'good',
  declined: 'warn',
  cancelled: 'plain',
  expired: 'bad',
};

interface RequestTableProps {
  tenantId: string;
  /** Null while it is unknown whose requests to read. */
  call: ApiCall<Page<Request>> | null;
  filters?: ReactNode;
  /** True if the tenant owns the subject, and so may answer. */
  isOwner: boolean;
  withSubject: boolean;
  /** The words in place of an empty list. */
  empty: string;
}

/** Lists refresh requests with their answers. */
export function RequestTable({ tenantId, isOwner, withSubject, empty, ...list }: RequestTableProps) {
  const may = useMay(tenantId);
  const mayPropose = isOwner && may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates');
  const isPending = ({ status }: Request): boolean => status === 'pending';
  const subject = { ...subjectLinkColumn(TEXT.subject, tenantId, '/requests'), isHeader: true };
  const requester: Column<Request> = {
    title: TEXT.asks,
    isHeader: !withSubject,
    value: ({ requesting_tenant_id: by }) => (by === tenantId ? TEXT.us : by),
  };
  return (
    <List
      {...list}
      caption={TEXT.caption}
      keyOf={({ refresh_request_id: id }) => id}
      columns={[...(withSubject ? [subject] : []), requester, ...COLUMNS]}
      empty={{ title: TEXT.none, text: empty }}
      actionsTitle={TEXT.actions}
      rowActions={[
        {
          label: TEXT.fulfil,
          isOffered: (request) => isPending(request) && isOwner && may(`${ROUTE}/fulfill`),
          dialog: (request, close) => <Fulfil request={request} tenantId={tenantId} onClose={close} />,
        },
        {
          label: TEXT.decline,
          isOffered: (request) => isPending(request) && isOwner && may(`${ROUTE}/decline`),
          dialog: (request, close) => <Decline request={request} tenantId={tenantId} onClose={close} />,
        },
        {
          label: (request) => (isPending(request) ? TEXT.cancel : TEXT.stop),
          isOffered: (request) =>
            request.requesting_tenant_id === tenantId &&
            (isPending(request) || request.next_at !== null) &&
            may(`${ROUTE}/cancel`),
          dialog: (request, close) => <Cancel request={request} tenantId={tenantId} onClose={close} />,
        },
        {
          label: TEXT.mend,
          isOffered: (request) => isPending(request) && mayPropose,
          link: (request) => <Mend request={request} tenantId={tenantId} />,
        },
      ]}
    />
  );
}

const COLUMNS: readonly Column<Request>[] = [
  {
    title: TEXT.why,
    value: ({ message, reason_code: reason }) => message ?? reason,
    cell: (request) => <Why request={request} />,
  },
  { title: TEXT.status, value: ({ status }) => TEXT.statuses[status], cell: (request) => <State request={request} /> },
  { title: TEXT.asked, at: ({ created_at: at }) => at, cell: (request) => <Times request={request} /> },
];

/** Links to the form, at the first requested value. */
function Mend({ request, tenantId }: { request: Request; tenantId: string }) {
  const { subject_type: subjectType, subject_id: subjectId, requested_paths: paths } = request;
  const [path] = paths;
  return (
    <Link
      to="/t/$tenantId/subjects/$subjectType/$subjectId/proposals/new"
      params={{ tenantId, subjectType, subjectId }}
      search={path === undefined ? {} : { path }}
      className={buttonClass('plain', true)}
    >
      {TEXT.mend}
    </Link>
  );
}

function Why({ request }: { request: Request }) {
  const { reason_code: reason, message, requested_paths: paths } = request;
  return (
    <div className={styles.why}>
      {reason !== null && <Badge>{reason}</Badge>}
      {paths.length === 0 ? (
        <span>{TEXT.wholeSubject}</span>
      ) : (
        <ul className={styles.paths}>
          {paths.map((path) => (
            <li key={path}>
              <Place pointer={path} />
            </li>
          ))}
        </ul>
      )}
      {message !== null && message !== '' && <blockquote className={styles.message}>{message}</blockquote>}
    </div>
  );
}

function State({ request }: { request: Request }) {
  const {
    status,
    resolved_snapshot_version: version,
    decline_reason: reason,
    suggested_fulfilment: suggested,
  } = request;
  const at = request.resolved_at ?? request.closed_at;
  return (
    <div className={styles.stack}>
      <Badge tone={STATUS_TONES[status]}>{TEXT.statuses[status]}</Badge>
      {version !== null && <span>{TEXT.fulfilledBy(version)}</span>}
      {reason !== null && reason !== '' && <span>{TEXT.closed(reason)}</span>}
      {at !== null && <Time at={at} />}
      {suggested !== null && suggested !== undefined && (
        <span className={styles.suggested}>{TEXT.suggested(suggested.snapshot_version)}</span>
      )}
    </div>
  );
}

function Times({ request }: { request: Request }) {
  const { created_at: at, due_at: due, overdue_at: overdue, expires_at: expires, status } = request;
  const { every, next_at: next, series_end_reason: end } = request;
  return (
    <div className={styles.stack}>
      <Time at={at} />
      {due !== null && (
        <span>
          {TEXT.due} <Time at={due} />{' '}
          {overdue !== null && status === 'pending' && <Badge tone="warn">{TEXT.overdue}</Badge>}
        </span>
      )}
      {expires !== null && status === 'pending' && (
        <span>
          {TEXT.expires} <Time at={expires} />
        </span>
      )}
      {every !== null && <span>{end === null ? TEXT.repeats(every) : TEXT.seriesEnds[end]}</span>}
      {next !== null && (
        <span>
          {TEXT.next} <Time at={next} />
        </span>
      )}
    </div>
  );
}
