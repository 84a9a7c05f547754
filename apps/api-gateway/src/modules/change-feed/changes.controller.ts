import { type Actor, DomainError, normalizePaths, parsePeriod } from '@iss/domain';
import { Controller, Req } from '@nestjs/common';
import type { Request } from 'express';
import { CHANGE_FEED, ChangesQuery, LAST_EVENT_ID, LIST_LIMITS } from '@iss/contract';
import { AuthGuard } from '../../auth/auth.guard';
import { EVENT_STREAM } from '../../http/answer/json-adapter';
import { EventStream, JsonText } from '../../http/answer/json-text';
import { chargeWork } from '../../http/limits/charge-work';
import { QueryOf } from '../../http/lists/query';
import { ActorParam } from '../../http/request/actor.decorator';
import { subjectSent } from '../../http/request/subject-filter';
import { ChangeFeedService } from './change-feed.service';
import { FeedPlaces } from './feed-places';
import { BEFORE_ALL, changePage, eventsIn } from './change.views';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class ChangesController {
  constructor(
    private readonly feed: ChangeFeedService,
    private readonly places: FeedPlaces,
    private readonly auth: AuthGuard,
  ) {}

  @Operation(CHANGE_FEED.listChanges)
  async listChanges(
    @ActorParam() actor: Actor,
    @QueryOf() query: ChangesQuery,
    @Req() request: Request,
  ): Promise<JsonText | EventStream> {
    const { after, limit, type, wait = '0', subject_type: subjectType, subject_id: subjectId, from, paths } = query;
    subjectSent(query, { isTypeEnough: true });
    const asked = {
      after: after === undefined ? BEFORE_ALL : this.places.read(actor.tenantId, after),
      limit: limit === undefined ? LIST_LIMITS.default : Number(limit),
      type,
      subjectType,
      subjectId,
      from: from === undefined ? null : (parsePeriod(from)?.first ?? null),
      paths: paths === undefined ? null : normalizePaths(paths.split(NEXT_PATH), '/query/paths'),
    };
    const closed = closedSignal(request);
    request.res?.vary('Accept');
    if (request.accepts('application/json', EVENT_STREAM) === EVENT_STREAM) {
      const from = { ...asked, after: lastEventOf(request) ?? asked.after };
      const batches = this.feed.stream(actor, from, async () => this.auth.identify(request), closed);
      return new EventStream(eventsIn(batches, (work) => chargeWork(request, work)));
    }
    const changes = await this.feed.readWaiting(actor, asked, Number(wait) * 1000, closed);
    const nextAfter = changes.next === BEFORE_ALL ? null : this.places.seal(actor.tenantId, changes.next);
    return chargeWork(request, () => changePage(changes, nextAfter));
  }
}

/** A comma between two paths. A key may contain commas. */
const NEXT_PATH = /,(?=\/)/;

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
