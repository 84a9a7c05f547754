import { type Actor, DomainError } from '@iss/domain';
import { type FeedPlace, FeedStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo, watchFigure } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { Founders } from '../../access/founders';
import { HeldPlaces } from '../../access/held-places';

/** Time between two checks while a request waits. */
const LOOK_MS = 100;
/** How many requests and streams of a gateway may follow feeds. Each costs little more than its connection. */
export const MAX_FOLLOWERS = 1_000;
/** How many of them one principal may have: one for each process that it runs, and some more. */
export const MAX_FOLLOWERS_PER_PRINCIPAL = 20;

interface Waiting extends FeedPlace {
  /** The size of the feeds when this was last looked up. */
  lookedAtSize: number;
  settle: (isNew: boolean) => void;
}

/**
 * Lets requests wait for new entries in the feed of a tenant. One check serves all of them: first whether the feeds
 * have grown, then, in one statement, for which tenants. Waiting requests hold no database resources.
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
    const count = (): number => this.followers.inUse;
    new Gauge({
      name: 'feed_followers',
      help: `Requests and streams that follow a change feed; at most ${MAX_FOLLOWERS}`,
      registers: [metrics],
      collect() {
        this.set(count());
      },
    });
  }

  /** True if streams and waiting requests should end because the process ends. */
  get isEnding(): boolean {
    return this.isClosed;
  }

  /** Takes a place until the signal. Returns false if none is left for the principal or for the tenant's founder. */
  async follow({ principalId, tenantId }: Actor, signal: AbortSignal): Promise<boolean> {
    const founderId = await this.founders.of(tenantId);
    if (this.isClosed || signal.aborted) return false;
    const leave = this.followers.take(principalId, founderId);
    if (leave === null) return false;
    signal.addEventListener('abort', leave, { once: true });
    return true;
  }

  /** Returns whether there may be entries after the place: immediately if so, or false after the time limit. */
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

  /** Runs before the server waits for connections. Followers reconnect to another gateway. */
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

/** Creates the error for a stream that gets no place. */
export function tooManyFollow(): DomainError {
  return new DomainError(
    'unavailable',
    `Too many requests follow change feeds. A principal may have ${MAX_FOLLOWERS_PER_PRINCIPAL} at each ` +
      'gateway, and all tenants of one founder a quarter of the places. End one of yours, or read without ' +
      'waiting.',
  );
}
