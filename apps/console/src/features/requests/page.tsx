import { useState } from 'react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { useSubject, useTenantId } from '../../app/address.ts';
import { tenantPath, useList } from '../../app/api.ts';
import { useMay, useMayUseGrants } from '../../app/rights.ts';
import { useSubjectAccess } from '../../entities/subject-access.ts';
import { TEXT } from './words.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Place } from '../../ui/text/place.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Badge, Empty, Loading, type Tone } from '../../ui/state.tsx';
import { type Column, ListTable } from '../../ui/table/table.tsx';
import { SubjectLink } from '../../entities/subject-link.tsx';
import { Tab } from '../../ui/tab.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { type Answering, AnswerDialog } from './dialogs.tsx';
import { AskForm } from './ask-form.tsx';
import { ChooseSubject } from './choose-subject.tsx';
import styles from './styles.module.css';

type Status = api.RefreshRequest['status'];
type Direction = 'incoming' | 'outgoing';
const STATUSES = ['pending', 'fulfilled', 'declined', 'cancelled', 'expired'] as const satisfies readonly Status[];
const TYPES = ['organization', 'individual', 'entity'] as const satisfies readonly api.RefreshRequest['subject_type'][];
const DIRECTIONS = ['incoming', 'outgoing'] as const satisfies readonly Direction[];
/** The value in the address that shows every status. By default an inbox shows pending requests. */
const ALL = 'all';
const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  pending: 'accent',
  fulfilled: 'good',
  declined: 'warn',
  cancelled: 'plain',
  expired: 'bad',
};

/** Lists the requests that a tenant received and sent. */
export function RequestsView() {
  const tenantId = useTenantId();
  const search = useSearch({ from: '/signed-in/t/$tenantId/requests' });
  const direction: Direction = search.direction === 'outgoing' ? 'outgoing' : 'incoming';
  const status = search.status ?? 'pending';
  const { type } = search;
  const navigate = useNavigate();
  const [isChoosing, setChoosing] = useState(false);
  const choose = (change: { direction?: string; status?: string; type?: string }): void =>
    void navigate({
      to: '/t/$tenantId/requests',
      params: { tenantId },
      search: { ...search, ...change },
      replace: true,
    });
  const path = tenantPath(tenantId, 'refresh-requests');
  const query = {
    direction,
    ...(status === ALL ? {} : { status }),
    ...(type === undefined ? {} : { subject_type: type }),
  };
  const list = useList<api.RefreshRequest>(path, query);
  const may = useMay(tenantId);
  const mayAsk =
    useMayUseGrants(tenantId) === true && may('POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests');
  return (
    <Page
      title={TEXT.title}
      note={TEXT.notes[direction]}
      actions={mayAsk && <Button onClick={() => setChoosing(true)}>{TEXT.ask}</Button>}
      call={{ method: 'GET', path, query }}
    >
      <nav className={ui.tabs} aria-label={TEXT.direction}>
        {DIRECTIONS.map((one) => (
          <Tab
            key={one}
            to="/t/$tenantId/requests"
            params={{ tenantId }}
            search={{ ...search, direction: one }}
            isCurrent={direction === one}
          >
            {TEXT.directions[one]}
          </Tab>
        ))}
      </nav>
      <div className={ui.filters}>
        <Select
          label={TEXT.status}
          value={status}
          options={[
            ...STATUSES.map((value) => ({ value, label: TEXT.statuses[value] })),
            { value: ALL, label: TEXT.everyStatus },
          ]}
          onChange={(event) => choose({ status: event.target.value })}
        />
        <Select
          label={TEXT.type}
          value={type ?? ''}
          options={[
            { value: '', label: TEXT.everyType },
            ...TYPES.map((value) => ({ value, label: TEXT.types[value] })),
          ]}
          onChange={(event) => choose({ type: event.target.value })}
        />
      </div>
      <Requests
        tenantId={tenantId}
        list={list}
        isOwner={direction === 'incoming'}
        withSubject
        empty={
          <Empty title={TEXT.none}>
            <p>{direction === 'incoming' ? TEXT.noneIncoming : TEXT.noneOutgoing}</p>
          </Empty>
        }
      />
      {isChoosing && <ChooseSubject tenantId={tenantId} onClose={() => setChoosing(false)} />}
    </Page>
  );
}

/** Lists the requests for a subject: all of them for its owner, else the tenant's own. */
export function SubjectRequestsView() {
  const { tenantId, subjectId, globalPath, params } = useSubject();
  const { ask, path: askedPath } = useSearch({
    from: '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId/requests',
  });
  const navigate = useNavigate();
  const may = useMay(tenantId);
  const access = useSubjectAccess();
  const isKnown = access.data !== undefined;
  const isOwner = access.data?.isOwner === true;
  const path = `${globalPath}/refresh-requests`;
  const query = isOwner ? {} : { requesting_tenant_id: tenantId };
  const list = useList<api.RefreshRequest>(isKnown ? path : null, query);
  const isAsking = ask !== undefined;
  const show = (search: { ask?: string }): void =>
    void navigate({
      to: '/t/$tenantId/subjects/$subjectType/$subjectId/requests',
      params,
      search,
      replace: true,
    });
  const mayAsk = access.data?.isFound === true && may('POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests');
  return (
    <Page
      title={TEXT.titleOf(subjectId)}
      actions={
        mayAsk &&
        !isAsking && (
          <Button kind="primary" onClick={() => show({ ask: 'yes' })}>
            {TEXT.ask}
          </Button>
        )
      }
      call={{ method: 'GET', path, query }}
    >
      {mayAsk && isAsking && <AskForm path={askedPath} onClose={() => show({})} />}
      {isKnown ? (
        <Requests
          tenantId={tenantId}
          list={list}
          isOwner={isOwner}
          withSubject={false}
          empty={
            <Empty title={TEXT.none}>
              <p>{TEXT.noneOfSubject}</p>
            </Empty>
          }
        />
      ) : access.error === null ? (
        <Loading />
      ) : (
        <Problem error={access.error} retry={access.refetch} />
      )}
    </Page>
  );
}

interface RequestsProps {
  tenantId: string;
  list: ReturnType<typeof useList<api.RefreshRequest>>;
  /** True if the tenant owns the subject, and so may answer. */
  isOwner: boolean;
  withSubject: boolean;
  empty: React.ReactNode;
}

function Requests({ tenantId, list, isOwner, withSubject, empty }: RequestsProps) {
  const may = useMay(tenantId);
  const [answering, setAnswering] = useState<Answering | null>(null);
  const mayFulfil =
    isOwner && may('POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/fulfill');
  const mayDecline =
    isOwner && may('POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/decline');
  const mayCancel = may('POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/cancel');
  const mayPropose = isOwner && may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates');
  const subject: Column<api.RefreshRequest> = {
    title: TEXT.subject,
    isHeader: true,
    value: ({ subject_id: id }) => id,
    cell: ({ subject_type: type, subject_id: id, name }) => (
      <SubjectLink tenantId={tenantId} type={type} id={id} name={name} version={null} view="/requests" />
    ),
  };
  const columns: Column<api.RefreshRequest>[] = [
    ...(withSubject ? [subject] : []),
    {
      title: TEXT.asks,
      isHeader: !withSubject,
      value: ({ requesting_tenant_id: by }) => (by === tenantId ? TEXT.us : by),
    },
    {
      title: TEXT.why,
      value: ({ message, reason_code: reason }) => message ?? reason,
      cell: (request) => <Why request={request} />,
    },
    {
      title: TEXT.status,
      value: ({ status }) => TEXT.statuses[status],
      cell: (request) => <State request={request} />,
    },
    { title: TEXT.asked, at: ({ created_at: at }) => at, cell: (request) => <Times request={request} /> },
    {
      title: TEXT.actions,
      cell: (request) => {
        const isOwn = request.requesting_tenant_id === tenantId;
        const cancel = isOwn && mayCancel && (
          <Button small onClick={() => setAnswering({ kind: 'cancel', request })}>
            {request.status === 'pending' ? TEXT.cancel : TEXT.stop}
          </Button>
        );
        if (request.status !== 'pending') return request.next_at === null ? null : cancel;
        return (
          <div className={ui.actions}>
            {mayFulfil && (
              <Button small onClick={() => setAnswering({ kind: 'fulfil', request })}>
                {TEXT.fulfil}
              </Button>
            )}
            {mayDecline && (
              <Button small onClick={() => setAnswering({ kind: 'decline', request })}>
                {TEXT.decline}
              </Button>
            )}
            {cancel}
            {mayPropose && <Mend request={request} tenantId={tenantId} />}
          </div>
        );
      },
    },
  ];
  return (
    <>
      <ListTable
        caption={TEXT.caption}
        list={list}
        keyOf={({ refresh_request_id: id }) => id}
        columns={columns}
        empty={empty}
      />
      {answering !== null && (
        <AnswerDialog answering={answering} tenantId={tenantId} onClose={() => setAnswering(null)} />
      )}
    </>
  );
}

/** Links to the form, at the first requested value. */
function Mend({ request, tenantId }: { request: api.RefreshRequest; tenantId: string }) {
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

function Why({ request }: { request: api.RefreshRequest }) {
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

function State({ request }: { request: api.RefreshRequest }) {
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

function Times({ request }: { request: api.RefreshRequest }) {
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
