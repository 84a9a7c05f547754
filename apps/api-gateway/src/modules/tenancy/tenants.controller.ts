import { Controller, Get, Post, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonBody } from '../../http/json-body';
import { ApiAnswer, ApiErrors, ApiTenantParam, object, type Schema, TIMESTAMP } from '../../http/openapi';
import { PrincipalIdParam, TenantIdParam } from '../../http/path-params';
import { CreateTenantBody, PutMemberBody, PutPrincipalBody } from './tenant.dto';
import {
  type MemberView,
  memberView,
  type PrincipalView,
  principalView,
  type TenantView,
  tenantView,
} from './tenant.views';
import { TenancyService } from './tenancy.service';

const TEXT: Schema = { type: 'string' };
const TENANT_FIELDS: Record<string, Schema> = {
  tenant_id: TEXT,
  name: TEXT,
  slug: { type: ['string', 'null'] },
  created_at: TIMESTAMP,
  chain_enforced: { type: 'boolean' },
};
const TENANT_EXAMPLE = {
  tenant_id: 'acme',
  name: 'Acme Corporation',
  slug: 'acme',
  created_at: '2026-01-15T09:00:00.000Z',
  chain_enforced: true,
};
const PRINCIPAL = object({
  tenant_id: TEXT,
  principal_id: TEXT,
  tenancy_role: TEXT,
  api_functional_role: TEXT,
  principal_type: TEXT,
  allow_counterparty_access: { type: 'boolean' },
  status: TEXT,
  created_at: TIMESTAMP,
});
const PRINCIPAL_EXAMPLE = {
  tenant_id: 'acme',
  principal_id: 'oidc:dev#carol',
  tenancy_role: 'member',
  api_functional_role: 'tenant_editor',
  principal_type: 'human',
  allow_counterparty_access: true,
  status: 'active',
  created_at: '2026-01-15T09:00:00.000Z',
};

@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1/tenants')
export class TenantsController {
  constructor(private readonly tenancy: TenancyService) {}

  @Post()
  @ApiOperation({ summary: 'Create a tenant; a human caller becomes its tenant_owner, any other its tenant_admin' })
  @ApiBody({
    type: CreateTenantBody,
    examples: { tenant: { value: { tenant_id: 'acme', name: 'Acme Corporation', slug: 'acme' } } },
  })
  @ApiAnswer(201, 'The tenant, flat and wrapped.', object({ ...TENANT_FIELDS, tenant: object(TENANT_FIELDS) }), {
    ...TENANT_EXAMPLE,
    tenant: TENANT_EXAMPLE,
  })
  @ApiErrors('validation_error', 'unauthorized', 'conflict', 'payload_too_large', 'unsupported_media_type')
  async create(
    @CurrentPrincipal() principal: Principal,
    @JsonBody(CreateTenantBody) body: CreateTenantBody,
  ): Promise<TenantView> {
    const tenant = await this.tenancy.create(principal, {
      tenantId: body.tenant_id,
      name: body.name,
      slug: body.slug ?? null,
      chainEnforced: body.chain_enforced ?? true,
    });
    return tenantView(tenant);
  }

  @Put(':tenant_id/members/:principal_id')
  @ApiOperation({ summary: 'Give a principal a role in the tenant. Role: tenant_admin' })
  @ApiTenantParam()
  @ApiParam({ name: 'principal_id', schema: { type: 'string' }, example: 'oidc:dev#carol' })
  @ApiBody({ type: PutMemberBody, examples: { editor: { value: { role: 'tenant_editor' } } } })
  @ApiAnswer(
    200,
    'The member.',
    object({ tenant_id: TEXT, principal_id: TEXT, api_functional_role: TEXT, status: TEXT }),
    { tenant_id: 'acme', principal_id: 'oidc:dev#carol', api_functional_role: 'tenant_editor', status: 'active' },
  )
  @ApiErrors(
    'validation_error',
    'unauthorized',
    'forbidden',
    'conflict',
    'payload_too_large',
    'unsupported_media_type',
    'human_principal_required',
  )
  async putMember(
    @TenantIdParam() tenantId: string,
    @PrincipalIdParam() principalId: string,
    @CurrentPrincipal() principal: Principal,
    @JsonBody(PutMemberBody) body: PutMemberBody,
  ): Promise<MemberView> {
    return memberView(await this.tenancy.putPrincipal(principal, tenantId, principalId, { role: body.role }));
  }

  @Put(':tenant_id/principals/:principal_id')
  @ApiOperation({ summary: "Change a principal's access record, field by field. Role: tenant_admin" })
  @ApiTenantParam()
  @ApiParam({ name: 'principal_id', schema: { type: 'string' }, example: 'oidc:dev#carol' })
  @ApiBody({ type: PutPrincipalBody, examples: { counterparty: { value: { allow_counterparty_access: true } } } })
  @ApiAnswer(200, 'The record.', PRINCIPAL, PRINCIPAL_EXAMPLE)
  @ApiErrors(
    'validation_error',
    'unauthorized',
    'forbidden',
    'conflict',
    'payload_too_large',
    'unsupported_media_type',
    'human_principal_required',
  )
  async putPrincipal(
    @TenantIdParam() tenantId: string,
    @PrincipalIdParam() principalId: string,
    @CurrentPrincipal() principal: Principal,
    @JsonBody(PutPrincipalBody) body: PutPrincipalBody,
  ): Promise<PrincipalView> {
    const change = {
      role: body.api_functional_role,
      tenancyRole: body.tenancy_role,
      principalType: body.principal_type,
      allowCounterpartyAccess: body.allow_counterparty_access,
    };
    return principalView(await this.tenancy.putPrincipal(principal, tenantId, principalId, change));
  }

  @Get(':tenant_id/principals')
  @ApiOperation({ summary: "List the tenant's principals. Role: tenant_reader" })
  @ApiTenantParam()
  @ApiAnswer(200, 'Every record.', object({ items: { type: 'array', items: PRINCIPAL } }), {
    items: [PRINCIPAL_EXAMPLE],
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async listPrincipals(
    @TenantIdParam() tenantId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<{ items: PrincipalView[] }> {
    return { items: (await this.tenancy.listPrincipals(principal, tenantId)).map(principalView) };
  }
}
