import { type Actor, RULES, type SentEnvelope } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { ENTITY_STATES } from '@iss/contract';
import { ActorParam } from '../../../http/request/actor.decorator';
import { JsonText, type LiveStream } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot-routes';
import { BatchLines } from '../../../http/request/batch-lines';
import { Trace } from '../../../http/request/request-id';
import type { RequestTrace } from '../../../request-trace';
import type { SentLine } from '../../../sent-line';
import { batchAnswer } from './batch.views';
import { BatchImportService } from './batch-import.service';
import { EntityStateService } from './entity-state.service';
import { EnvelopeBody } from './envelope-body.decorator';
import { showWhole } from '../snapshot/shown-snapshots';
import { snapshotText } from '../snapshot/snapshot.views';
import { Operation } from '../../../http/describe/operation.decorator';

@Controller()
export class EntityStatesController {
  constructor(
    private readonly entityStates: EntityStateService,
    private readonly batches: BatchImportService,
  ) {}

  @Hot()
  @Operation(ENTITY_STATES.createEntityState)
  async createEntityState(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @EnvelopeBody() envelope: SentEnvelope,
  ): Promise<JsonText> {
    const snapshot = await this.entityStates.submit(actor, trace, envelope);
    return new JsonText(snapshotText(showWhole(snapshot), 'full'));
  }
  @Operation(ENTITY_STATES.importEntityStates)
  async importEntityStates(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @BatchLines(RULES.submitFirstState.role) lines: AsyncIterable<readonly SentLine[]>,
  ): Promise<LiveStream> {
    return batchAnswer(await this.batches.import(actor, trace, lines), trace.requestId);
  }
}
