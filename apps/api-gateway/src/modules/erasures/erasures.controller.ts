import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { QueryOf } from '../../http/lists/query';
import { JsonBody } from '../../http/request/json-body';
import { SubjectParam, TenantIdParam, UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { ErasureService } from './erasure.service';
import {
  CANCELLED,
  DONE,
  Erasure,
  erasureAnswer,
  ErasureWithReceipt,
  ErasuresQuery,
  PENDING,
  RequestErasureBody,
  RequestErasureQuery,
} from './erasure.views';

const ErasureIdParam = (): ParameterDecorator => UuidParam({ name: 'erasure_id' });

@ApiTags('Erasure')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/subjects/:subject_type/:subject_id')
export class ErasuresController {
  constructor(private readonly erasures: ErasureService) {}

  @Post('erasure')
  @ApiRoute('Request the erasure of versions of a subject', RULES.requestErasure, {
    description:
      'Needs a human owner (422 otherwise). A second human must confirm within a day before anything is erased. ' +
      'If the tenant’s `erasure_confirmation` is `off`, the erasure takes effect immediately. A subject has at ' +
      'most one pending erasure (409). Versions that are not in the transparency log yet return 404 ' +
      '`not_logged_yet`; send `wait` to wait for them. [/docs/erasure](/docs/erasure) lists what is destroyed ' +
      'and what stays.',
    answers: { 201: erasureAnswer('The pending erasure.', PENDING) },
    errors: ['not_found', 'not_logged_yet', 'conflict', 'human_principal_required'],
  })
  async requestErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(RequestErasureQuery) { wait }: RequestErasureQuery,
    @Trace() trace: RequestTrace,
    @JsonBody(RequestErasureBody) { versions, reason, reference }: RequestErasureBody,
  ): Promise<ErasureWithReceipt> {
    const request = { versions, reason, reference: reference ?? null, waitSeconds: Number(wait ?? 0) };
    return ErasureWithReceipt.of(await this.erasures.request(principal, trace, tenantId, subject, request));
  }

  @Get('erasures')
  @ApiRoute('List the erasures of a subject, newest first', RULES.readErasures, {
    answers: { 200: pageAnswer('One page.', Erasure, [Erasure.of(PENDING)]) },
  })
  async listErasures(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging,
  ): Promise<{ items: Erasure[] } & PageView> {
    return paging.answer(await this.erasures.list(actor, subject, paging.at()), Erasure.of);
  }

  @Get('erasures/:erasure_id')
  @ApiRoute('Read an erasure; once it is done, the response is its receipt', RULES.readErasures, {
    answers: { 200: erasureAnswer('The erasure.', PENDING) },
    errors: ['not_found'],
  })
  async getErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @ErasureIdParam() erasureId: string,
  ): Promise<ErasureWithReceipt> {
    return ErasureWithReceipt.of(await this.erasures.find(principal, { tenantId, subject, erasureId }));
  }

  @Post('erasures/:erasure_id/confirm')
  @ApiRoute('Confirm and carry out an erasure', RULES.confirmErasure, {
    description:
      'Needs another human than the one who requested the erasure (403, or 422 if not human). The content is ' +
      'destroyed when the response is sent; this cannot be undone. 409 unless the erasure is pending.',
    answers: { 200: erasureAnswer('The receipt.', DONE) },
    errors: ['not_found', 'not_logged_yet', 'conflict', 'human_principal_required'],
  })
  async confirmErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @ErasureIdParam() erasureId: string,
    @Trace() trace: RequestTrace,
  ): Promise<ErasureWithReceipt> {
    return ErasureWithReceipt.of(await this.erasures.confirm(principal, trace, { tenantId, subject, erasureId }));
  }

  @Post('erasures/:erasure_id/cancel')
  @ApiRoute('Cancel an erasure that was not confirmed', RULES.confirmErasure, {
    description:
      'An `expired` erasure can be cancelled too, which deletes its reason. 409 if the erasure ended in another way.',
    answers: { 200: erasureAnswer('The cancelled erasure.', CANCELLED) },
    errors: ['not_found', 'conflict'],
  })
  async cancelErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @ErasureIdParam() erasureId: string,
    @Trace() trace: RequestTrace,
  ): Promise<ErasureWithReceipt> {
    return ErasureWithReceipt.of(await this.erasures.cancel(principal, trace, { tenantId, subject, erasureId }));
  }
}

@ApiTags('Erasure')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/erasures')
export class TenantErasuresController {
  constructor(private readonly erasures: ErasureService) {}

  @Get()
  @ApiRoute('List the erasures of all subjects of a tenant, newest first', RULES.listErasures, {
    description: '`status=pending` lists the erasures that wait for a confirmation.',
    answers: { 200: pageAnswer('One page.', Erasure, [Erasure.of(PENDING)]) },
  })
  async listTenantErasures(
    @ActorParam() actor: Actor,
    @PageOf(ErasuresQuery) paging: Paging<ErasuresQuery>,
  ): Promise<{ items: Erasure[] } & PageView> {
    return paging.answer(await this.erasures.listOfTenant(actor, paging.query.status, paging.at()), Erasure.of);
  }
}
