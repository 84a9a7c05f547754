import type { Actor, SubjectRef } from '@iss/domain';
import { Controller } from '@nestjs/common';
import {
  Erasure,
  ERASURES,
  ErasuresQuery,
  ErasureWithReceipt,
  type ItemPage,
  RequestErasureBody,
  RequestErasureQuery,
  TENANT_ERASURES,
} from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { QueryOf } from '../../http/lists/query';
import { JsonBody } from '../../http/request/json-body';
import { SubjectParam, TenantIdParam, UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { ErasureService } from './erasure.service';
import { Operation } from '../../http/describe/operation.decorator';

const ErasureIdParam = (): ParameterDecorator => UuidParam({ name: 'erasure_id' });

@Controller()
export class ErasuresController {
  constructor(private readonly erasures: ErasureService) {}

  @Operation(ERASURES.requestErasure)
  async requestErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @QueryOf() { wait }: RequestErasureQuery,
    @Trace() trace: RequestTrace,
    @JsonBody() { versions, reason, reference }: RequestErasureBody,
  ): Promise<ErasureWithReceipt> {
    const request = { versions, reason, reference: reference ?? null, waitSeconds: Number(wait ?? 0) };
    return ErasureWithReceipt.of(await this.erasures.request(principal, trace, tenantId, subject, request));
  }

  @Operation(ERASURES.listErasures)
  async listErasures(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging,
  ): Promise<ItemPage<Erasure>> {
    return paging.answer(await this.erasures.list(actor, subject, paging.at()), Erasure.of);
  }

  @Operation(ERASURES.getErasure)
  async getErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @ErasureIdParam() erasureId: string,
  ): Promise<ErasureWithReceipt> {
    return ErasureWithReceipt.of(await this.erasures.find(principal, { tenantId, subject, erasureId }));
  }

  @Operation(ERASURES.confirmErasure)
  async confirmErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @ErasureIdParam() erasureId: string,
    @Trace() trace: RequestTrace,
  ): Promise<ErasureWithReceipt> {
    return ErasureWithReceipt.of(await this.erasures.confirm(principal, trace, { tenantId, subject, erasureId }));
  }

  @Operation(ERASURES.cancelErasure)
  async cancelErasure(
    @CurrentPrincipal() principal: Principal,
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: SubjectRef,
    @ErasureIdParam() erasureId: string,
    @Trace() trace: RequestTrace,
  ): Promise<ErasureWithReceipt> {
    return ErasureWithReceipt.of(await this.erasures.cancel(principal, trace, { tenantId, subject, erasureId }));
  }

  @Operation(TENANT_ERASURES.listTenantErasures)
  async listTenantErasures(
    @ActorParam() actor: Actor,
    @PageOf() paging: Paging<ErasuresQuery>,
  ): Promise<ItemPage<Erasure>> {
    return paging.answer(await this.erasures.listOfTenant(actor, paging.query.status, paging.at()), Erasure.of);
  }
}
