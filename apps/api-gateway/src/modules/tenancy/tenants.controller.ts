import { Controller, Post, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonBody } from '../../http/json-body';
import { ApiAnswer, ApiErrors, ApiTenantParam, object, type Schema, TIMESTAMP } from '../../http/openapi';
import { PrincipalIdParam, TenantIdParam } from '../../http/path-params';
import { CreateTenantBody, PutMemberBody } from './tenant.dto';
import { type MemberView, memberView, type TenantView, tenantView } from './tenant.views';
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
    return memberView(await this.tenancy.putMember(principal, tenantId, principalId, body.role));
  }
}
