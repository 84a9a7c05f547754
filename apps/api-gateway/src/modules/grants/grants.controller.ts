import { SCOPES } from '@iss/domain';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonBody } from '../../http/json-body';
import {
  ApiAnswer,
  ApiErrors,
  ApiSubjectParams,
  ApiTenantParam,
  object,
  type Schema,
  SUBJECT_TYPE,
  TIMESTAMP,
  UUID,
} from '../../http/openapi';
import { SubjectParam, TenantIdParam, UuidParam } from '../../http/path-params';
import { CreateGrantBody } from './grant.dto';
import { GrantService } from './grant.service';
import { createdGrantView, type GrantView, grantView } from './grant.views';

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TIMESTAMP: Schema = { type: ['string', 'null'], format: 'date-time' };
const GRANT_FIELDS: Record<string, Schema> = {
  grant_id: UUID,
  grantor_tenant_id: TEXT,
  grantee_tenant_id: TEXT,
  subject_type: SUBJECT_TYPE,
  subject_id: TEXT,
  scopes: { type: 'array', items: { type: 'string', enum: SCOPES } },
  expires_at: OPTIONAL_TIMESTAMP,
  created_at: TIMESTAMP,
  revoked_at: OPTIONAL_TIMESTAMP,
  status: { type: 'string', enum: ['active', 'revoked', 'expired'] },
};
const GRANT = object(GRANT_FIELDS);
const GRANT_EXAMPLE = {
  grant_id: '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52',
  grantor_tenant_id: 'acme',
  grantee_tenant_id: 'beta',
  subject_type: 'organization',
  subject_id: 'acme-corp',
  scopes: ['read_latest'],
  expires_at: null,
  created_at: '2026-01-15T10:00:00.000Z',
  revoked_at: null,
  status: 'active',
};

@ApiTags('Grants')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class GrantsController {
  constructor(private readonly grants: GrantService) {}

  @Post('grants')
  @ApiOperation({ summary: 'Let another tenant read a subject that this tenant owns. Role: tenant_admin' })
  @ApiTenantParam()
  @ApiBody({
    type: CreateGrantBody,
    examples: {
      latest: {
        value: {
          grantee_tenant_id: 'beta',
          subject_type: 'organization',
          subject_id: 'acme-corp',
          scopes: ['read_latest'],
        },
      },
    },
  })
  @ApiAnswer(201, 'The grant, flat and wrapped.', object({ ...GRANT_FIELDS, grant: GRANT }), {
    ...GRANT_EXAMPLE,
    grant: GRANT_EXAMPLE,
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'conflict', 'payload_too_large', 'unsupported_media_type')
  async create(
    @TenantIdParam() tenantId: string,
    @CurrentPrincipal() principal: Principal,
    @JsonBody(CreateGrantBody) body: CreateGrantBody,
  ): Promise<GrantView & { grant: GrantView }> {
    const grant = await this.grants.create(principal, tenantId, {
      granteeTenantId: body.grantee_tenant_id,
      subjectType: body.subject_type,
      subjectId: body.subject_id,
      scopes: body.scopes,
      expiresAt: body.expires_at ?? null,
    });
    return createdGrantView(grant);
  }

  @Get('subjects/:subject_type/:subject_id/grants')
  @ApiOperation({ summary: 'Every grant on a subject: active, revoked and expired. Role: tenant_admin of the owner' })
  @ApiTenantParam()
  @ApiSubjectParams()
  @ApiAnswer(200, 'The grants, newest first.', object({ items: { type: 'array', items: GRANT } }), {
    items: [GRANT_EXAMPLE],
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async ofSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: { subjectType: string; subjectId: string },
    @CurrentPrincipal() principal: Principal,
  ): Promise<{ items: GrantView[] }> {
    return { items: (await this.grants.ofSubject(principal, tenantId, subject)).map(grantView) };
  }

  @Post('grants/:grant_id/revoke')
  @HttpCode(200)
  @ApiOperation({ summary: 'End a grant at once. Role: tenant_admin of the owner' })
  @ApiTenantParam()
  @ApiParam({ name: 'grant_id', schema: { type: 'string', format: 'uuid' }, example: GRANT_EXAMPLE.grant_id })
  @ApiAnswer(200, 'The revoked grant.', GRANT, {
    ...GRANT_EXAMPLE,
    status: 'revoked',
    revoked_at: '2026-02-01T00:00:00.000Z',
  })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict')
  async revoke(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'grant_id' }) grantId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<GrantView> {
    return grantView(await this.grants.revoke(principal, tenantId, grantId));
  }
}
