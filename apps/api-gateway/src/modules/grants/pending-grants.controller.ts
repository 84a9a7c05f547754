import type { Acting, Actor } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { Grant, type ItemPage, PENDING_GRANTS, PendingGrant } from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { UuidParam } from '../../http/request/path-params';
import { PendingGrantService } from './pending-grant.service';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class PendingGrantsController {
  constructor(private readonly pending: PendingGrantService) {}

  @Operation(PENDING_GRANTS.listPendingGrants)
  async listPendingGrants(@ActorParam() actor: Actor, @PageOf() paging: Paging): Promise<ItemPage<PendingGrant>> {
    return paging.answer(await this.pending.list(actor, paging.at()), PendingGrant.of);
  }

  @Operation(PENDING_GRANTS.confirmGrant)
  async confirmGrant(
    @CurrentPrincipal() principal: Principal,
    @ActorParam() actor: Acting,
    @UuidParam({ name: 'grant_id' }) grantId: string,
  ): Promise<Grant> {
    return Grant.of(await this.pending.confirm(principal, actor, grantId));
  }

  @Operation(PENDING_GRANTS.cancelPendingGrant)
  async cancelPendingGrant(
    @ActorParam() actor: Acting,
    @UuidParam({ name: 'grant_id' }) grantId: string,
  ): Promise<PendingGrant> {
    return PendingGrant.of(await this.pending.cancel(actor, grantId));
  }
}
