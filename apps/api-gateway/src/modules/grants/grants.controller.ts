import { type Acting, type Actor, ALL_SUBJECTS, DomainError, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { requireAField, SPECIFIED_LISTS } from '@iss/contract';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging, SHORT_PAGES } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import { type GrantRequest, GrantService } from './grant.service';
import {
  ACCESSIBLE_EXAMPLE,
  AccessibleListQuery,
  accessibleSearch,
  AccessibleSubject,
  ACME_TO_BETA,
  ChangeGrantBody,
  CreatedGrant,
  CreateGrantBody,
  CreateGrantsBody,
  Grant,
  GRANT_RESULTS_EXAMPLE,
  grantFilter,
  GrantResults,
  grantResults,
  GrantsQuery,
  isPending,
  LISTED_EXAMPLE,
  PENDING,
  PendingGrant,
  REVOKED,
  TO_ACCEPT,
} from './grant.views';

@ApiTags('Grants')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class GrantsController {
  constructor(private readonly grants: GrantService) {}

  @Post('grants')
  @ApiRoute('Let another tenant read one subject or all subjects that this tenant owns', RULES.manageGrants, {
    description:
      'The grantee must exist, and can have at most one active grant on a subject (409 otherwise). With the ' +
      '`subject_type` `*`, the grant covers all subjects that this tenant owns, now or later. The grantee can ' +
      'have one such grant beside grants on single subjects; the scopes add up. While the tenant’s ' +
      '`grant_confirmation` is `required`, a grant on all subjects is pending (202) and gives no rights until ' +
      'another human confirms it within a day.',
    answers: {
      201: answer('The grant, flat and wrapped.', CreatedGrant, CreatedGrant.of(ACME_TO_BETA)),
      202: answer(
        'A pending grant on all subjects, which another human must confirm.',
        PendingGrant,
        PendingGrant.of(PENDING),
      ),
    },
    errors: ['conflict'],
  })
  async createGrant(
    @ActorParam() actor: Acting,
    @JsonBody(CreateGrantBody) body: CreateGrantBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CreatedGrant | PendingGrant> {
    const grant = await this.grants.create(actor, requestOf(body));
    if (!isPending(grant)) return CreatedGrant.of(grant);
    response.status(202);
    return PendingGrant.of(grant);
  }

  @Post('grants/batch')
  @ApiRoute('Create many grants, each with its own result', RULES.manageGrants, {
    description:
      'If one grant is refused, the others are still created. Each grant counts as one request against the rate ' +
      'limit. The same pair of subject and grantee must appear only once. If the service fails midway (503), ' +
      'grants already created stay, and the results name the others. Send the request again.',
    answers: { 200: answer('The results, in the order of the grants.', GrantResults, GRANT_RESULTS_EXAMPLE) },
  })
  async createGrants(
    @ActorParam() actor: Acting,
    @JsonBody(CreateGrantsBody) body: CreateGrantsBody,
    @Req() request: Request,
  ): Promise<GrantResults> {
    const results = await this.grants.createMany(actor, body.grants.map(sentGrant));
    request.settings.limiter.charge(actor.principalId, results.length - 1);
    return grantResults(results, request.requestId);
  }

  @Get('grants')
  @ApiRoute('List grants that the tenant issued or received, newest first', RULES.readGrants, {
    description:
      'The list has active, revoked and expired grants. Received grants on all subjects of another tenant ' +
      `appear under \`offered\` until the tenant uses or accepts them. ${SHORT_PAGES}`,
    answers: { 200: pageAnswer('One page.', Grant, [LISTED_EXAMPLE], SPECIFIED_LISTS.grants) },
  })
  async listGrants(
    @ActorParam() actor: Actor,
    @PageOf(GrantsQuery, SPECIFIED_LISTS.grants) paging: Paging<GrantsQuery>,
  ): Promise<{ items: Grant[] } & PageView> {
    const { direction = 'issued' } = paging.query;
    const page = await this.grants.ofTenant(actor, direction, grantFilter(paging.query), paging.at());
    return paging.answer(page, Grant.of);
  }

  @Get('grants/:grant_id')
  @ApiRoute('Read a grant', RULES.readGrants, {
    description: 'Members of the issuing tenant and of the receiving tenant may read the grant.',
    answers: { 200: answer('The grant.', Grant, Grant.of(ACME_TO_BETA)) },
    errors: ['not_found'],
  })
  async getGrant(@ActorParam() actor: Actor, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<Grant> {
    return Grant.of(await this.grants.find(actor, grantId));
  }

  @Post('grants/:grant_id/accept')
  @ApiRoute('Accept a grant that the tenant received', RULES.acceptGrants, {
    description:
      'Using a grant accepts it too. A grant on all subjects of another tenant then appears in ' +
      '`accessible-subjects` and in `changes`. 409 unless the grant is active. Accepting it again changes ' +
      'nothing.',
    answers: { 200: answer('The accepted grant.', Grant, Grant.of(TO_ACCEPT)) },
    errors: ['not_found', 'conflict'],
    examples: { tenant_id: 'beta' },
  })
  async acceptGrant(@ActorParam() actor: Acting, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<Grant> {
    return Grant.of(await this.grants.accept(actor, grantId));
  }

  @Get('subjects/:subject_type/:subject_id/grants')
  @ApiRoute('List all grants on a subject, newest first', RULES.manageGrants, {
    description:
      'The list has active, revoked and expired grants, and those on all of the tenant’s subjects. It is paged ' +
      'only beyond 1000 grants.',
    answers: { 200: pageAnswer('The grants.', Grant, [LISTED_EXAMPLE]) },
  })
  async listSubjectGrants(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging,
  ): Promise<{ items: Grant[] } & PageView> {
    return paging.answer(await this.grants.ofSubject(actor, subject, paging.at()), Grant.of);
  }

  @Patch('grants/:grant_id')
  @ApiRoute('Change the scopes, end or purpose of a grant', RULES.manageGrants, {
    description:
      'The change takes effect immediately. A change of scopes or end is stored and logged with the previous ' +
      'values; `…/access-history` lists the periods. An update without a difference is not recorded. 409 unless ' +
      'the grant is active. Widening a grant on all subjects also returns 409 while `grant_confirmation` is ' +
      '`required`.',
    answers: { 200: answer('The grant after the change.', Grant, Grant.of(ACME_TO_BETA)) },
    errors: ['not_found', 'conflict'],
  })
  async changeGrant(
    @ActorParam() actor: Acting,
    @UuidParam({ name: 'grant_id' }) grantId: string,
    @JsonBody(ChangeGrantBody) body: ChangeGrantBody,
  ): Promise<Grant> {
    const { reason = null, ...change } = body;
    requireAField(change);
    const { scopes, expires_at: expiresAt, purpose } = change;
    return Grant.of(await this.grants.change(actor, grantId, { scopes, expiresAt, purpose, reason }));
  }

  @Post('grants/:grant_id/revoke')
  @ApiRoute('Revoke a grant', RULES.manageGrants, {
    description:
      'The grantee loses access through this grant immediately. It keeps what it has already read. 409 unless ' +
      'the grant is active.',
    answers: { 200: answer('The revoked grant.', Grant, Grant.of(REVOKED)) },
    errors: ['not_found', 'conflict'],
  })
  async revokeGrant(@ActorParam() actor: Acting, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<Grant> {
    return Grant.of(await this.grants.revoke(actor, grantId));
  }

  @Get('accessible-subjects')
  @ApiRoute('List subjects of other tenants that this tenant may read', RULES.readAccessibleSubjects, {
    description:
      'The caller needs `allow_counterparty_access`. The list has only subjects with a live grant. Subjects ' +
      'with their own grant come first, then all subjects of each tenant that granted all of them and whose ' +
      'grant was used or accepted. `identifier` and `q` only search subjects on which the tenant holds ' +
      '`read_latest`. Each hit is recorded as a disclosure to the caller, with `search` as `via`. ' +
      SHORT_PAGES,
    answers: {
      200: pageAnswer('One page.', AccessibleSubject, [ACCESSIBLE_EXAMPLE], SPECIFIED_LISTS.accessibleSubjects),
    },
    examples: { tenant_id: 'beta' },
  })
  async listAccessibleSubjects(
    @ActorParam() actor: Acting,
    @PageOf(AccessibleListQuery, SPECIFIED_LISTS.accessibleSubjects) paging: Paging<AccessibleListQuery>,
  ): Promise<{ items: AccessibleSubject[] } & PageView> {
    const page = await this.grants.accessible(actor, accessibleSearch(paging.query), paging.at());
    return paging.answer(page, ({ grant, ...subject }) => AccessibleSubject.of({ ...grant, ...subject }));
  }
}

/** Returns one requested grant of a batch, or its error. */
function sentGrant(sent: unknown, index: number): GrantRequest | DomainError {
  try {
    return requestOf(CreateGrantBody.require(sent, ['grants', String(index)]));
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

function requestOf(body: CreateGrantBody): GrantRequest {
  return {
    granteeTenantId: body.grantee_tenant_id,
    subjectType: body.subject_type,
    subjectId: body.subject_id ?? ALL_SUBJECTS.subjectId,
    scopes: body.scopes,
    expiresAt: body.expires_at ?? null,
    purpose: body.purpose ?? null,
  };
}
