import { type Acting, type Actor, RULES } from '@iss/domain';
import { Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { requireAField } from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { QueryOf } from '../../http/lists/query';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { TenantService } from './tenant.service';
import {
  ACME,
  ACME_OF_ALICE,
  CreateTenantBody,
  PatchTenantBody,
  Tenant,
  TenantItem,
  TenantOfCaller,
  Usage,
  USAGE_EXAMPLE,
  UsageQuery,
  withCaller,
} from './tenant.views';

@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1/tenants')
export class TenantsController {
  constructor(private readonly tenants: TenantService) {}

  @Post()
  @ApiRoute('Create a tenant', 'any_principal', {
    description:
      'A human caller becomes its `tenant_owner`, any other caller its `tenant_admin`. Both become ' +
      '`account_admin`. A caller that is not human can hand the tenant to a human owner by a transfer offer.',
    answers: { 201: answer('The tenant, flat and wrapped.', Tenant, Tenant.of(ACME)) },
    errors: ['conflict'],
  })
  async createTenant(
    @CurrentPrincipal() principal: Principal,
    @Trace() { requestId }: RequestTrace,
    @JsonBody(CreateTenantBody) body: CreateTenantBody,
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

  @Get()
  @ApiRoute("List the caller's tenants, with its role in each", 'any_principal', {
    description: 'The list has the tenants in which the caller is an active member, ordered by `tenant_id`.',
    answers: { 200: pageAnswer('One page.', TenantItem, [TenantItem.of(ACME_OF_ALICE)]) },
  })
  async listTenants(
    @CurrentPrincipal() principal: Principal,
    @PageOf() paging: Paging,
  ): Promise<{ items: TenantItem[] } & PageView> {
    const page = await this.tenants.list(principal, paging.at());
    return paging.answer(page, (found) => TenantItem.of(withCaller(found)));
  }

  @Get(':tenant_id')
  @ApiRoute("Read one of the caller's tenants", RULES.readTenant, {
    answers: {
      200: answer(
        "The tenant, flat and wrapped, with the caller's role.",
        TenantOfCaller,
        TenantOfCaller.of(ACME_OF_ALICE),
      ),
    },
  })
  async getTenant(@ActorParam() actor: Actor): Promise<TenantOfCaller> {
    return TenantOfCaller.of(withCaller(await this.tenants.find(actor)));
  }

  @Patch(':tenant_id')
  @ApiRoute(
    'Change a tenant: name, slug, chain_enforced, evidence_policy, erasure_confirmation, grant_confirmation',
    RULES.changeTenant,
    {
      description:
        'Send at least one field. `tenant_id` never changes. Only a human can change a confirmation (422 ' +
        'otherwise). A request to switch one off is first listed in `pending_changes`. It takes effect after a ' +
        'day, or when another human, at least `tenant_admin`, sends the same request. `required` withdraws it.',
      answers: { 200: answer('The tenant, flat and wrapped.', Tenant, Tenant.of(ACME)) },
      errors: ['conflict', 'human_principal_required'],
    },
  )
  async updateTenant(
    @CurrentPrincipal() principal: Principal,
    @ActorParam() actor: Acting,
    @JsonBody(PatchTenantBody) body: PatchTenantBody,
  ): Promise<Tenant> {
    requireAField(body);
    const { name, slug, chain_enforced: chainEnforced, evidence_policy: evidencePolicy } = body;
    const confirmations = {
      erasureConfirmation: body.erasure_confirmation,
      grantConfirmation: body.grant_confirmation,
    };
    const change = { name, slug, chainEnforced, evidencePolicy, ...confirmations };
    return Tenant.of(await this.tenants.change(principal, actor, change));
  }

  @Get(':tenant_id/usage')
  @ApiRoute('Read the snapshots written per UTC day', RULES.readUsage, {
    description:
      'The response has one row for every UTC day in the window, including days without writes. Both bounds are ' +
      'inclusive. Send both or neither: the default is the last 30 days. At most 366 days.',
    answers: { 200: answer('The usage.', Usage, USAGE_EXAMPLE) },
  })
  async getUsage(@ActorParam() actor: Actor, @QueryOf(UsageQuery) { from, to }: UsageQuery): Promise<Usage> {
    return Usage.of({ tenantId: actor.tenantId, ...(await this.tenants.usage(actor, { from, to })) });
  }
}
