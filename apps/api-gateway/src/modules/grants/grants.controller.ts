import { type Acting, type Actor, ALL_SUBJECTS, DomainError, type SubjectRef } from '@iss/domain';
import { Controller, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  ACCESSIBLE_SUBJECTS,
  AccessibleListQuery,
  AccessibleSubject,
  ChangeGrantBody,
  CreatedGrant,
  CreateGrantBody,
  CreateGrantsBody,
  Grant,
  GrantResults,
  GRANTS,
  GrantsQuery,
  type ItemPage,
  PendingGrant,
  requireAField,
} from '@iss/contract';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { SubjectParam, UuidParam } from '../../http/request/path-params';
import { Trace } from '../../http/request/request-id';
import type { RequestTrace } from '../../request-trace';
import { type GrantRequest, GrantService } from './grant.service';
import { accessibleSearch, grantFilter, grantResults, isPending } from './grant.views';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class GrantsController {
  constructor(private readonly grants: GrantService) {}

  @Operation(GRANTS.createGrant)
  async createGrant(
    @ActorParam() actor: Acting,
    @Trace() trace: RequestTrace,
    @JsonBody() body: CreateGrantBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CreatedGrant | PendingGrant> {
    const grant = await this.grants.create(actor, trace, requestOf(body));
    if (!isPending(grant)) return CreatedGrant.of(grant);
    response.status(202);
    return PendingGrant.of(grant);
  }

  @Operation(GRANTS.createGrants)
  async createGrants(
    @ActorParam() actor: Acting,
    @Trace() trace: RequestTrace,
    @JsonBody() body: CreateGrantsBody,
    @Req() request: Request,
  ): Promise<GrantResults> {
    const results = await this.grants.createMany(actor, trace, body.grants.map(sentGrant));
    request.settings.limiter.charge(actor.principalId, results.length - 1);
    return grantResults(results, request.requestId);
  }

  @Operation(GRANTS.listGrants)
  async listGrants(@ActorParam() actor: Actor, @PageOf() paging: Paging<GrantsQuery>): Promise<ItemPage<Grant>> {
    const { direction = 'issued' } = paging.query;
    const page = await this.grants.ofTenant(actor, direction, grantFilter(paging.query), paging.at());
    return paging.answer(page, Grant.of);
  }

  @Operation(GRANTS.getGrant)
  async getGrant(@ActorParam() actor: Actor, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<Grant> {
    return Grant.of(await this.grants.find(actor, grantId));
  }

  @Operation(GRANTS.acceptGrant)
  async acceptGrant(@ActorParam() actor: Acting, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<Grant> {
    return Grant.of(await this.grants.accept(actor, grantId));
  }

  @Operation(GRANTS.listSubjectGrants)
  async listSubjectGrants(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging,
  ): Promise<ItemPage<Grant>> {
    return paging.answer(await this.grants.ofSubject(actor, subject, paging.at()), Grant.of);
  }

  @Operation(GRANTS.changeGrant)
  async changeGrant(
    @ActorParam() actor: Acting,
    @UuidParam({ name: 'grant_id' }) grantId: string,
    @JsonBody() body: ChangeGrantBody,
  ): Promise<Grant> {
    const { reason = null, ...change } = body;
    requireAField(change);
    const { scopes, paths, starts_at: startsAt, expires_at: expiresAt, purpose } = change;
    return Grant.of(await this.grants.change(actor, grantId, { scopes, paths, startsAt, expiresAt, purpose, reason }));
  }

  @Operation(GRANTS.revokeGrant)
  async revokeGrant(@ActorParam() actor: Acting, @UuidParam({ name: 'grant_id' }) grantId: string): Promise<Grant> {
    return Grant.of(await this.grants.revoke(actor, grantId));
  }

  @Operation(ACCESSIBLE_SUBJECTS.listAccessibleSubjects)
  async listAccessibleSubjects(
    @ActorParam() actor: Acting,
    @PageOf() paging: Paging<AccessibleListQuery>,
  ): Promise<ItemPage<AccessibleSubject>> {
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
    paths: body.paths ?? null,
    startsAt: body.starts_at ?? null,
    expiresAt: body.expires_at ?? null,
    purpose: body.purpose ?? null,
  };
}
