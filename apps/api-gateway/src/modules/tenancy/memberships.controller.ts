import type { Acting, Actor } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { BlockedTenant, Invitation, MEMBERSHIPS, type ItemPage, Principal } from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal as Caller } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { MemberService } from './member.service';
import { Operation } from '../../http/describe/operation.decorator';

/** Lets the caller accept, leave or block a tenant. */
@Controller()
export class MembershipsController {
  constructor(private readonly members: MemberService) {}

  @Operation(MEMBERSHIPS.listInvitations)
  async listInvitations(@CurrentPrincipal() caller: Caller, @PageOf() paging: Paging): Promise<ItemPage<Invitation>> {
    return paging.answer(await this.members.invitations(caller, paging.at()), Invitation.of);
  }

  @Operation(MEMBERSHIPS.acceptInvitation)
  async acceptInvitation(@ActorParam() actor: Acting): Promise<Principal> {
    return Principal.of(await this.members.accept(actor));
  }

  @Operation(MEMBERSHIPS.leaveTenant)
  async leaveTenant(@ActorParam() actor: Acting): Promise<Principal> {
    return Principal.of(await this.members.leave(actor));
  }

  @Operation(MEMBERSHIPS.blockTenant)
  async blockTenant(@ActorParam() actor: Acting): Promise<void> {
    await this.members.block(actor);
  }

  @Operation(MEMBERSHIPS.unblockTenant)
  async unblockTenant(@ActorParam() actor: Actor): Promise<void> {
    await this.members.unblock(actor);
  }

  @Operation(MEMBERSHIPS.listBlockedTenants)
  async listBlockedTenants(
    @CurrentPrincipal() caller: Caller,
    @PageOf() paging: Paging,
  ): Promise<ItemPage<BlockedTenant>> {
    return paging.answer(await this.members.blocks(caller, paging.at()), BlockedTenant.of);
  }
}
