import { type Actor, DomainError, type ErrorCode, requireAccess, RULES } from '@iss/domain';
import { type FeedChanges, type ChangesRequest, type FeedPlace, FeedStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { FeedWatch, tooManyFollow } from './feed-watch';

/** How often a stream sends a sign of life, and checks whether its reader still has access. */
const HEARTBEAT_MS = 10_000;
/** A reader that loses access gets no error in the middle of a stream: the stream ends. */
const ENDS_A_STREAM: readonly ErrorCode[] = ['unauthorized', 'forbidden'];

/** Reads the changes to subjects that a tenant owns or may read, for its members. */
@Injectable()
export class ChangeFeedService {
  constructor(
    private readonly feeds: FeedStore,
    private readonly watch: FeedWatch,
  ) {}

  /** Returns the next entries of the log that the caller may currently see. Throws `forbidden`. */
  async read(actor: Actor, request: ChangesRequest): Promise<FeedChanges> {
    const { facts, changes } = await this.feeds.changes(actor, request);
    requireAccess(facts, RULES.readChanges);
    return changes;
  }

  /**
   * Reads like {@link read}. If there is nothing, waits up to `waitMs` for an entry, or until the signal. Does not wait
   * if too many requests wait already. Throws `forbidden`, also while it waits.
   */
  async readWaiting(actor: Actor, request: ChangesRequest, waitMs: number, closed: AbortSignal): Promise<FeedChanges> {
    const deadlineMs = performance.now() + waitMs;
    let changes = await this.read(actor, request);
    if (hasNews(changes) || waitMs === 0) return changes;
    const ended = new AbortController();
    const signal = AbortSignal.any([closed, ended.signal]);
    try {
      if (!(await this.watch.follow(actor, signal))) return changes;
      while (await this.watch.news(placeOf(actor, changes), deadlineMs - performance.now(), signal)) {
        changes = await this.read(actor, { ...request, after: changes.next });
        if (hasNews(changes)) break;
      }
      return changes;
    } finally {
      ended.abort();
    }
  }

  /**
   * Yields every batch of changes as it appears, and null from time to time while there is none. Ends on the signal,
   * when the process ends, or when the reader loses access: `stillKnown` throws, or its membership has ended. For the
   * first batch, throws like {@link read}, and `unavailable` if too many requests follow feeds.
   */
  async *stream(
    actor: Actor,
    request: ChangesRequest,
    stillKnown: () => Promise<unknown>,
    closed: AbortSignal,
  ): AsyncGenerator<FeedChanges | null> {
    let changes = await this.read(actor, request);
    const ended = new AbortController();
    const signal = AbortSignal.any([closed, ended.signal]);
    try {
      if (!(await this.watch.follow(actor, signal))) throw tooManyFollow();
      yield changes;
      for (;;) {
        if (!changes.hasMore) await this.watch.news(placeOf(actor, changes), HEARTBEAT_MS, signal);
        if (signal.aborted || this.watch.isEnding) return;
        await stillKnown();
        changes = await this.read(actor, { ...request, after: changes.next });
        yield changes.items.length > 0 ? changes : null;
      }
    } catch (error) {
      if (!(error instanceof DomainError) || !ENDS_A_STREAM.includes(error.code)) throw error;
    } finally {
      ended.abort();
    }
  }
}

function placeOf({ tenantId }: Actor, { next }: FeedChanges): FeedPlace {
  return { tenantId, after: next };
}

function hasNews({ items, hasMore }: FeedChanges): boolean {
  return items.length > 0 || hasMore;
}
