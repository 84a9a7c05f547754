import { RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { oneOf } from '../../http/request/aliases';
import { JsonBody } from '../../http/request/json-body';
import {
  ApiAnswer,
  ApiErrors,
  ApiPathParam,
  ApiRoute,
  ApiSubjectParams,
  object,
  UUID,
} from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import { QueryOf } from '../../http/lists/query';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { CreateRefreshRequestBody, FulfilRefreshRequestBody, ListRefreshRequestsQuery } from './refresh-request.dto';
import { RefreshRequestService } from './refresh-request.service';
import {
  FULFILLED_EXAMPLE,
  REFRESH_REQUEST,
  REFRESH_REQUEST_EXAMPLE,
  type RefreshRequestView,
  refreshRequestView,
} from './refresh-request.views';

const WRAPPED = object({ refresh_request: REFRESH_REQUEST });
const ID = 'refresh_request_id';

const ApiRequestParam = (): MethodDecorator =>
  ApiPathParam(ID, 'A refresh request of the subject.', UUID, REFRESH_REQUEST_EXAMPLE.refresh_request_id);

@ApiTags('Refresh requests')
@ApiBearerAuth()
@Controller('v1/subjects/:subject_type/:subject_id/refresh-requests')
export class RefreshRequestsController {
  constructor(private readonly requests: RefreshRequestService) {}

  @Post()
  @ApiRoute('Ask the owner for a newer snapshot, or to confirm the latest one', RULES.requestRefresh, {
    description:
      'The tenant is `requesting_tenant_id`. `origin_type` is set by the server. When a counterparty asks, the owner’s subscriptions are told by `refresh_request.created`.',
  })
  @ApiSubjectParams()
  @ApiBody({
    type: CreateRefreshRequestBody,
    examples: {
      counterparty: {
        value: {
          requesting_tenant_id: 'beta',
          reason_code: 'stale_data',
          message: 'Please confirm the name.',
          requested_paths: ['/attributes/legal/legal_name'],
        },
      },
    },
  })
  @ApiAnswer(201, 'The pending request.', WRAPPED, { refresh_request: REFRESH_REQUEST_EXAMPLE })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'payload_too_large', 'unsupported_media_type')
  async create(
    @SubjectParam() subject: SubjectRef,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(CreateRefreshRequestBody) body: CreateRefreshRequestBody,
  ): Promise<{ refresh_request: RefreshRequestView }> {
    const request = await this.requests.create(principalId, trace, subject, {
      requestingTenantId: body.requesting_tenant_id,
      reasonCode: body.reason_code ?? null,
      message: body.message ?? null,
      requestedPaths: body.requested_paths ?? [],
      expiresAt: body.expires_at ?? null,
    });
    return { refresh_request: refreshRequestView(request) };
  }

  @Get()
  @ApiRoute('Refresh requests of a subject, newest first', RULES.requestRefresh, {
    description:
      'Members of the owner see every request, or those of one tenant. Others give their own `requesting_tenant_id` and see that tenant’s requests.',
  })
  @ApiSubjectParams()
  @ApiAnswer(200, 'One page.', listSchema(REFRESH_REQUEST), listExample([REFRESH_REQUEST_EXAMPLE], 50))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async list(
    @SubjectParam() subject: SubjectRef,
    @CurrentPrincipal() { principalId }: Principal,
    @QueryOf(ListRefreshRequestsQuery) query: ListRefreshRequestsQuery,
    @PageOf({ default: 50, max: 200 }) paging: Paging,
  ): Promise<{ items: RefreshRequestView[] } & PageView> {
    const { requesting_tenant_id } = query;
    const at = paging.at({ requesting_tenant_id });
    const page = await this.requests.list(principalId, subject, requesting_tenant_id ?? null, at);
    return paging.answer(page, refreshRequestView);
  }

  @Get(`:${ID}`)
  @ApiRoute('One refresh request', RULES.requestRefresh, {
    description:
      'For members of the owner, and for members of the requesting tenant while that tenant holds a live grant.',
  })
  @ApiSubjectParams()
  @ApiRequestParam()
  @ApiAnswer(200, 'The request.', WRAPPED, { refresh_request: REFRESH_REQUEST_EXAMPLE })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found')
  async find(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<{ refresh_request: RefreshRequestView }> {
    const request = await this.requests.find(principalId, subject, refreshRequestId);
    return { refresh_request: refreshRequestView(request) };
  }

  @Post(`:${ID}/fulfill`)
  @HttpCode(200)
  @ApiRoute('Fulfil a refresh request with a snapshot of its subject', RULES.fulfilRefresh, {
    description:
      'Name the latest snapshot to confirm it, or apply an update first and name the new one. A request may be fulfilled once, also after its `expires_at`. The requesting tenant’s subscriptions are told by `refresh_request.fulfilled`.',
  })
  @ApiSubjectParams()
  @ApiRequestParam()
  @ApiBody({
    type: FulfilRefreshRequestBody,
    examples: { confirm: { value: { resolved_snapshot_id: FULFILLED_EXAMPLE.resolved_snapshot_id } } },
  })
  @ApiAnswer(200, 'The fulfilled request.', WRAPPED, { refresh_request: FULFILLED_EXAMPLE })
  @ApiErrors(
    'validation_error',
    'unauthorized',
    'forbidden',
    'not_found',
    'conflict',
    'payload_too_large',
    'unsupported_media_type',
  )
  async fulfil(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(FulfilRefreshRequestBody) body: FulfilRefreshRequestBody,
  ): Promise<{ refresh_request: RefreshRequestView }> {
    const snapshotId = oneOf(body, ['resolved_snapshot_id', 'snapshot_id']) ?? undefined;
    const request = await this.requests.fulfil(principalId, trace, subject, refreshRequestId, snapshotId);
    return { refresh_request: refreshRequestView(request) };
  }
}
