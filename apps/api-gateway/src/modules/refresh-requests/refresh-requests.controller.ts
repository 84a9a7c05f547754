import type { Acting, SubjectRef } from '@iss/domain';
import { Controller } from '@nestjs/common';
import {
  CreateRefreshRequestBody,
  DeclineRefreshRequestBody,
  FulfilRefreshRequestBody,
  ListRefreshRequestsQuery,
  type ItemPage,
  REFRESH_REQUESTS,
  RefreshRequest,
  TENANT_REFRESH_REQUESTS,
  TenantRefreshRequestsQuery,
  type ViewOf,
  WrappedRefreshRequest,
} from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam, ReaderParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import type { Asker } from '../../runtime/asker';
import { subjectSent } from '../../http/request/subject-filter';
import { RefreshRequestService } from './refresh-request.service';
import { Operation } from '../../http/describe/operation.decorator';

const ID = 'refresh_request_id';

@Controller()
export class RefreshRequestsController {
  constructor(private readonly requests: RefreshRequestService) {}

  @Operation(REFRESH_REQUESTS.createRefreshRequest)
  async createRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody() body: CreateRefreshRequestBody,
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

  @Operation(REFRESH_REQUESTS.listRefreshRequests)
  async listRefreshRequests(
    @SubjectParam() subject: SubjectRef,
    @ReaderParam() asker: Asker,
    @PageOf() paging: Paging<ListRefreshRequestsQuery>,
  ): Promise<ItemPage<ViewOf<typeof RefreshRequest>>> {
    const { requesting_tenant_id } = paging.query;
    const page = await this.requests.list(asker, subject, requesting_tenant_id ?? null, paging.at());
    return paging.answer(page, RefreshRequest.of);
  }

  @Operation(REFRESH_REQUESTS.getRefreshRequest)
  async getRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @ReaderParam() asker: Asker,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(await this.requests.find(asker, subject, refreshRequestId));
  }

  @Operation(REFRESH_REQUESTS.fulfillRefreshRequest)
  async fulfillRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody() { resolved_snapshot_id }: FulfilRefreshRequestBody,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(
      await this.requests.fulfil(principalId, trace, subject, refreshRequestId, resolved_snapshot_id),
    );
  }

  @Operation(REFRESH_REQUESTS.declineRefreshRequest)
  async declineRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody() { reason }: DeclineRefreshRequestBody,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(await this.requests.decline(principalId, trace, subject, refreshRequestId, reason));
  }

  @Operation(REFRESH_REQUESTS.cancelRefreshRequest)
  async cancelRefreshRequest(
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: ID }) refreshRequestId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<WrappedRefreshRequest> {
    return WrappedRefreshRequest.of(await this.requests.cancel(principalId, trace, subject, refreshRequestId));
  }

  @Operation(TENANT_REFRESH_REQUESTS.listTenantRefreshRequests)
  async listTenantRefreshRequests(
    @ActorParam() actor: Acting,
    @PageOf() paging: Paging<TenantRefreshRequestsQuery>,
  ): Promise<ItemPage<ViewOf<typeof RefreshRequest>>> {
    const { direction = 'incoming', status = null, subject_type: subjectType = null, overdue } = paging.query;
    const subject = subjectSent(paging.query, { isTypeEnough: true });
    const filter = { status, subjectType, subject, isOverdue: overdue === 'true' };
    const page = await this.requests.listOfTenant(actor, direction, filter, paging.at());
    return paging.answer(page, RefreshRequest.of);
  }
}
