import { type Actor, RULES, type SentEnvelope } from '@iss/domain';
import { Controller, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../../http/request/actor.decorator';
import { JsonText, type LiveStream } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot.decorator';
import { ApiRoute } from '../../../http/describe/openapi';
import { BatchLines } from '../../../http/request/batch-lines';
import { Trace } from '../../../http/request/request-id';
import type { RequestTrace } from '../../../request-trace';
import type { SentLine } from '../../../sent-line';
import { ApiEnvelopeLines, BATCH_RESULTS, batchAnswer } from './batch.views';
import { BatchImportService } from './batch-import.service';
import { EntityStateService } from './entity-state.service';
import { EnvelopeBody } from './envelope-body.decorator';
import { ApiEnvelopeBody, WRITTEN } from '../snapshot/snapshot.openapi';
import { snapshotText } from '../snapshot/snapshot.views';

@ApiTags('Initial state')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/entity-states')
export class EntityStatesController {
  constructor(
    private readonly entityStates: EntityStateService,
    private readonly batches: BatchImportService,
  ) {}

  @Hot()
  @Post()
  @ApiRoute(
    "Write a subject's first snapshot and become its owner; or, as owner, the version after the latest",
    RULES.submitFirstState,
    {
      description: 'The envelope is stored as its RFC 8785 text, and `envelope_hash` is the SHA-256 of it.',
      answers: WRITTEN,
      errors: ['conflict', 'damaged'],
    },
  )
  @ApiEnvelopeBody()
  async createEntityState(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @EnvelopeBody() envelope: SentEnvelope,
  ): Promise<JsonText> {
    const snapshot = await this.entityStates.submit(actor, trace, envelope);
    return new JsonText(snapshotText(snapshot, 'full'));
  }
  @Post('batch')
  @ApiRoute('Write many snapshots, one envelope a line', RULES.submitFirstState, {
    description:
      'Each line is a write of its own, with the rules of `POST …/entity-states`: a bad one does not keep the others from ' +
      'being stored. Lines of one subject are written in their order. Results come while lines are being sent, in their ' +
      'order; read them meanwhile, or send at most 10,000 lines. If the connection breaks, send everything again: what was ' +
      'stored is answered 200. A line counts as one request against the rate; where that is used up, the answer waits for the ' +
      'next minute once, and then tells the line 429 with `retry_after`. No `Idempotency-Key`: a line is known by its ' +
      '`snapshot_id`. Who sends so slowly that no line ends in 30 seconds gets a last result 408.',
    answers: { 200: BATCH_RESULTS },
    takesNoKey: true,
  })
  @ApiEnvelopeLines()
  async importEntityStates(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @BatchLines(RULES.submitFirstState.role) lines: AsyncIterable<readonly SentLine[]>,
  ): Promise<LiveStream> {
    return batchAnswer(await this.batches.import(actor, trace, lines), trace.requestId);
  }
}
