import type { JsonValue } from '@iss/domain';
import { Controller, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { JsonBody } from '../../http/json-body';
import { JsonText } from '../../http/json-text';
import { TenantIdParam } from '../../http/path-params';
import { type RequestTrace, Trace } from '../../http/request-id';
import { EntityStateService } from './entity-state.service';
import { ApiEntityStateWrite } from './snapshot.openapi';
import { snapshotText } from './snapshot.views';

@ApiTags('Initial state')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/entity-states')
export class EntityStatesController {
  constructor(private readonly entityStates: EntityStateService) {}

  @Post()
  @ApiOperation({
    summary: "Write a subject's first snapshot and become its owner; or, as owner, the version after the latest",
    description:
      'Role: tenant_editor. The envelope is stored as its RFC 8785 text, and `envelope_hash` is the SHA-256 of it.',
  })
  @ApiEntityStateWrite()
  async submit(
    @TenantIdParam() tenantId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody() body: JsonValue,
  ): Promise<JsonText> {
    const writer = { tenantId, principalId: principal.principalId, ...trace };
    return new JsonText(snapshotText(await this.entityStates.submit(writer, body), 'full'));
  }
}
