import { type Actor, RULES } from '@iss/domain';
import { Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../http/request/actor.decorator';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonBody } from '../../http/request/json-body';
import { ApiAnswer, ApiErrors, ApiRoute, ApiTenantParam } from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, PageQuery, type PageView, type Paging } from '../../http/lists/paging';
import { QueryOf } from '../../http/lists/query';
import { requireAField } from './partial-body';
import { CreateTenantBody, PatchTenantBody, UsageQuery } from './tenant.dto';
import { TenantService } from './tenant.service';
import {
  TENANT,
  TENANT_EXAMPLE,
  TENANT_ITEM,
  TENANT_ITEM_EXAMPLE,
  TENANT_OF_MEMBER,
  TENANT_OF_MEMBER_EXAMPLE,
  type TenantItemView,
  tenantItemView,
  tenantOfMemberView,
  type TenantView,
  tenantView,
  USAGE,
  USAGE_EXAMPLE,
  type UsageView,
  usageView,
} from './tenant.views';

@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1/tenants')
export class TenantsController {
  constructor(private readonly tenants: TenantService) {}

  @Post()
  @ApiRoute('Create a tenant', 'any_principal', {
    description: 'A human caller becomes its `tenant_owner`, any other its `tenant_admin`; both `account_admin`.',
  })
  @ApiBody({
    type: CreateTenantBody,
    examples: { tenant: { value: { tenant_id: 'acme', name: 'Acme Corporation', slug: 'acme' } } },
  })
  @ApiAnswer(201, 'The tenant, flat and wrapped.', TENANT, TENANT_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'conflict', 'payload_too_large', 'unsupported_media_type')
  async create(
    @CurrentPrincipal() principal: Principal,
    @JsonBody(CreateTenantBody) body: CreateTenantBody,
  ): Promise<TenantView> {
    const tenant = await this.tenants.create(principal, {
      tenantId: body.tenant_id,
      name: body.name,
      slug: body.slug ?? null,
      chainEnforced: body.chain_enforced ?? true,
    });
    return tenantView(tenant);
  }

  @Get()
  @ApiRoute("The caller's tenants, with its role in each", 'any_principal', {
    description: 'Those in which the caller is an active member, by `tenant_id`.',
  })
  @ApiAnswer(200, 'One page.', listSchema(TENANT_ITEM), listExample([TENANT_ITEM_EXAMPLE], 50))
  @ApiErrors('validation_error', 'unauthorized')
  async list(
    @CurrentPrincipal() principal: Principal,
    @QueryOf(PageQuery) _query: PageQuery,
    @PageOf({ default: 50, max: 200 }) paging: Paging,
  ): Promise<{ items: TenantItemView[] } & PageView> {
    return paging.answer(await this.tenants.list(principal, paging.at()), tenantItemView);
  }

  @Get(':tenant_id')
  @ApiRoute("One of the caller's tenants", RULES.readTenant)
  @ApiTenantParam()
  @ApiAnswer(200, "The tenant, flat and wrapped, with the caller's role.", TENANT_OF_MEMBER, TENANT_OF_MEMBER_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async find(@ActorParam() actor: Actor): Promise<ReturnType<typeof tenantOfMemberView>> {
    return tenantOfMemberView(await this.tenants.find(actor));
  }

  @Patch(':tenant_id')
  @ApiRoute('Change a tenant: name, slug, chain_enforced', RULES.changeTenant, {
    description: 'At least one field. `tenant_id` never changes.',
  })
  @ApiTenantParam()
  @ApiBody({ type: PatchTenantBody, examples: { name: { value: { name: 'Acme Corporation' } } } })
  @ApiAnswer(200, 'The tenant, flat and wrapped.', TENANT, TENANT_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'conflict', 'payload_too_large', 'unsupported_media_type')
  async change(@ActorParam() actor: Actor, @JsonBody(PatchTenantBody) body: PatchTenantBody): Promise<TenantView> {
    requireAField(body);
    const { name, slug, chain_enforced } = body;
    return tenantView(await this.tenants.change(actor, { name, slug, chainEnforced: chain_enforced }));
  }

  @Get(':tenant_id/usage')
  @ApiRoute('Snapshots written, by UTC day', RULES.readUsage, {
    description:
      'One row for every UTC day that the window touches, zeros included; both bounds are counted. Send both or neither: without them the window is the 30 days before now. At most 366 days.',
  })
  @ApiTenantParam()
  @ApiAnswer(200, 'The usage.', USAGE, USAGE_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async usage(@ActorParam() actor: Actor, @QueryOf(UsageQuery) { from, to }: UsageQuery): Promise<UsageView> {
    const { window, days } = await this.tenants.usage(actor, { from, to });
    return usageView(actor.tenantId, window, days);
  }
}
