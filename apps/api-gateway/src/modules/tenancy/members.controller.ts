import { type Acting, type Actor, RULES } from '@iss/domain';
import { Controller, Delete, Get, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { requireAField } from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal as Caller } from '../../auth/principal';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { PrincipalIdParam } from '../../http/request/path-params';
import { MemberService } from './member.service';
import { ALICE, CAROL, ListPrincipalsQuery, Member, Principal, PutMemberBody, PutPrincipalBody } from './member.views';

const WHO_MAY_WHAT =
  'A caller cannot assign a role above its own. Only an owner can change the record of a `tenant_owner`. A ' +
  'human `account_admin` is exempt from both rules; an `account_admin` who is not an owner can change only ' +
  '`allow_counterparty_access` of a `tenant_owner`. The last `tenant_owner` cannot be removed (409). ' +
  'Assigning `tenant_owner`, and everything reserved for a human `account_admin`, needs a human by record ' +
  'and by token (422).\n\nA new or removed principal is invited: it is `pending` and has no right until it ' +
  'accepts. With `MEMBERSHIP_CONSENT=trusted`, a principal of the deployment’s identity project becomes a ' +
  'member immediately. Missing fields default to `tenant_reader`, `member` and no counterparty access. A ' +
  'principal that blocks the tenant is not added (409). See [/docs/membership](/docs/membership).';

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
  @ApiRoute('Remove a member, or withdraw an invitation', RULES.manageMembers, {
    description:
      'The member loses access to the tenant immediately. Transfer offers that it made or received are ' +
      'cancelled. The record stays, with the status `removed`. Only an owner can remove an owner. The last ' +
      '`tenant_owner` cannot be removed (409).',
    answers: { 204: { description: 'Removed.' } },
    errors: ['not_found', 'conflict'],
  })
  async removeMember(@ActorParam() actor: Acting, @PrincipalIdParam() principalId: string): Promise<void> {
    await this.members.remove(actor, principalId);
  }

  @Put('principals/:principal_id')
  @ApiRoute("Change single fields of a principal's access record", RULES.manageMembers, {
    description:
      `${WHO_MAY_WHAT} \`allow_counterparty_access: true\`, a change of \`tenancy_role\`, and a change back to ` +
      '`human` need a human `account_admin`: 403 for other admins, 422 for an `account_admin` that is not human.',
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
  @ApiRoute("List the tenant's principals, including removed ones, by principal_id", RULES.readMembers, {
    description: '`status` shows if a principal was removed; it is also a filter.',
    answers: { 200: pageAnswer('One page.', Principal, [Principal.of(ALICE), Principal.of(CAROL)]) },
  })
  async listPrincipals(
    @ActorParam() actor: Actor,
    @PageOf(ListPrincipalsQuery) paging: Paging<ListPrincipalsQuery>,
  ): Promise<{ items: Principal[] } & PageView> {
    const { status } = paging.query;
    return paging.answer(await this.members.list(actor, status ?? null, paging.at()), Principal.of);
  }
}
