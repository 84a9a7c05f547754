import { RULES, type SentEnvelope } from '@iss/domain';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../../auth/current-principal.decorator';
import type { Principal } from '../../../auth/principal';
import { Public } from '../../../auth/public.decorator';
import { JsonText } from '../../../http/answer/json-text';
import { ApiRoute, inLegacyTenant } from '../../../http/describe/openapi';
import { QueryOf } from '../../../http/lists/query';
import { UuidParam } from '../../../http/request/path-params';
import { Trace } from '../../../http/request/request-id';
import type { RequestTrace } from '../../../request-trace';
import { LegacyEntityStateService } from './legacy-entity-state.service';
import { EnvelopeBody } from './envelope-body.decorator';
import { ApiEnvelopeBody, STORED, WRITTEN_BY_ANYBODY } from '../snapshot/snapshot.openapi';
import { IdleQuery } from '../snapshot/snapshot.query';
import { snapshotText } from '../snapshot/snapshot.views';

const WHERE =
  '`local` and `development` always have this path. `staging` and `production` have it only with ' +
  '`LEGACY_ENTITY_STATES=enabled`, and then it needs a token.';

/** Serves clients that know no tenants (specification, "Initial state"). Registered only if enabled. */
@ApiTags('Initial state')
@ApiBearerAuth()
@ApiSecurity({})
@Controller('v1/entity-states')
export class LegacyEntityStatesController {
  constructor(private readonly entityStates: LegacyEntityStateService) {}

  @Post()
  @Public('legacy_paths_are_public')
  @ApiRoute('Write a snapshot for the legacy tenant', inLegacyTenant(RULES.submitFirstState), {
    description:
      `${WHERE} The snapshot belongs to the tenant \`LEGACY_TENANT_ID\`. If a token is needed, the caller must be ` +
      'at least `tenant_editor` there. Use `POST /v1/tenants/{tenant_id}/entity-states` instead.',
    deprecated: true,
    answers: WRITTEN_BY_ANYBODY,
    errors: ['forbidden', 'conflict', 'damaged'],
  })
  @ApiEnvelopeBody()
  async createLegacyEntityState(
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @EnvelopeBody() envelope: SentEnvelope,
  ): Promise<JsonText> {
    return new JsonText(snapshotText(await this.entityStates.submit(principal, trace, envelope), 'full'));
  }

  @Get(':snapshot_id')
  @Public('legacy_paths_are_public')
  @ApiRoute('Read a stored envelope by its snapshot_id', 'anyone', {
    description:
      `${WHERE} Without a token, only snapshots of the tenant \`LEGACY_TENANT_ID\` are returned. A caller with a ` +
      'token can also read snapshots that it may read by id, as a member of the owner or through a grant with ' +
      '`read_snapshot_by_id`. All others return 404. Use `GET /v1/snapshots/{snapshot_id}` instead.',
    deprecated: true,
    answers: STORED,
    errors: ['not_found', 'erased', 'damaged'],
  })
  async getLegacyEntityState(
    @CurrentPrincipal() principal: Principal,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(IdleQuery) _query: object,
  ): Promise<JsonText> {
    const { envelope } = await this.entityStates.read(principal, snapshotId);
    return new JsonText(envelope ?? 'null');
  }
}
