import { type Actor, DomainError, type ErrorCode, requireAccess, RULES } from '@iss/domain';
import { type Changes, type ChangesRequest, type FeedPlace, FeedStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { FeedWatch, tooManyFollow } from './feed-watch';

/** A stream says that it lives so often, and asks as often whether its reader still may read. */
const HEARTBEAT_MS = 10_000;
/** Whoever may no longer read is not told so in the middle of a stream: it ends. */
const ENDS_A_STREAM: readonly ErrorCode[] = ['unauthorized', 'forbidden'];

/** What changed of what a tenant owns or may read, for its members. */
@Injectable()
export class ChangeFeedService {
  constructor(
    private readonly feeds: FeedStore,
    private readonly watch: FeedWatch,
  ) {}

  /** The next entries of the log that the caller may see at this moment. Throws `forbidden`. */
  async read(actor: Actor, request: ChangesRequest): Promise<Changes> {
    const { facts, changes } = await this.feeds.changes(actor, request);
    requireAccess(facts, RULES.readChanges);
    return changes;
  }

  /**
   * The same; where there is nothing, it waits so long for something, or until the signal. Where too many wait it does not.
   * Throws `forbidden`, also while it waits.
   */
  async readWaiting(actor: Actor, request: ChangesRequest, waitMs: number, closed: AbortSignal): Promise<Changes> {
    const deadlineMs = performance.now() + waitMs;
    let changes = await this.read(actor, request);
    if (isWorthTelling(changes) || waitMs === 0) return changes;
    const ended = new AbortController();
    const signal = AbortSignal.any([closed, ended.signal]);
    try {
      if (!(await this.watch.follow(actor, signal))) return changes;
      while (await this.watch.news(placeOf(actor, changes), deadlineMs - performance.now(), signal)) {
        changes = await this.read(actor, { ...request, after: changes.next });
        if (isWorthTelling(changes)) break;
      }
      return changes;
    } finally {
      ended.abort();
    }
  }

  /**
   * Every batch of changes as it comes, null now and then while there is none, until the signal. It ends when the process
   * does, and when its reader may no longer read: `stillKnown` throws, or its membership has ended. Throws for the first
   * batch as {@link read}, and `unavailable` when too many follow.
   */
  async *stream(
    actor: Actor,
    request: ChangesRequest,
    stillKnown: () => Promise<unknown>,
    closed: AbortSignal,
  ): AsyncGenerator<Changes | null> {
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

function placeOf({ tenantId }: Actor, { next }: Changes): FeedPlace {
  return { tenantId, after: next };
}

function isWorthTelling({ items, hasMore }: Changes): boolean {
  return items.length > 0 || hasMore;
}
