import { randomUUID } from 'node:crypto';
import {
  type Acting,
  DomainError,
  type ErrorDetail,
  isPointer,
  type JsonValue,
  requireAccess,
  requireExpiry,
  requireFuture,
  RULES,
  type RefreshRequestStatus,
  type SubjectRef,
} from '@iss/domain';
import {
  type InboxFilter,
  type ListedRefreshRequest,
  type Page,
  type PageRequest,
  type RefreshClosing,
  type RefreshDirection,
  type RefreshRequestRecord,
  type RefreshRequestRef,
  RefreshRequestStore,
} from '@iss/persistence';
import { limitReached } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Disclosures } from '../../access/disclosures';
import { EventHandOver } from '../../events/event-hand-over';
import type { RequestTrace } from '../../request-trace';
import type { Charged } from '../../runtime/asker';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { type ShownRequest, SuggestionsService, withNoneToSuggest, withoutSuggestion } from './suggestions.service';

export interface NewRefreshRequest {
  requestingTenantId: string;
  reasonCode: string | null;
  message: string | null;
  requestedPaths: readonly JsonValue[];
  expiresAt: string | null;
  dueAt: string | null;
  every: string | null;
}

const MAX_PATH_LENGTH = 1024;

/** Handles requests to an owner, by counterparties or by the owner itself, for a newer snapshot. */
@Injectable()
export class RefreshRequestService {
  constructor(
    private readonly requests: RefreshRequestStore,
    private readonly suggestions: SuggestionsService,
    private readonly handOver: EventHandOver,
    private readonly disclosures: Disclosures,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Throws `validation_error`, `forbidden` unless the requesting tenant owns the subject or holds a live grant, or
   * `limit_reached` if too many of its requests are pending.
   */
  async create(
    principalId: string,
    trace: RequestTrace,
    subject: SubjectRef,
    request: NewRefreshRequest,
  ): Promise<ShownRequest> {
    const outcome = await this.requests.create(
      {
        ...subject,
        ...request,
        principalId,
        refreshRequestId: randomUUID(),
        requestedPaths: requirePaths(request.requestedPaths, this.settings.limits.requestedPaths),
        expiresAt: requireExpiry(request.expiresAt),
        dueAt: requireFuture(request.dueAt, 'due_at'),
      },
      trace,
    );
    if (outcome.kind === 'refused') {
      requireAccess(outcome.facts, RULES.requestRefresh);
      throw limitReached('pending_refresh_requests', outcome.cap);
    }
    if (outcome.eventId !== null) this.handOver.announce([outcome.eventId]);
    return outcome.request.originType === 'owner'
      ? withNoneToSuggest(outcome.request)
      : withoutSuggestion(outcome.request);
  }

  /**
   * Throws `not_found`. Throws `forbidden` unless the caller belongs to the owner, or to the requesting tenant while it
   * holds a live grant.
   */
  async find(asker: Charged, subject: SubjectRef, refreshRequestId: string): Promise<ShownRequest> {
    const { principalId } = asker;
    const { facts, request } = await this.requests.find({ ...subject, refreshRequestId, principalId });
    if (request === null) throw unknownRequest();
    requireAccess(facts, RULES.requestRefresh);
    if (!facts.ownsSubject) return withoutSuggestion(request);
    const [shown = withoutSuggestion(request)] = await this.suggestions.show(asker, [request]);
    return shown;
  }

  /**
   * Returns all requests, or those of `requestingTenantId`. Throws `forbidden` for callers outside the owner, unless
   * they name their own tenant.
   */
  async list(
    asker: Charged,
    subject: SubjectRef,
    requestingTenantId: string | null,
    request: PageRequest,
  ): Promise<Page<ShownRequest>> {
    const { facts, page } = await this.requests.list(asker.principalId, subject, requestingTenantId, request);
    if (requestingTenantId === null && !facts.ownsSubject) {
      throw new DomainError(
        'forbidden',
        'Owner or grant required: only members of the owner can list every request. Send your own tenant as requesting_tenant_id.',
      );
    }
    requireAccess(facts, RULES.requestRefresh);
    const { items, next } = page;
    return {
      items: facts.ownsSubject ? await this.suggestions.show(asker, items) : items.map(withoutSuggestion),
      next,
    };
  }

  /** Returns the requests to or from a tenant, newest first. */
  async listOfTenant(
    actor: Acting & Charged,
    direction: RefreshDirection,
    filter: InboxFilter,
    request: PageRequest,
  ): Promise<Page<ShownRequest>> {
    const { facts, page } = await this.requests.listOfTenant(actor, direction, filter, request);
    requireAccess(facts, RULES.readRefreshRequests);
    const { items, next } = page;
    switch (direction) {
      case 'incoming':
        return { items: await this.suggestions.show(actor, items), next };
      case 'outgoing':
        await Promise.all(items.map((item) => this.recordName(actor, item)));
        return { items: items.map(withoutSuggestion), next };
    }
  }

  /** Records that a grantee is shown the name of a subject. */
  private async recordName(actor: Acting, { disclosure }: ListedRefreshRequest): Promise<void> {
    if (disclosure === null) return;
    const { version, ...shown } = disclosure;
    await this.disclosures.record(
      actor,
      { ...shown, granteeTenantId: actor.tenantId },
      { from: version, to: version },
      'name',
    );
  }

  /** Declines a request as its owner. Throws `not_found`, `forbidden`, or `conflict` if it is not pending. */
  async decline(
    principalId: string,
    trace: RequestTrace,
    subject: SubjectRef,
    refreshRequestId: string,
    reason: string,
  ): Promise<ShownRequest> {
    const ref = { ...subject, refreshRequestId, principalId };
    return withNoneToSuggest(await this.close(ref, { status: 'declined', reason }, trace));
  }

  /** Cancels a request as its requester. Throws `not_found`, `forbidden`, or `conflict` if it is not pending. */
  async cancel(
    principalId: string,
    trace: RequestTrace,
    subject: SubjectRef,
    refreshRequestId: string,
  ): Promise<ShownRequest> {
    const ref = { ...subject, refreshRequestId, principalId };
    return withoutSuggestion(await this.close(ref, { status: 'cancelled' }, trace));
  }

  private async close(
    ref: RefreshRequestRef,
    closing: RefreshClosing,
    trace: RequestTrace,
  ): Promise<RefreshRequestRecord> {
    const outcome = await this.requests.close(ref, closing, trace);
    if (outcome.kind === 'written') {
      if (outcome.eventId !== null) this.handOver.announce([outcome.eventId]);
      return outcome.request;
    }
    if (outcome.status === null) throw unknownRequest();
    requireAccess(outcome.facts, closing.status === 'declined' ? RULES.fulfilRefresh : RULES.cancelRefresh);
    throw notPending(outcome.status);
  }

  /**
   * Fulfils a request with a snapshot. Throws `not_found` for an unknown request or snapshot, `forbidden`, or
   * `conflict` if the request is not pending or the snapshot belongs to another subject.
   */
  async fulfil(
    principalId: string,
    trace: RequestTrace,
    subject: SubjectRef,
    refreshRequestId: string,
    snapshotId: string,
  ): Promise<ShownRequest> {
    const outcome = await this.requests.fulfil({ ...subject, refreshRequestId, principalId }, snapshotId, trace);
    if (outcome.kind === 'written') {
      if (outcome.eventId !== null) this.handOver.announce([outcome.eventId]);
      return withNoneToSuggest(outcome.request);
    }
    if (!outcome.isKnown) throw unknownRequest();
    requireAccess(outcome.facts, RULES.fulfilRefresh);
    if (outcome.isSnapshotOfSubject && outcome.isSnapshotErased && outcome.status === 'pending') {
      throw new DomainError(
        'conflict',
        'The content of that snapshot was erased. Name another snapshot of this subject.',
      );
    }
    if (outcome.isSnapshotOfSubject) {
      throw notPending(outcome.status ?? 'fulfilled');
    }
    throw outcome.isSnapshotKnown
      ? new DomainError(
          'conflict',
          'The snapshot belongs to another subject. Name a snapshot of this subject, for example its latest.',
          [{ path: '/resolved_snapshot_id', message: 'is a snapshot of another subject', code: 'mismatch' }],
        )
      : new DomainError('not_found', 'No such snapshot. Name a snapshot of this subject, for example its latest.', [
          { path: '/resolved_snapshot_id', message: 'is not an existing snapshot', code: 'not_found' },
        ]);
  }
}

/** Returns the paths without duplicates, in their order. Throws `validation_error`. */
function requirePaths(paths: readonly JsonValue[], max: number): string[] {
  if (paths.length > max) {
    throw invalid([{ path: '/requested_paths', message: `must have at most ${max} paths`, code: 'too_many' }]);
  }
  const problems = paths.flatMap((path, index) => {
    const message = pathProblem(path);
    return message === null ? [] : [{ path: `/requested_paths/${index}`, message, code: 'invalid_pointer' }];
  });
  if (problems.length > 0) throw invalid(problems);
  return [...new Set(paths.filter((path) => typeof path === 'string'))];
}

function pathProblem(path: JsonValue): string | null {
  if (typeof path !== 'string' || path === '' || !isPointer(path)) {
    return 'must be a JSON Pointer, for example "/attributes/legal/legal_name": write "~" as "~0" and "/" as "~1" in names';
  }
  if (path.length > MAX_PATH_LENGTH) return `must be at most ${MAX_PATH_LENGTH} characters`;
  return /\p{Cc}/u.test(path) ? 'must not contain control characters' : null;
}

function invalid(problems: ErrorDetail[]): DomainError {
  return new DomainError('validation_error', 'The request is not valid. See details for each place.', problems);
}

function notPending(status: RefreshRequestStatus): DomainError {
  return new DomainError('conflict', `The refresh request is ${status}. Make a new one to ask again.`);
}

function unknownRequest(): DomainError {
  return new DomainError('not_found', 'No such refresh request of this subject. Check the subject and the id.');
}
