import { type Actor, RULES, type SentEnvelope } from '@iss/domain';
import { Controller, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../../http/request/actor.decorator';
import { JsonText, type LiveStream } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot-routes';
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
    "Write a subject's first snapshot and become its owner, or write the owner's next version",
    RULES.submitFirstState,
    {
      description:
        'The envelope is stored in canonical form (RFC 8785). `envelope_hash` is the SHA-256 of that text. ' +
        '[/docs/how-to/model](/docs/how-to/model) shows how to model a subject.',
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
  @ApiRoute('Write many snapshots, one envelope per line', RULES.submitFirstState, {
    description:
      'Each line is processed like `POST …/entity-states`. If one line is refused, the others are still stored. ' +
      'Lines of one subject are written in their order.\n\nResults are sent in the order of the lines while you ' +
      'are still sending: read them meanwhile, or send at most 10,000 lines. If the connection breaks, send ' +
      'everything again; stored lines return 200.\n\nEach line counts as one request against the rate limit. If ' +
      'the limit is reached, the batch waits for the next minute, for at most 60 seconds in total. After that, ' +
      'each line above the limit has the status 429 and `retry_after`: send only these lines again. If no line ' +
      'ends within 30 seconds, the last result is 408. `Idempotency-Key` is not allowed, because `snapshot_id` ' +
      'identifies a line.',
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
