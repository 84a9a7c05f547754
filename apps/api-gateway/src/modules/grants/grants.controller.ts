import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging, UNPAGED } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import { GrantService } from './grant.service';
import {
  ACCESSIBLE_EXAMPLE,
  AccessibleSubject,
  ACME_TO_BETA,
  CreatedGrant,
  CreateGrantBody,
  Grant,
  REVOKED,
} from './grant.views';

@ApiTags('Grants')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class GrantsController {
  constructor(private readonly grants: GrantService) {}

  @Post('grants')
  @ApiRoute('Let another tenant read a subject that this tenant owns', RULES.manageGrants, {
    description: 'A subject has at most one active grant to a tenant (409); the tenant must exist (409).',
    answers: { 201: answer('The grant, flat and wrapped.', CreatedGrant, CreatedGrant.of(ACME_TO_BETA)) },
    errors: ['conflict'],
  })
  async createGrant(
    @ActorParam() actor: Actor,
    @JsonBody(CreateGrantBody) body: CreateGrantBody,
  ): Promise<CreatedGrant> {
    const grant = await this.grants.create(actor, {
      granteeTenantId: body.grantee_tenant_id,
      subjectType: body.subject_type,
      subjectId: body.subject_id,
      scopes: body.scopes,
      expiresAt: body.expires_at ?? null,
    });
    return CreatedGrant.of(grant);
  }

  @Get('grants')
  @ApiRoute('Grants that the tenant issued, newest first', RULES.readGrants, {
    description: 'Active, revoked and expired ones.',
    answers: { 200: pageAnswer('One page.', Grant, [Grant.of(ACME_TO_BETA)], 50) },
  })
  async listGrants(
    @ActorParam() actor: Actor,
    @PageOf({ default: 50, max: 100 }) paging: Paging,
  ): Promise<{ items: Grant[] } & PageView> {
    return paging.answer(await this.grants.ofTenant(actor, paging.at()), Grant.of);
  }

  @Get('subjects/:subject_type/:subject_id/grants')
  @ApiRoute('Every grant on a subject, newest first', RULES.manageGrants, {
    description: 'Active, revoked and expired ones. Paged only beyond 1000.',
    answers: { 200: pageAnswer('The grants.', Grant, [Grant.of(ACME_TO_BETA)], UNPAGED.default) },
  })
  async listSubjectGrants(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf(UNPAGED) paging: Paging,
  ): Promise<{ items: Grant[] } & PageView> {
    return paging.answer(await this.grants.ofSubject(actor, subject, paging.at()), Grant.of);
  }

  @Post('grants/:grant_id/revoke')
  @ApiRoute('End a grant at once', RULES.manageGrants, {
    description: 'From the answer on the grantee reads nothing by it. 409 unless the grant is active.',
    answers: { 200: answer('The revoked grant.', Grant, Grant.of(REVOKED)) },
    errors: ['not_found', 'conflict'],
  })
  async revokeGrant(@ActorParam() actor: Actor, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<Grant> {
    return Grant.of(await this.grants.revoke(actor, grantId));
  }

  @Get('accessible-subjects')
  @ApiRoute('Subjects of other tenants that this tenant may read by grants', RULES.readAccessibleSubjects, {
    description:
      "The caller's `allow_counterparty_access` must be true. Live grants alone count. `latest_snapshot` stands where `read_latest` is held.",
    answers: { 200: pageAnswer('One page.', AccessibleSubject, [ACCESSIBLE_EXAMPLE], 50) },
    examples: { tenant_id: 'beta' },
  })
  async listAccessibleSubjects(
    @ActorParam() actor: Actor,
    @PageOf({ default: 50, max: 200 }) paging: Paging,
  ): Promise<{ items: AccessibleSubject[] } & PageView> {
    const page = await this.grants.accessible(actor, paging.at());
    return paging.answer(page, ({ grant, latest }) => AccessibleSubject.of({ ...grant, latest }));
  }
}
