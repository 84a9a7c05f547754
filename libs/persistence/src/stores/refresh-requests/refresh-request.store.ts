import {
  type AccessFacts,
  type Actor,
  REFRESH_REQUEST_STATUSES,
  type RefreshRequestStatus,
  SUBJECT_TYPES,
  type SubjectRef,
  type SubjectType,
} from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import type { ActedBy } from '../records/acting';
import {
  ANY_TIME,
  FIRST_UUID,
  type NamedKey,
  type RecordPage,
  recordPage,
  type RecordRow,
  toRecords,
} from '../records/record-page';
import { type EventTrace, type Fact, record } from '../webhooks/record';
import { refreshFact } from './refresh-fact';
import { type ListedRefreshRequest, type RefreshRequestRecord } from './refresh-request-record';

export interface RefreshRequestToCreate extends SubjectRef {
  refreshRequestId: string;
  requestingTenantId: string;
  principalId: string;
  reasonCode: string | null;
  message: string | null;
  requestedPaths: readonly string[];
  expiresAt: Date | null;
  dueAt: Date | null;
  every: string | null;
}

/** A request of a subject, and a principal that reads or closes it in any of its tenants that take part. */
export interface RefreshRequestRef extends SubjectRef {
  refreshRequestId: string;
  principalId: string;
}

/** A stored change. `eventId` is the event to announce, or null if no subscription wants it. */
export interface RefreshRequestWritten {
  kind: 'written';
  request: RefreshRequestRecord;
  eventId: string | null;
}

/** Refused because the caller lacks the right, or because `cap` requests are pending. */
export type CreateRefreshOutcome = RefreshRequestWritten | { kind: 'refused'; facts: AccessFacts; cap: number };

export type FulfilRefreshOutcome =
  | RefreshRequestWritten
  | {
      kind: 'refused';
      facts: AccessFacts;
      /** True if the subject has a request with this id. */
      isKnown: boolean;
      /** The request's status. */
      status: RefreshRequestStatus | null;
      /** True if the snapshot exists, for any subject. */
      isSnapshotKnown: boolean;
      /** True if the snapshot belongs to the subject. */
      isSnapshotOfSubject: boolean;
      isSnapshotErased: boolean;
    };

/** An end of a request without a snapshot. */
export type RefreshClosing = { status: 'declined'; reason: string } | { status: 'cancelled' };

export type CloseRefreshOutcome =
  | RefreshRequestWritten
  | {
      kind: 'refused';
      facts: AccessFacts;
      /** The request's status; null if the subject has no request with this id. */
      status: RefreshRequestStatus | null;
    };

/** The side of a tenant in a list: requests to it, or requests by it. */
export type RefreshDirection = 'incoming' | 'outgoing';

const LOCK_REQUESTER = statement<RefreshRequestToCreate & ActedBy>('refresh_request_lock_requester');

const CREATE = statement<
  RefreshRequestToCreate & Pick<Caps, 'pending_refresh_requests'>,
  { facts: AccessFacts; request: RefreshRequestRecord | null; ownerTenantId: string | null; cap: number }
>('refresh_request_create');

const FIND = statement<RefreshRequestRef, { facts: AccessFacts; request: RefreshRequestRecord | null }>(
  'refresh_request_find',
);

const FULFIL = statement<
  RefreshRequestRef & ActedBy & { snapshotId: string },
  {
    facts: AccessFacts;
    request: RefreshRequestRecord | null;
    isKnown: boolean;
    status: RefreshRequestStatus | null;
    isSnapshotKnown: boolean;
    isSnapshotOfSubject: boolean;
    isSnapshotErased: boolean;
  }
>('refresh_request_fulfil');

const closing = (name: string) =>
  statement<
    RefreshRequestRef & ActedBy & { reason: string | null },
    {
      facts: AccessFacts;
      request: RefreshRequestRecord | null;
      status: RefreshRequestStatus | null;
      ownerTenantId: string | null;
    }
  >(name);

const CLOSE: Readonly<Record<RefreshClosing['status'], ReturnType<typeof closing>>> = {
  declined: closing('refresh_request_declined'),
  cancelled: closing('refresh_request_cancelled'),
};

type Listed = ListRow<AccessFacts, ListedRefreshRequest>;
const listOfSubject = (name: string) =>
  statement<SubjectRef & Before & { principalId: string; requestingTenantId: string | null }, Listed>(name);

const OF_SUBJECT = listOfSubject('refresh_requests_of_subject');
const OF_SUBJECT_BY_TENANT = listOfSubject('refresh_requests_of_tenant');

const inbox = (direction: RefreshDirection) =>
  statement<Actor & Before & { statuses: readonly RefreshRequestStatus[]; subjectTypes: readonly string[] }, Listed>(
    `refresh_requests_${direction}`,
  );

const INBOX = { incoming: inbox('incoming'), outgoing: inbox('outgoing') };

/** Selects requests of an inbox; a null member selects all. */
export interface InboxFilter {
  status: RefreshRequestStatus | null;
  subjectType: SubjectType | null;
  subject: SubjectRef | null;
  /** Selects only pending requests whose `due_at` has passed. */
  isOverdue: boolean;
}

const filteredInbox = (direction: RefreshDirection, filter: 'on' | 'overdue') =>
  statement<
    Actor & RecordPage & NamedKey & { status: RefreshRequestStatus | null; isOverdue: boolean },
    RecordRow<AccessFacts, ListedRefreshRequest>
  >(`refresh_requests_${direction}_${filter}`);

const FILTERED_INBOX = {
  incoming: { subject: filteredInbox('incoming', 'on'), overdue: filteredInbox('incoming', 'overdue') },
  outgoing: { subject: filteredInbox('outgoing', 'on'), overdue: filteredInbox('outgoing', 'overdue') },
};

/** Refresh requests: a tenant asks a subject's owner for a newer snapshot, or for a confirmation of the latest one. */
export class RefreshRequestStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Stores a request if the requesting tenant owns the subject or has a live grant on it, and the number of its pending requests
   * is below the cap. Also stores the event for the owner if a counterparty asks.
   */
  async create(create: RefreshRequestToCreate, trace: EventTrace): Promise<CreateRefreshOutcome> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_REQUESTER, { ...create, requestId: trace.requestId });
      const { pending_refresh_requests } = this.caps;
      const { facts, request, ownerTenantId, cap } = await sql.one(CREATE, { ...create, pending_refresh_requests });
      if (request === null || ownerTenantId === null) return { kind: 'refused', facts, cap };
      const isForOwner = request.originType === 'counterparty';
      const fact = refreshFact('refresh_request.created', request, request.createdAt, [ownerTenantId], trace);
      return { kind: 'written', request, eventId: isForOwner ? await recordOne(sql, fact) : null };
    });
  }

  /** Returns the subject's request with this id, or null, and the caller's access facts. */
  find(ref: RefreshRequestRef): Promise<{ facts: AccessFacts; request: RefreshRequestRecord | null }> {
    return this.sql.one(FIND, ref);
  }

  /**
   * Returns a subject's requests, newest first, and the caller's access facts. `requestingTenantId` selects the requests of one
   * tenant. If the caller is no member of the owner, the grant of that tenant counts.
   */
  async list(
    principalId: string,
    subject: SubjectRef,
    requestingTenantId: string | null,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedRefreshRequest> }> {
    const query = requestingTenantId === null ? OF_SUBJECT : OF_SUBJECT_BY_TENANT;
    const parameters = { principalId, ...subject, requestingTenantId, ...before(request) };
    const rows = await this.sql.runInTurn(principalId, query, parameters);
    return toList(rows, request.limit);
  }

  /**
   * Returns a page of the requests to or by a tenant, newest first, and the caller's access facts. Overdue requests are sorted by
   * `due_at`, the latest first. Only an active member gets any.
   */
  async listOfTenant(
    actor: Actor,
    direction: RefreshDirection,
    { status, subjectType, subject, isOverdue }: InboxFilter,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedRefreshRequest> }> {
    if (subject === null && !isOverdue) {
      const statuses = status === null ? REFRESH_REQUEST_STATUSES : [status];
      const subjectTypes = subjectType === null ? SUBJECT_TYPES : [subjectType];
      const parameters = { ...actor, statuses, subjectTypes, ...before(request) };
      return toList(await this.sql.runInTurn(actor.tenantId, INBOX[direction], parameters), request.limit);
    }
    const scope = subject === null ? 'overdue' : 'subject';
    const named = { subjectType, subjectId: subject?.subjectId ?? null };
    const bounds = scope === 'overdue' ? { from: null, to: new Date() } : ANY_TIME;
    const parameters = { ...actor, ...named, status, isOverdue, ...recordPage(bounds, request, FIRST_UUID) };
    const rows = await this.sql.runInTurn(actor.tenantId, FILTERED_INBOX[direction][scope], parameters);
    return toRecords(rows, request.limit);
  }

  /**
   * Closes a pending request without a snapshot. Members of the owner decline it, and members of the requesting tenant cancel it.
   * Cancelling also ends a series, even if its last request is closed. Also stores the event for the other side, if it is another
   * tenant.
   */
  async close(ref: RefreshRequestRef, closing: RefreshClosing, trace: EventTrace): Promise<CloseRefreshOutcome> {
    const reason = closing.status === 'declined' ? closing.reason : null;
    return this.sql.transaction(async (sql) => {
      const { request, facts, status, ownerTenantId } = await sql.one(CLOSE[closing.status], {
        ...ref,
        requestId: trace.requestId,
        reason,
      });
      if (request === null || ownerTenantId === null) return { kind: 'refused', facts, status };
      const { requestingTenantId } = request;
      const other = closing.status === 'declined' ? requestingTenantId : ownerTenantId;
      // The end of a series whose last request is already closed changes nothing for the owner.
      const isAnnounced = requestingTenantId !== ownerTenantId && request.status === closing.status;
      if (!isAnnounced || request.closedAt === null) return { kind: 'written', request, eventId: null };
      const fact = refreshFact(`refresh_request.${closing.status}`, request, request.closedAt, [other], trace);
      return { kind: 'written', request, eventId: await recordOne(sql, fact) };
    });
  }

  /**
   * Fulfils a pending request with a snapshot of its subject, if the caller is a member of the owner. Also stores the event for
   * the requesting tenant.
   */
  async fulfil(ref: RefreshRequestRef, snapshotId: string, trace: EventTrace): Promise<FulfilRefreshOutcome> {
    return this.sql.transaction(async (sql) => {
      const { request, ...refusal } = await sql.one(FULFIL, { ...ref, requestId: trace.requestId, snapshotId });
      if (request === null || request.resolvedAt === null) return { kind: 'refused', ...refusal };
      const { resolvedAt: at, requestingTenantId } = request;
      const fact = refreshFact('refresh_request.fulfilled', request, at, [requestingTenantId], trace);
      return { kind: 'written', request, eventId: await recordOne(sql, fact) };
    });
  }
}

/** Records the fact. Returns the id of its event, or null if the tenant has no subscription. */
async function recordOne(sql: TransactionSql, fact: Fact): Promise<string | null> {
  const [eventId = null] = await record(sql, [fact]);
  return eventId;
}
