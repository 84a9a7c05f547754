import type { Acting, Actor } from '@iss/domain';
import { Controller } from '@nestjs/common';
import {
  ListPrincipalsQuery,
  Member,
  MEMBERS,
  type ItemPage,
  Principal,
  PutMemberBody,
  PutPrincipalBody,
  requireAField,
} from '@iss/contract';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal as Caller } from '../../auth/principal';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { PrincipalIdParam } from '../../http/request/path-params';
import { MemberService } from './member.service';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class MembersController {
  constructor(private readonly members: MemberService) {}

  @Operation(MEMBERS.putMember)
  async putMember(
    @CurrentPrincipal() caller: Caller,
    @ActorParam() actor: Acting,
    @PrincipalIdParam() principalId: string,
    @JsonBody() { role, principal_type }: PutMemberBody,
  ): Promise<Member> {
    return Member.of(await this.members.put(caller, actor, principalId, { role, principalType: principal_type }));
  }

  @Operation(MEMBERS.removeMember)
  async removeMember(@ActorParam() actor: Acting, @PrincipalIdParam() principalId: string): Promise<void> {
    await this.members.remove(actor, principalId);
  }

  @Operation(MEMBERS.putPrincipal)
  async putPrincipal(
    @CurrentPrincipal() caller: Caller,
    @ActorParam() actor: Acting,
    @PrincipalIdParam() principalId: string,
    @JsonBody() body: PutPrincipalBody,
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

  @Operation(MEMBERS.listPrincipals)
  async listPrincipals(
    @ActorParam() actor: Actor,
    @PageOf() paging: Paging<ListPrincipalsQuery>,
  ): Promise<ItemPage<Principal>> {
    const { status } = paging.query;
    return paging.answer(await this.members.list(actor, status ?? null, paging.at()), Principal.of);
  }
}
