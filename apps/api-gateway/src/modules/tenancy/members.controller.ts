import { type Acting, type Actor, RULES } from '@iss/domain';
import { Controller, Delete, Get, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal as Caller } from '../../auth/principal';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging, UNPAGED } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { PrincipalIdParam } from '../../http/request/path-params';
import { requireAField } from '../../http/request/shape';
import { MemberService } from './member.service';
import { ALICE, CAROL, ListPrincipalsQuery, Member, Principal, PutMemberBody, PutPrincipalBody } from './member.views';

const WHO_MAY_WHAT =
  'A human `account_admin` may do it too, whatever its role, and give any role. Nobody else assigns a role above its own. Only an owner, or a human `account_admin`, changes the record of a `tenant_owner`; an `account_admin` who is no owner changes its `allow_counterparty_access` alone. The last `tenant_owner` stays (409). Assigning `tenant_owner`, and what only a human `account_admin` may do, takes a human by its record and by its token (422). A principal that is no member, or was removed, is invited (`status` is `pending`) and has no right until it accepts; with `MEMBERSHIP_CONSENT=trusted` one of the deployment’s identity project becomes a member at once. What is not given is then `tenant_reader`, `member`, no counterparty access. A principal that blocks the tenant is not added (409).';

@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class MembersController {
  constructor(private readonly members: MemberService) {}

  @Put('members/:principal_id')
  @ApiRoute('Give a principal a role in the tenant', RULES.manageMembers, {
    description: WHO_MAY_WHAT,
    answers: { 200: answer('The member.', Member, Member.of(CAROL)) },
    errors: ['limit_reached', 'conflict', 'human_principal_required'],
  })
  async putMember(
    @CurrentPrincipal() caller: Caller,
    @ActorParam() actor: Acting,
    @PrincipalIdParam() principalId: string,
    @JsonBody(PutMemberBody) { role, principal_type }: PutMemberBody,
  ): Promise<Member> {
    return Member.of(await this.members.put(caller, actor, principalId, { role, principalType: principal_type }));
  }

  @Delete('members/:principal_id')
  @ApiRoute('Remove a member, or take an invitation back', RULES.manageMembers, {
    description:
      'Its token is refused from then on; transfer offers that it made or got are cancelled. The record stays, with status `removed`. An owner is removed by owners alone, the last `tenant_owner` by nobody (409).',
    answers: { 204: { description: 'Removed.' } },
    errors: ['not_found', 'conflict'],
  })
  async removeMember(@ActorParam() actor: Acting, @PrincipalIdParam() principalId: string): Promise<void> {
    await this.members.remove(actor, principalId);
  }

  @Put('principals/:principal_id')
  @ApiRoute("Change a principal's access record, field by field", RULES.manageMembers, {
    description: `${WHO_MAY_WHAT} \`allow_counterparty_access: true\`, a change of \`tenancy_role\`, and making a record \`human\` again take a human \`account_admin\`: 403 for other admins, 422 for an \`account_admin\` that is not human.`,
    answers: { 200: answer('The record.', Principal, Principal.of(CAROL)) },
    errors: ['limit_reached', 'conflict', 'human_principal_required'],
  })
  async putPrincipal(
    @CurrentPrincipal() caller: Caller,
    @ActorParam() actor: Acting,
    @PrincipalIdParam() principalId: string,
    @JsonBody(PutPrincipalBody) body: PutPrincipalBody,
  ): Promise<Principal> {
    requireAField(body);
    const change = {
      role: body.api_functional_role,
      tenancyRole: body.tenancy_role,
      principalType: body.principal_type,
      allowCounterpartyAccess: body.allow_counterparty_access,
    };
    return Principal.of(await this.members.put(caller, actor, principalId, change));
  }

  @Get('principals')
  @ApiRoute("The tenant's principals, removed ones included, by principal_id", RULES.readMembers, {
    description: '`status` says who is removed, as a filter too.',
    answers: { 200: pageAnswer('One page.', Principal, [Principal.of(ALICE), Principal.of(CAROL)], UNPAGED.default) },
  })
  async listPrincipals(
    @ActorParam() actor: Actor,
    @PageOf(UNPAGED, ListPrincipalsQuery) paging: Paging<ListPrincipalsQuery>,
  ): Promise<{ items: Principal[] } & PageView> {
    const { status } = paging.query;
    return paging.answer(await this.members.list(actor, status ?? null, paging.at()), Principal.of);
  }
}
