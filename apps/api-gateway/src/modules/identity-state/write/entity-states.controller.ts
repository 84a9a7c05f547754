import { type Actor, RULES, type SealedEnvelope } from '@iss/domain';
import { Controller, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../../http/request/actor.decorator';
import { JsonText } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot.decorator';
import { ApiRoute } from '../../../http/describe/openapi';
import { Trace } from '../../../http/request/request-id';
import type { RequestTrace } from '../../../request-trace';
import { EntityStateService } from './entity-state.service';
import { EnvelopeBody } from './envelope-body.decorator';
import { ApiEnvelopeBody, WRITTEN } from '../snapshot/snapshot.openapi';
import { snapshotText } from '../snapshot/snapshot.views';

@ApiTags('Initial state')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/entity-states')
export class EntityStatesController {
  constructor(private readonly entityStates: EntityStateService) {}

  @Hot()
  @Post()
  @ApiRoute(
    "Write a subject's first snapshot and become its owner; or, as owner, the version after the latest",
    RULES.submitFirstState,
    {
      description: 'The envelope is stored as its RFC 8785 text, and `envelope_hash` is the SHA-256 of it.',
      answers: WRITTEN,
      errors: ['conflict'],
    },
  )
  @ApiEnvelopeBody()
  async createEntityState(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @EnvelopeBody() envelope: SealedEnvelope,
  ): Promise<JsonText> {
    const snapshot = await this.entityStates.submit(actor, trace, envelope);
    return new JsonText(snapshotText(snapshot, 'full'));
  }
}
