import { type Actor, DomainError, parsePeriod, RULES } from '@iss/domain';
import { Controller, Get, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { LIST_LIMITS } from '@iss/contract';
import { AuthGuard } from '../../auth/auth.guard';
import { EVENT_STREAM } from '../../http/answer/json-adapter';
import { EventStream, JsonText } from '../../http/answer/json-text';
import { type Answer, answer, ApiRoute } from '../../http/describe/openapi';
import { charged } from '../../http/limits/charged';
import { QueryOf } from '../../http/lists/query';
import { ActorParam } from '../../http/request/actor.decorator';
import { subjectSent } from '../../http/request/subject-filter';
import { ChangeFeedService } from './change-feed.service';
import { FeedPlaces } from './feed-places';
import {
  BEFORE_ALL,
  ChangePage,
  changePage,
  CHANGES_EXAMPLE,
  ChangesQuery,
  EVENTS_EXAMPLE,
  eventsIn,
} from './change.views';

const LAST_EVENT_ID = 'Last-Event-ID';

const { description, content } = answer(
  'The next entries. A stream sends them and then each new entry.',
  ChangePage,
  CHANGES_EXAMPLE,
);
const CHANGES: Answer = {
  description,
  content: { ...content, [EVENT_STREAM]: { schema: { type: 'string' }, example: EVENTS_EXAMPLE } },
};

@ApiTags('Change feed')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class ChangesController {
  constructor(
    private readonly feed: ChangeFeedService,
    private readonly places: FeedPlaces,
    private readonly auth: AuthGuard,
  ) {}

  @Get('changes')
  @ApiRoute(
    'List the changes to subjects that the tenant owns or may read, in the order of the log',
    RULES.readChanges,
    {
      description:
        'The feed has every entry of the transparency log about a subject that the tenant now owns or may read. ' +
        'It also has the grants to and from the tenant, and its changes of owner. Entries about another tenant’s ' +
        'subject need a live grant with `read_latest` or `read_lineage`, and `allow_counterparty_access` for the ' +
        'caller. With `Accept: text/event-stream`, the response is a stream of server-sent events that stays ' +
        'open. See [/docs/feed](/docs/feed).',
      answers: { 200: CHANGES },
    },
  )
  @ApiHeader({
    name: LAST_EVENT_ID,
    required: false,
    description: 'The `id` of the last event, to resume a stream. It replaces `after`.',
    schema: { type: 'string', example: '41' },
  })
  async listChanges(
    @ActorParam() actor: Actor,
    @QueryOf(ChangesQuery) query: ChangesQuery,
    @Req() request: Request,
  ): Promise<JsonText | EventStream> {
    const { after, limit, type, wait = '0', subject_type: subjectType, subject_id: subjectId, from } = query;
    subjectSent(query, { isTypeEnough: true });
    const asked = {
      after: after === undefined ? BEFORE_ALL : this.places.read(actor.tenantId, after),
      limit: limit === undefined ? LIST_LIMITS.default : Number(limit),
      type,
      subjectType,
      subjectId,
      from: from === undefined ? null : (parsePeriod(from)?.first ?? null),
    };
    const closed = closedSignal(request);
    request.res?.vary('Accept');
    if (request.accepts('application/json', EVENT_STREAM) === EVENT_STREAM) {
      const from = { ...asked, after: lastEventOf(request) ?? asked.after };
      const batches = this.feed.stream(actor, from, async () => this.auth.identify(request), closed);
      return new EventStream(eventsIn(batches, (work) => charged(request, work)));
    }
    const changes = await this.feed.readWaiting(actor, asked, Number(wait) * 1000, closed);
    const nextAfter = changes.next === BEFORE_ALL ? null : this.places.seal(actor.tenantId, changes.next);
    return charged(request, () => changePage(changes, nextAfter));
  }
}

/** Returns a signal that aborts when nobody reads the response any more. */
function closedSignal({ res }: Request): AbortSignal {
  const closed = new AbortController();
  res?.once('close', () => closed.abort());
  return closed.signal;
}

/** Returns the place in `Last-Event-ID`, or null. Throws `validation_error` for an invalid place. */
function lastEventOf(request: Request): number | null {
  const text = request.get(LAST_EVENT_ID);
  if (text === undefined || text === '') return null;
  if (/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  const message = 'must be the id of an event of this feed';
  throw new DomainError('validation_error', `${LAST_EVENT_ID} ${message}.`, [
    { path: `/headers/${LAST_EVENT_ID.toLowerCase()}`, message, code: 'invalid_value' },
  ]);
}
