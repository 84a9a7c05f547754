import { type Actor, DomainError } from '@iss/domain';
import { type FeedPlace, FeedStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo, watchFigure } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { Founders } from '../../access/founders';
import { HeldPlaces } from '../../access/held-places';

/** Between two looks, while anybody waits. */
const LOOK_MS = 100;
/** Requests and streams of a gateway that follow feeds at once; each is little more than its connection. */
export const MAX_FOLLOWERS = 1_000;
/** … of one principal: one for each process that it runs, and some. */
export const MAX_FOLLOWERS_PER_PRINCIPAL = 20;

interface Waiting extends FeedPlace {
  /** How far the feeds were when it was looked up last. */
  lookedAtSize: number;
  settle: (isNew: boolean) => void;
}

/**
 * Those who wait for something new in the feed of a tenant. One look serves all of them, whatever they wait for: whether the
 * feeds have grown, and then, in one statement, whose. In between nobody holds anything of the database.
 */
@Injectable()
export class FeedWatch {
  private readonly waiting = new Set<Waiting>();
  private readonly followers = new HeldPlaces(MAX_FOLLOWERS, MAX_FOLLOWERS_PER_PRINCIPAL);
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private readonly warn: Warn;

  constructor(
    @Inject(Founders) private readonly founders: Pick<Founders, 'of'>,
    @Inject(FeedStore) private readonly feeds: Pick<FeedStore, 'size' | 'news' | 'lagMs'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(Registry) metrics: Registry,
  ) {
    this.warn = rarely(warnTo(logger));
    watchFigure(metrics, {
      name: 'feed_lag_seconds',
      help: 'Age of the oldest committed fact that is in the log but not in the change feeds',
      read: async () => (await feeds.lagMs()) / 1_000,
    });
    const count = (): number => this.followers.held;
    new Gauge({
      name: 'feed_followers',
      help: `Requests and streams that follow a change feed; at most ${MAX_FOLLOWERS}`,
      registers: [metrics],
      collect() {
        this.set(count());
      },
    });
  }

  /** Whether streams and waiting are to end, since the process does. */
  get isEnding(): boolean {
    return this.isClosed;
  }

  /** Takes a place until the signal; false where there is none left for the principal, or for the tenant's founder. */
  async follow({ principalId, tenantId }: Actor, signal: AbortSignal): Promise<boolean> {
    const founderId = await this.founders.of(tenantId);
    if (this.isClosed || signal.aborted) return false;
    const leave = this.followers.take(principalId, founderId);
    if (leave === null) return false;
    signal.addEventListener('abort', leave, { once: true });
    return true;
  }

  /** Resolves with whether there may be something beyond the place: at once when there is, with false after so long. */
  news({ tenantId, after }: FeedPlace, waitMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.isClosed || signal.aborted || waitMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const give = (): void => waiting.settle(false);
      const timeout = setTimeout(give, waitMs);
      const waiting: Waiting = {
        tenantId,
        after,
        lookedAtSize: -1,
        settle: (isNew) => {
          clearTimeout(timeout);
          signal.removeEventListener('abort', give);
          this.waiting.delete(waiting);
          resolve(isNew);
        },
      };
      signal.addEventListener('abort', give, { once: true });
      this.waiting.add(waiting);
      this.lookSoon();
    });
  }

  /** Before connections are waited for: those who follow come again, to another gateway. */
  onModuleDestroy(): void {
    this.isClosed = true;
    for (const { settle } of [...this.waiting]) settle(false);
  }

  private lookSoon(): void {
    this.timer ??= setTimeout(() => {
      this.look()
        .catch((error: unknown) => this.warn('New entries of the change feeds cannot be announced; retrying', error))
        .finally(() => {
          this.timer = undefined;
          if (this.waiting.size > 0) this.lookSoon();
        });
    }, LOOK_MS);
  }

  private async look(): Promise<void> {
    const size = await this.feeds.size();
    const asked = [...this.waiting].filter(({ lookedAtSize }) => lookedAtSize < size);
    if (asked.length === 0) return;
    const news = await this.feeds.news(asked);
    asked.forEach((one, index) => {
      one.lookedAtSize = size;
      if (news[index] === true) one.settle(true);
    });
  }
}

/** What a stream is told for which there is no place. */
export function tooManyFollow(): DomainError {
  return new DomainError(
    'unavailable',
    `Too many requests follow change feeds. A principal may have ${MAX_FOLLOWERS_PER_PRINCIPAL} at each ` +
      'gateway, and all tenants of one founder a quarter of the places. End one of yours, or read without ' +
      'waiting.',
  );
}
