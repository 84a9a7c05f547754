import { type Actor, RULES } from '@iss/domain';
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { QueryOf } from '../../http/lists/query';
import { ActorParam } from '../../http/request/actor.decorator';
import { ChangeFeedService } from './change-feed.service';
import { changeItem, ChangePage, CHANGES_EXAMPLE, CHANGES_LIMIT, ChangesQuery } from './change.views';

/** Before the first entry of the log. */
const BEFORE_ALL = -1;

@ApiTags('Change feed')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class ChangesController {
  constructor(private readonly feed: ChangeFeedService) {}

  @Get('changes')
  @ApiRoute('What changed of all that the tenant owns or may read, in the order of the log', RULES.readChanges, {
    description:
      'Every entry of the transparency log about a subject that the tenant owns or may read at this moment, from the first ' +
      'one on; grants to and by the tenant; its changes of owner. What others own is shown by a live grant with `read_latest` or ' +
      '`read_lineage`, to principals whose `allow_counterparty_access` is on.',
    answers: { 200: answer('The next items.', ChangePage, CHANGES_EXAMPLE) },
  })
  async listChanges(@ActorParam() actor: Actor, @QueryOf(ChangesQuery) query: ChangesQuery): Promise<ChangePage> {
    const { after, limit, type, subject_type: subjectType } = query;
    const { items, next, hasMore } = await this.feed.read(actor, {
      after: after === undefined ? BEFORE_ALL : Number(after),
      limit: limit === undefined ? CHANGES_LIMIT.default : Number(limit),
      type,
      subjectType,
    });
    return { items: items.map(changeItem), next_after: next === BEFORE_ALL ? null : next, has_more: hasMore };
  }
}
