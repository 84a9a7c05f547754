import { type Actor, RULES } from '@iss/domain';
import { applyDecorators, Controller, Delete, Get, HttpCode, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../http/request/actor.decorator';
import { JsonBody } from '../../http/request/json-body';
import { ApiAnswer, ApiErrors, ApiPathParam, ApiRoute, ApiTenantParam } from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, PageQuery, type PageView, type Paging } from '../../http/lists/paging';
import { PRINCIPAL_ID, PrincipalIdParam } from '../../http/request/path-params';
import { QueryOf } from '../../http/lists/query';
import { PutMemberBody, PutPrincipalBody } from './member.dto';
import { MemberService } from './member.service';
import {
  MEMBER,
  MEMBER_EXAMPLE,
  type MemberView,
  memberView,
  OWNER_EXAMPLE,
  PRINCIPAL,
  PRINCIPAL_EXAMPLE,
  type PrincipalView,
  principalView,
} from './member.views';
import { requireAField } from './partial-body';

const ApiPrincipalParam = (): MethodDecorator =>
  ApiPathParam(
    'principal_id',
    'A principal; percent-encoded: `:` as `%3A`, `#` as `%23`.',
    { type: 'string', pattern: PRINCIPAL_ID.source },
    'oidc:dev#carol',
  );

const ApiUpsertErrors = (): MethodDecorator =>
  applyDecorators(
    ApiErrors('validation_error', 'unauthorized', 'forbidden', 'conflict'),
    ApiErrors('payload_too_large', 'unsupported_media_type', 'human_principal_required'),
  );

const WHO_MAY_WHAT =
  'Nobody assigns a role above its own; an owner’s record is changed by owners alone, and the last `tenant_owner` stays (409). Assigning `tenant_owner` takes a human (422). A principal that is no member, or was removed, becomes one; what is not given is then `tenant_reader`, `member`, no counterparty access.';

@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class MembersController {
  constructor(private readonly members: MemberService) {}

  @Put('members/:principal_id')
  @ApiRoute('Give a principal a role in the tenant', RULES.manageMembers, { description: WHO_MAY_WHAT })
  @ApiTenantParam()
  @ApiPrincipalParam()
  @ApiBody({ type: PutMemberBody, examples: { editor: { value: { role: 'tenant_editor' } } } })
  @ApiAnswer(200, 'The member.', MEMBER, MEMBER_EXAMPLE)
  @ApiUpsertErrors()
  async putMember(
    @ActorParam() actor: Actor,
    @PrincipalIdParam() principalId: string,
    @JsonBody(PutMemberBody) { role }: PutMemberBody,
  ): Promise<MemberView> {
    return memberView(await this.members.put(actor, principalId, { role }));
  }

  @Delete('members/:principal_id')
  @HttpCode(204)
  @ApiRoute('Remove a member', RULES.manageMembers, {
    description:
      'Its token is refused from then on; transfer offers that it made or got are cancelled. The record stays, with status `removed`. An owner is removed by owners alone, the last `tenant_owner` by nobody (409).',
  })
  @ApiTenantParam()
  @ApiPrincipalParam()
  @ApiResponse({ status: 204, description: 'Removed.' })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden', 'not_found', 'conflict')
  async remove(@ActorParam() actor: Actor, @PrincipalIdParam() principalId: string): Promise<void> {
    await this.members.remove(actor, principalId);
  }

  @Put('principals/:principal_id')
  @ApiRoute("Change a principal's access record, field by field", RULES.manageMembers, {
    description: `${WHO_MAY_WHAT} \`allow_counterparty_access: true\`, a change of \`tenancy_role\`, and making a record \`human\` again take a human \`account_admin\`: 403 for other admins, 422 for an \`account_admin\` that is not human.`,
  })
  @ApiTenantParam()
  @ApiPrincipalParam()
  @ApiBody({ type: PutPrincipalBody, examples: { counterparty: { value: { allow_counterparty_access: true } } } })
  @ApiAnswer(200, 'The record.', PRINCIPAL, PRINCIPAL_EXAMPLE)
  @ApiUpsertErrors()
  async putPrincipal(
    @ActorParam() actor: Actor,
    @PrincipalIdParam() principalId: string,
    @JsonBody(PutPrincipalBody) body: PutPrincipalBody,
  ): Promise<PrincipalView> {
    requireAField(body);
    const change = {
      role: body.api_functional_role,
      tenancyRole: body.tenancy_role,
      principalType: body.principal_type,
      allowCounterpartyAccess: body.allow_counterparty_access,
    };
    return principalView(await this.members.put(actor, principalId, change));
  }

  @Get('principals')
  @ApiRoute("The tenant's principals, removed ones included, by principal_id", RULES.readMembers)
  @ApiTenantParam()
  @ApiAnswer(200, 'One page.', listSchema(PRINCIPAL), listExample([OWNER_EXAMPLE, PRINCIPAL_EXAMPLE], 200))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async listPrincipals(
    @ActorParam() actor: Actor,
    @QueryOf(PageQuery) _query: PageQuery,
    @PageOf({ default: 200, max: 200 }) paging: Paging,
  ): Promise<{ items: PrincipalView[] } & PageView> {
    return paging.answer(await this.members.list(actor, paging.at()), principalView);
  }
}
