import type { SentEnvelope } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { LEGACY_ENTITY_STATES } from '@iss/contract';
import { CurrentPrincipal } from '../../../auth/current-principal.decorator';
import type { Principal } from '../../../auth/principal';
import { JsonText } from '../../../http/answer/json-text';
import { QueryOf } from '../../../http/lists/query';
import { UuidParam } from '../../../http/request/path-params';
import { Trace } from '../../../http/request/request-id';
import type { RequestTrace } from '../../../request-trace';
import { LegacyEntityStateService } from './legacy-entity-state.service';
import { EnvelopeBody } from './envelope-body.decorator';
import { showWhole } from '../snapshot/shown-snapshots';
import { snapshotText } from '../snapshot/snapshot.views';
import { Operation } from '../../../http/describe/operation.decorator';

/** Serves clients that know no tenants (specification, "Initial state"). Registered only if enabled. */
@Controller()
export class LegacyEntityStatesController {
  constructor(private readonly entityStates: LegacyEntityStateService) {}

  @Operation(LEGACY_ENTITY_STATES.createLegacyEntityState)
  async createLegacyEntityState(
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @EnvelopeBody() envelope: SentEnvelope,
  ): Promise<JsonText> {
    return new JsonText(snapshotText(showWhole(await this.entityStates.submit(principal, trace, envelope)), 'full'));
  }

  @Operation(LEGACY_ENTITY_STATES.getLegacyEntityState)
  async getLegacyEntityState(
    @CurrentPrincipal() principal: Principal,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf() _query: object,
  ): Promise<JsonText> {
    const { envelope } = await this.entityStates.read(principal, snapshotId);
    return new JsonText(envelope ?? 'null');
  }
}
