import { type Acting, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { SPECIFIED_LISTS, type ViewOf } from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { type Answer, answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam, ReaderParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import type { Asker } from '../../runtime/asker';
import { subjectSent } from '../../http/request/subject-filter';
import { RefreshRequestService } from './refresh-request.service';
import {
  ASKED,
  CANCELLED,
  CreateRefreshRequestBody,
  DECLINED,
  DeclineRefreshRequestBody,
  FULFILLED,
  FulfilRefreshRequestBody,
  ListRefreshRequestsQuery,
  PENDING,
  RefreshRequest,
  TenantRefreshRequestsQuery,
  WrappedRefreshRequest,
} from './refresh-request.views';

const ID = 'refresh_request_id';
const one = (description: string, record = PENDING): Answer =>
  answer(description, WrappedRefreshRequest, WrappedRefreshRequest.of(record));
const REQUEST_PAGE = pageAnswer(
  'One page.',
  RefreshRequest,
  [RefreshRequest.of({ ...ASKED, name: 'Acme Corporation AG' })],
  SPECIFIED_LISTS.refreshRequests,
);

@ApiTags('Refresh requests')
@ApiBearerAuth()
@Controller('v1/subjects/:subject_type/:subject_id/refresh-requests')
export class RefreshRequestsController {
  constructor(private readonly requests: RefreshRequestService) {}

  @Post()
  @ApiRoute('Ask the owner for a newer snapshot, or to confirm the latest one', RULES.requestRefresh, {
    description:
      '`requesting_tenant_id` must be a tenant of the caller. The server sets `origin_type`. If a counterparty ' +
      'asks, the owner’s subscriptions get `refresh_request.created`.',
    answers: { 201: one('The pending request.') },
  })
  async createRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(CreateRefreshRequestBody) body: CreateRefreshRequestBody,
  ): Promise<WrappedRefreshRequest> {
    const request = await this.requests.create(principalId, trace, subject, {
      requestingTenantId: body.requesting_tenant_id,
      reasonCode: body.reason_code ?? null,
      message: body.message ?? null,
      requestedPaths: body.requested_paths ?? [],
      expiresAt: body.expires_at ?? null,
      dueAt: body.due_at ?? null,
      every: body.every ?? null,
    });
    return WrappedRefreshRequest.of(request);
  }

  @Get()
  @ApiRoute('List the refresh requests of a subject, newest first', RULES.requestRefresh, {
    description:
      'Members of the owner see every request, or those of one tenant. Other callers must send their own ' +
      '`requesting_tenant_id` and see only that tenant’s requests.',
    answers: {
      200: REQUEST_PAGE,
    },
  })
  async listRefreshRequests(
    @SubjectParam() subject: SubjectRef,
    @ReaderParam() asker: Asker,
    @PageOf(ListRefreshRequestsQuery, SPECIFIED_LISTS.refreshRequests) paging: Paging<ListRefreshRequestsQuery>,
  ): Promise<{ items: ViewOf<typeof RefreshRequest>[] } & PageView> {
    const { requesting_tenant_id } = paging.query;
    const page = await this.requests.list(asker, subject, requesting_tenant_id ?? null, paging.at());
    return paging.answer(page, RefreshRequest.of);
  }

  @Get(`:${ID}`)
  @ApiRoute('Read a refresh request', RULES.requestRefresh, {
    description:
      'Allowed for members of the owner, and for members of the requesting tenant while it holds a live grant.',
    answers: { 200: one('The request.', ASKED) },
    errors: ['not_found'],
  })
  async getRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @ReaderParam() asker: Asker,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(await this.requests.find(asker, subject, refreshRequestId));
  }

  @Post(`:${ID}/fulfill`)
  @ApiRoute('Fulfil a refresh request with a snapshot of its subject', RULES.fulfilRefresh, {
    description:
      'To confirm the current state, name the latest snapshot. Otherwise apply an update first and name the new ' +
      'snapshot. A request can be fulfilled once, and only before it expires. The requesting tenant’s ' +
      'subscriptions get `refresh_request.fulfilled`.',
    answers: { 200: one('The fulfilled request.', FULFILLED) },
    errors: ['not_found', 'conflict'],
  })
  async fulfillRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(FulfilRefreshRequestBody) { resolved_snapshot_id }: FulfilRefreshRequestBody,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(
      await this.requests.fulfil(principalId, trace, subject, refreshRequestId, resolved_snapshot_id),
    );
  }

  @Post(`:${ID}/decline`)
  @ApiRoute('Decline a refresh request', RULES.fulfilRefresh, {
    description:
      'Allowed for members of the owner. The requesting tenant’s subscriptions get `refresh_request.declined`, ' +
      'without the reason.',
    answers: { 200: one('The declined request.', DECLINED) },
    errors: ['not_found', 'conflict'],
  })
  async declineRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(DeclineRefreshRequestBody) { reason }: DeclineRefreshRequestBody,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(await this.requests.decline(principalId, trace, subject, refreshRequestId, reason));
  }

  @Post(`:${ID}/cancel`)
  @ApiRoute('Cancel a refresh request', RULES.cancelRefresh, {
    description:
      'Allowed for members of the requesting tenant, even after its grant has ended. It also ends the series of ' +
      'a recurring request. If the request is no longer pending and the next one is not open yet, it only ends ' +
      'the series. The owner’s subscriptions get `refresh_request.cancelled` only for a request that was ' +
      'pending.',
    answers: { 200: one('The cancelled request.', CANCELLED) },
    replayFor: RULES.requestRefresh,
    errors: ['not_found', 'conflict'],
  })
  async cancelRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(await this.requests.cancel(principalId, trace, subject, refreshRequestId));
  }
}

@ApiTags('Refresh requests')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/refresh-requests')
export class TenantRefreshRequestsController {
  constructor(private readonly requests: RefreshRequestService) {}

  @Get()
  @ApiRoute('List the refresh requests to or from a tenant, newest first', RULES.readRefreshRequests, {
    answers: {
      200: REQUEST_PAGE,
    },
  })
  async listTenantRefreshRequests(
    @ActorParam() actor: Acting,
    @PageOf(TenantRefreshRequestsQuery, SPECIFIED_LISTS.refreshRequests) paging: Paging<TenantRefreshRequestsQuery>,
  ): Promise<{ items: ViewOf<typeof RefreshRequest>[] } & PageView> {
    const { direction = 'incoming', status = null, subject_type: subjectType = null, overdue } = paging.query;
    const subject = subjectSent(paging.query, { isTypeEnough: true });
    const filter = { status, subjectType, subject, isOverdue: overdue === 'true' };
    const page = await this.requests.listOfTenant(actor, direction, filter, paging.at());
    return paging.answer(page, RefreshRequest.of);
  }
}
