import type { Acting, Actor } from '@iss/domain';
import { Controller } from '@nestjs/common';
import {
  CreateTenantBody,
  type ItemPage,
  PatchTenantBody,
  requireAField,
  Tenant,
  TenantItem,
  TenantOfCaller,
  TENANTS,
  Usage,
  UsageQuery,
} from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { QueryOf } from '../../http/lists/query';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { TenantService } from './tenant.service';
import { withCaller } from './tenant.views';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class TenantsController {
  constructor(private readonly tenants: TenantService) {}

  @Operation(TENANTS.createTenant)
  async createTenant(
    @CurrentPrincipal() principal: Principal,
    @Trace() { requestId }: RequestTrace,
    @JsonBody() body: CreateTenantBody,
  ): Promise<Tenant> {
    const tenant = await this.tenants.create(principal, requestId, {
      tenantId: body.tenant_id,
      name: body.name,
      slug: body.slug ?? null,
      chainEnforced: body.chain_enforced ?? true,
      evidencePolicy: body.evidence_policy ?? 'open',
    });
    return Tenant.of(tenant);
  }

  @Operation(TENANTS.listTenants)
  async listTenants(@CurrentPrincipal() principal: Principal, @PageOf() paging: Paging): Promise<ItemPage<TenantItem>> {
    const page = await this.tenants.list(principal, paging.at());
    return paging.answer(page, (found) => TenantItem.of(withCaller(found)));
  }

  @Operation(TENANTS.getTenant)
  async getTenant(@ActorParam() actor: Actor): Promise<TenantOfCaller> {
    return TenantOfCaller.of(withCaller(await this.tenants.find(actor)));
  }

  @Operation(TENANTS.updateTenant)
  async updateTenant(
    @CurrentPrincipal() principal: Principal,
    @ActorParam() actor: Acting,
    @Trace() trace: RequestTrace,
    @JsonBody() body: PatchTenantBody,
  ): Promise<Tenant> {
    requireAField(body);
    const { name, slug, chain_enforced: chainEnforced, evidence_policy: evidencePolicy } = body;
    const confirmations = {
      erasureConfirmation: body.erasure_confirmation,
      grantConfirmation: body.grant_confirmation,
    };
    const change = { name, slug, chainEnforced, evidencePolicy, ...confirmations };
    return Tenant.of(await this.tenants.change(principal, actor, trace, change));
  }

  @Operation(TENANTS.getUsage)
  async getUsage(@ActorParam() actor: Actor, @QueryOf() { from, to }: UsageQuery): Promise<Usage> {
    return Usage.of({ tenantId: actor.tenantId, ...(await this.tenants.usage(actor, { from, to })) });
  }
}
