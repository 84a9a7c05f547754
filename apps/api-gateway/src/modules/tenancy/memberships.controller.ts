import type { Acting, Actor } from '@iss/domain';
import { Controller, Delete, Get, Post, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal as Caller } from '../../auth/principal';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { MemberService } from './member.service';
import { BLOCKED, BlockedTenant, CAROL, Invitation, Principal, TO_BETA } from './member.views';

const LAST_OWNER = 'The last `tenant_owner` cannot leave (409).';

/** Lets the caller accept, leave or block a tenant. */
@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1')
export class MembershipsController {
  constructor(private readonly members: MemberService) {}

  @Get('invitations')
  @ApiRoute('List the tenants that invited the caller', 'any_principal', {
    description: 'Ordered by `tenant_id`. An invited caller has no right in the tenant until it accepts.',
    answers: { 200: pageAnswer('One page.', Invitation, [Invitation.of(TO_BETA)]) },
  })
  async listInvitations(
    @CurrentPrincipal() caller: Caller,
    @PageOf() paging: Paging,
  ): Promise<{ items: Invitation[] } & PageView> {
    return paging.answer(await this.members.invitations(caller, paging.at()), Invitation.of);
  }

  @Post('tenants/:tenant_id/membership/accept')
  @ApiRoute('Accept an invitation', 'any_principal', {
    description: 'The caller becomes a member immediately. The request has no effect for an active member.',
    answers: { 200: answer('The record.', Principal, Principal.of(CAROL)) },
    errors: ['not_found'],
  })
  async acceptInvitation(@ActorParam() actor: Acting): Promise<Principal> {
    return Principal.of(await this.members.accept(actor));
  }

  @Post('tenants/:tenant_id/membership/leave')
  @ApiRoute('Leave a tenant, or decline its invitation', 'any_principal', {
    description: `Transfer offers that the caller made or received are cancelled. ${LAST_OWNER}`,
    answers: { 200: answer('The record.', Principal, Principal.of({ ...CAROL, status: 'removed' })) },
    errors: ['not_found', 'conflict'],
  })
  async leaveTenant(@ActorParam() actor: Acting): Promise<Principal> {
    return Principal.of(await this.members.leave(actor));
  }

  @Put('tenants/:tenant_id/membership/block')
  @ApiRoute('Leave a tenant and block it from adding the caller', 'any_principal', {
    description: `This also works for a tenant to which the caller never belonged. ${LAST_OWNER}`,
    answers: { 204: { description: 'Blocked.' } },
    errors: ['not_found', 'conflict'],
  })
  async blockTenant(@ActorParam() actor: Acting): Promise<void> {
    await this.members.block(actor);
  }

  @Delete('tenants/:tenant_id/membership/block')
  @ApiRoute('Let a tenant add the caller again', 'any_principal', {
    description: 'The request has no effect if the caller does not block the tenant.',
    answers: { 204: { description: 'The tenant is not blocked.' } },
  })
  async unblockTenant(@ActorParam() actor: Actor): Promise<void> {
    await this.members.unblock(actor);
  }

  @Get('blocked-tenants')
  @ApiRoute('List the tenants that the caller blocks', 'any_principal', {
    description: 'Ordered by `tenant_id`.',
    answers: {
      200: pageAnswer('One page.', BlockedTenant, [BlockedTenant.of(BLOCKED)]),
    },
  })
  async listBlockedTenants(
    @CurrentPrincipal() caller: Caller,
    @PageOf() paging: Paging,
  ): Promise<{ items: BlockedTenant[] } & PageView> {
    return paging.answer(await this.members.blocks(caller, paging.at()), BlockedTenant.of);
  }
}
