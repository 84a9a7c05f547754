import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import {
  ApiAnswer,
  ApiErrors,
  ApiPathParam,
  ApiRoute,
  ApiSubjectParams,
  ApiTenantParam,
  UUID,
} from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, PageQuery, type PageView, type Paging } from '../../http/lists/paging';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import { QueryOf } from '../../http/lists/query';
import { CreateGrantBody } from './grant.dto';
import { GrantService } from './grant.service';
import {
  ACCESSIBLE_SUBJECT,
  ACCESSIBLE_SUBJECT_EXAMPLE,
  type AccessibleSubjectView,
  accessibleSubjectView,
  CREATED_GRANT,
  CREATED_GRANT_EXAMPLE,
  type CreatedGrantView,
  createdGrantView,
  GRANT,
  GRANT_EXAMPLE,
  type GrantView,
  grantView,
  REVOKED_GRANT_EXAMPLE,
} from './grant.views';

@ApiTags('Grants')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class GrantsController {
  constructor(private readonly grants: GrantService) {}

  @Post('grants')
  @ApiRoute('Let another tenant read a subject that this tenant owns', RULES.manageGrants, {
    description: 'A subject has at most one active grant to a tenant (409); the tenant must exist (409).',
  })
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
  @ApiAnswer(201, 'The grant, flat and wrapped.', CREATED_GRANT, CREATED_GRANT_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'conflict', 'payload_too_large', 'unsupported_media_type')
  async create(
    @ActorParam() actor: Actor,
    @JsonBody(CreateGrantBody) body: CreateGrantBody,
  ): Promise<CreatedGrantView> {
    const grant = await this.grants.create(actor, {
      granteeTenantId: body.grantee_tenant_id,
      subjectType: body.subject_type,
      subjectId: body.subject_id,
      scopes: body.scopes,
      expiresAt: body.expires_at ?? null,
    });
    return createdGrantView(grant);
  }

  @Get('grants')
  @ApiRoute('Grants that the tenant issued, newest first', RULES.readGrants, {
    description: 'Active, revoked and expired ones.',
  })
  @ApiTenantParam()
  @ApiAnswer(200, 'One page.', listSchema(GRANT), listExample([GRANT_EXAMPLE], 50))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async ofTenant(
    @ActorParam() actor: Actor,
    @QueryOf(PageQuery) _query: PageQuery,
    @PageOf({ default: 50, max: 100 }) paging: Paging,
  ): Promise<{ items: GrantView[] } & PageView> {
    return paging.answer(await this.grants.ofTenant(actor, paging.at()), grantView);
  }

  @Get('subjects/:subject_type/:subject_id/grants')
  @ApiRoute('Every grant on a subject, newest first', RULES.manageGrants, {
    description: 'Active, revoked and expired ones. Paged only beyond 1000.',
  })
  @ApiTenantParam()
  @ApiSubjectParams()
  @ApiAnswer(200, 'The grants.', listSchema(GRANT), listExample([GRANT_EXAMPLE], 1000))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async ofSubject(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(PageQuery) _query: PageQuery,
    @PageOf({ default: 1000, max: 1000 }) paging: Paging,
  ): Promise<{ items: GrantView[] } & PageView> {
    return paging.answer(await this.grants.ofSubject(actor, subject, paging.at()), grantView);
  }

  @Post('grants/:grant_id/revoke')
  @HttpCode(200)
  @ApiRoute('End a grant at once', RULES.manageGrants, {
    description: 'From the answer on the grantee reads nothing by it. 409 unless the grant is active.',
  })
  @ApiTenantParam()
  @ApiPathParam('grant_id', 'A grant of the tenant.', UUID, GRANT_EXAMPLE.grant_id)
  @ApiAnswer(200, 'The revoked grant.', GRANT, REVOKED_GRANT_EXAMPLE)
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict')
  async revoke(@ActorParam() actor: Actor, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<GrantView> {
    return grantView(await this.grants.revoke(actor, grantId));
  }

  @Get('accessible-subjects')
  @ApiRoute('Subjects of other tenants that this tenant may read by grants', RULES.readAccessibleSubjects, {
    description:
      "The caller's `allow_counterparty_access` must be true. Live grants alone count. `latest_snapshot` stands where `read_latest` is held.",
  })
  @ApiTenantParam('beta')
  @ApiAnswer(200, 'One page.', listSchema(ACCESSIBLE_SUBJECT), listExample([ACCESSIBLE_SUBJECT_EXAMPLE], 50))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async accessible(
    @ActorParam() actor: Actor,
    @QueryOf(PageQuery) _query: PageQuery,
    @PageOf({ default: 50, max: 200 }) paging: Paging,
  ): Promise<{ items: AccessibleSubjectView[] } & PageView> {
    return paging.answer(await this.grants.accessible(actor, paging.at()), accessibleSubjectView);
  }
}
