import { type Acting, type Actor, RULES } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_IDS } from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { UuidParam } from '../../http/request/path-params';
import { CANCELLED, Grant, PENDING, PendingGrant, TO_ALL } from './grant.views';
import { PendingGrantService } from './pending-grant.service';

const EXAMPLE = { grant_id: EXAMPLE_IDS.pending_grant_id };

@ApiTags('Grants')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/pending-grants')
export class PendingGrantsController {
  constructor(private readonly pending: PendingGrantService) {}

  @Get()
  @ApiRoute('List the grants on all subjects that wait for a second human, newest first', RULES.confirmGrants, {
    description: 'The list has all requests made while `grant_confirmation` was `required`, including ended ones.',
    answers: { 200: pageAnswer('One page.', PendingGrant, [PendingGrant.of(PENDING)]) },
  })
  async listPendingGrants(
    @ActorParam() actor: Actor,
    @PageOf() paging: Paging,
  ): Promise<{ items: PendingGrant[] } & PageView> {
    return paging.answer(await this.pending.list(actor, paging.at()), PendingGrant.of);
  }

  @Post(':grant_id/confirm')
  @ApiRoute('Confirm and create a grant on all subjects', RULES.confirmGrants, {
    description:
      'Needs another human than the one who requested the grant (403, or 422 if not human). 409 unless the ' +
      'request is pending, and while the grantee has an active grant on all subjects.',
    answers: { 200: answer('The grant.', Grant, Grant.of(TO_ALL)) },
    errors: ['not_found', 'conflict', 'human_principal_required'],
    examples: EXAMPLE,
  })
  async confirmGrant(
    @CurrentPrincipal() principal: Principal,
    @ActorParam() actor: Acting,
    @UuidParam({ name: 'grant_id' }) grantId: string,
  ): Promise<Grant> {
    return Grant.of(await this.pending.confirm(principal, actor, grantId));
  }

  @Post(':grant_id/cancel')
  @ApiRoute('Cancel a grant on all subjects that was not confirmed', RULES.confirmGrants, {
    description:
      'Any permitted principal can cancel the request, including the one that made it. An `expired` request can ' +
      'be cancelled too. 409 if the request ended in another way.',
    answers: { 200: answer('The cancelled request.', PendingGrant, PendingGrant.of(CANCELLED)) },
    errors: ['not_found', 'conflict'],
    examples: EXAMPLE,
  })
  async cancelPendingGrant(
    @ActorParam() actor: Acting,
    @UuidParam({ name: 'grant_id' }) grantId: string,
  ): Promise<PendingGrant> {
    return PendingGrant.of(await this.pending.cancel(actor, grantId));
  }
}
