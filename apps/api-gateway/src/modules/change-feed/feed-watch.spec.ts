import type { FeedPlace } from '@iss/persistence';
import { createLogger } from '@iss/platform';
import { Registry } from 'prom-client';
import { waitFor } from '../../../../../tools/testing/wait-for';
import { FeedWatch, MAX_FOLLOWERS, MAX_FOLLOWERS_PER_PRINCIPAL } from './feed-watch';

const never = new AbortController().signal;
/** Each tenant has its own founder. */
const founders = { of: async (tenantId: string) => `founder of ${tenantId}` };

/** Feeds with this number of entries, all of which are in the feed of `busy`. */
class Feeds {
  length = 10;
  busy = '';
  looks = 0;
  asked: string[][] = [];
  fails = false;

  size = async (): Promise<number> => {
    this.looks += 1;
    if (this.fails) throw new Error('away');
    return this.length;
  };
  lagMs = async (): Promise<number> => 0;
  news = async (places: readonly FeedPlace[]): Promise<boolean[]> => {
    this.asked.push(places.map(({ tenantId }) => tenantId));
    return places.map(({ tenantId, after }) => tenantId === this.busy && after < this.length - 1);
  };
}

function open() {
  const feeds = new Feeds();
  return {
    feeds,
    watch: new FeedWatch(founders, feeds, createLogger({ name: 'test', level: 'silent' }), new Registry()),
  };
}

it('FeedWatch queries once for all waiters, and wakes only those with new entries', async () => {
  const { feeds, watch } = open();
  const waits = Array.from({ length: 50 }, (_, index) =>
    watch.news({ tenantId: index < 25 ? 'acme' : 'beta', after: 9 }, 60_000, never),
  );
  await waitFor(() => feeds.looks >= 3);
  expect(feeds.asked.map((one) => one.length)).toEqual([50]);
  Object.assign(feeds, { length: 11, busy: 'acme' });
  expect(await Promise.all(waits.slice(0, 25))).toEqual(waits.slice(0, 25).map(() => true));
  expect(feeds.asked).toHaveLength(2);
  watch.onModuleDestroy();
  expect(await Promise.all(waits.slice(25))).toEqual(waits.slice(25).map(() => false));
});

it('FeedWatch retries while the database is down, and returns false on abort or timeout', async () => {
  const { feeds, watch } = open();
  feeds.fails = true;
  const waiting = watch.news({ tenantId: 'acme', after: 5 }, 60_000, never);
  await waitFor(() => feeds.looks >= 2);
  Object.assign(feeds, { fails: false, busy: 'acme' });
  expect(await waiting).toBe(true);
  const gone = new AbortController();
  const left = watch.news({ tenantId: 'acme', after: 9 }, 60_000, gone.signal);
  gone.abort();
  expect(await left).toBe(false);
  expect(await watch.news({ tenantId: 'acme', after: 9 }, 10, never)).toBe(false);
});

it('FeedWatch limits the followers per principal and per founder', async () => {
  const { watch } = open();
  const of = (principalId: string, tenantId = 'acme', signal = never) =>
    watch.follow({ tenantId, principalId }, signal);
  const leaving = new AbortController();
  expect(await of('p', 'acme', leaving.signal)).toBe(true);
  for (let place = 1; place < MAX_FOLLOWERS_PER_PRINCIPAL; place++) expect(await of('p')).toBe(true);
  expect(await of('p', 'beta')).toBe(false);
  for (let place = MAX_FOLLOWERS_PER_PRINCIPAL; place < MAX_FOLLOWERS / 4; place++) {
    expect(await of(`p-${place}`)).toBe(true);
  }
  expect([await of('q'), await of('q', 'beta')]).toEqual([false, true]);
  leaving.abort();
  expect(await of('q')).toBe(true);
});
