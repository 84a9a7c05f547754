import type { PendingDelivery } from '@iss/persistence';
import { Dispatcher } from './dispatcher';
import type { AttemptOutcome } from './lane';

type Ending = 'succeeded' | 'slow' | 'failed' | 'nothing';

/** Deliveries that end when the test says so. */
class Deliveries {
  readonly started: PendingDelivery[] = [];
  readonly running = new Map<string, (outcome: AttemptOutcome) => void>();

  readonly deliver = (delivery: PendingDelivery): Promise<AttemptOutcome> =>
    new Promise((resolve) => {
      this.started.push(delivery);
      this.running.set(delivery.deliveryId, resolve);
    });

  async end(deliveryId: string, ending: Ending = 'succeeded', targetHost?: string): Promise<void> {
    const resolve = this.running.get(deliveryId);
    const delivery = this.started.findLast((one) => one.deliveryId === deliveryId);
    if (resolve === undefined || delivery === undefined) throw new Error(`${deliveryId} does not run`);
    this.running.delete(deliveryId);
    resolve(
      ending === 'nothing'
        ? { kind: 'nothing' }
        : {
            kind: ending === 'failed' ? 'failed' : 'succeeded',
            latencyMs: ending === 'slow' ? 5_000 : 20,
            targetHost: targetHost ?? delivery.targetHost,
          },
    );
    await new Promise((settled) => setImmediate(settled));
  }

  /** Ends running deliveries until none runs any more. */
  async endAll(ending: Ending = 'succeeded'): Promise<void> {
    for (let [next] = this.running.keys(); next !== undefined; [next] = this.running.keys())
      await this.end(next, ending);
  }

  /** Gives a subscription deliveries with these endings, one after another. */
  async show(dispatcher: Dispatcher, tenantId: string, subscription: string, endings: Ending[]): Promise<void> {
    for (const [index, delivery] of pending(tenantId, `${subscription}`, endings.length).entries()) {
      dispatcher.offer([delivery]);
      await this.end(delivery.deliveryId, endings[index]);
    }
  }

  ids(): string[] {
    return this.started.map((delivery) => delivery.deliveryId);
  }

  of(prefix: string): string[] {
    return [...this.running.keys()].filter((id) => id.startsWith(prefix));
  }
}

/** `count` deliveries of one subscription: `a/s1#0`, `a/s1#1`, …; a tenant is its own founder, a subscription has its own host. */
function pending(
  tenantId: string,
  subscription: string,
  count: number,
  change: Partial<PendingDelivery> = {},
): PendingDelivery[] {
  const subscriptionId = `${tenantId}/${subscription}`;
  return Array.from({ length: count }, (_, index) => ({
    deliveryId: `${subscriptionId}#${index}`,
    subscriptionId,
    tenantId,
    founderId: tenantId,
    targetHost: `${subscription}.${tenantId}`,
    ...change,
  }));
}

const each = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const FAILING: Ending[] = each(5, () => 'failed');

describe('Dispatcher', () => {
  it('runs every delivery and never exceeds its number of slots', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 6);
    const offered = [...pending('a', 's1', 5), ...pending('a', 's2', 5), ...pending('b', 's1', 5)];
    dispatcher.offer(offered);
    expect(deliveries.running.size).toBeLessThanOrEqual(6);
    expect(dispatcher.load()).toEqual({ running: 2, waiting: 13 });
    await deliveries.endAll();
    expect(deliveries.ids().sort()).toEqual(offered.map((delivery) => delivery.deliveryId).sort());
    expect(dispatcher.load()).toEqual({ running: 0, waiting: 0 });
    expect(dispatcher.slotsHeld()).toEqual({ proven: 0, unproven: 0, failing: 0 });
  });

  it('alternates between founders, tenants of a founder, and subscriptions of a tenant', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 3);
    const of = (founderId: string) => ({ founderId });
    dispatcher.offer([
      ...pending('a', 's1', 2, of('f')),
      ...pending('a', 's2', 2, of('f')),
      ...pending('b', 's1', 2, of('f')),
      ...pending('c', 's1', 4, of('g')),
    ]);
    // Slow deliveries keep the only slot for endpoints that are not known to be quick.
    await deliveries.endAll('slow');
    expect(deliveries.ids()).toEqual([
      'a/s1#0',
      'c/s1#0',
      'b/s1#0',
      'c/s1#1',
      'a/s2#0',
      'c/s1#2',
      'b/s1#1',
      'c/s1#3',
      'a/s1#1',
      'a/s2#1',
    ]);
  });

  it('does not run a delivery twice at the same time', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 10);
    const [one] = pending('a', 's', 1);
    if (one === undefined) throw new Error('no delivery');
    dispatcher.offer([one, one]);
    dispatcher.offer([one]);
    expect(deliveries.started).toHaveLength(1);
    await deliveries.end(one.deliveryId, 'failed');
    dispatcher.offer([one]);
    expect(deliveries.started).toHaveLength(2);
  });

  it('counts a delivery that throws as a failure', async () => {
    let calls = 0;
    const throwFiveTimes = (): Promise<never> => {
      calls += 1;
      return calls > 5 ? new Promise(() => undefined) : Promise.reject(new Error('unforeseen'));
    };
    const dispatcher = new Dispatcher(throwFiveTimes, 3);
    dispatcher.offer(pending('a', 's', 6));
    await new Promise((resolve) => setImmediate(resolve));
    expect(dispatcher.load()).toEqual({ running: 1, waiting: 0 });
    expect(dispatcher.slotsHeld()).toEqual({ proven: 0, unproven: 0, failing: 1 });
  });

  it('distinguishes deliveries without a slot from those that wait for their own receiver', async () => {
    const deliveries = new Deliveries();
    let nowMs = 0;
    const dispatcher = new Dispatcher(deliveries.deliver, 3, () => nowMs);
    dispatcher.offer(pending('a', 'slow', 3));
    nowMs = 100_000;
    expect(dispatcher.oldestRunnableMs()).toBe(0);
    expect(dispatcher.heldReceivers()).toEqual([{ tenantId: 'a', targetHost: 'slow.a', dueForMs: 100_000 }]);

    dispatcher.offer(pending('a', 'other', 1).map((delivery) => ({ ...delivery, dueForMs: 300_000 })));
    dispatcher.offer(pending('b', 's', 1));
    nowMs = 130_000;
    expect(dispatcher.oldestRunnableMs()).toBe(30_000);
    expect(dispatcher.heldReceivers()).toEqual([
      { tenantId: 'a', targetHost: 'other.a', dueForMs: 330_000 },
      { tenantId: 'a', targetHost: 'slow.a', dueForMs: 130_000 },
    ]);
    await deliveries.endAll('slow');
    expect([dispatcher.oldestRunnableMs(), dispatcher.heldReceivers()]).toEqual([0, []]);
  });

  it('counts deliveries of a proven endpoint as runnable while all slots are busy', async () => {
    const deliveries = new Deliveries();
    let nowMs = 0;
    const dispatcher = new Dispatcher(deliveries.deliver, 3, () => nowMs);
    for (const subscription of ['s1', 's2']) await deliveries.show(dispatcher, 'a', subscription, ['succeeded']);
    dispatcher.offer([...pending('a', 's1', 1), ...pending('a', 's2', 1)]);
    nowMs = 40_000;
    expect(deliveries.running.size).toBe(1);
    expect(dispatcher.oldestRunnableMs()).toBe(40_000);
  });

  it('lists the ten held receivers that wait longest, each tenant and host once', () => {
    const dispatcher = new Dispatcher(new Deliveries().deliver, 24, () => 0);
    const held = (index: number, subscription: string, dueForMs: number) =>
      pending(`t${index}`, subscription, 3, { targetHost: index < 2 ? 'shared' : `h${index}` }).map((delivery) => ({
        ...delivery,
        dueForMs,
      }));
    dispatcher.offer([
      ...each(12, (index) => held(index, 's', 12_000 - index * 1_000)).flat(),
      ...held(0, 'again', 11_500),
    ]);
    expect(dispatcher.heldReceivers()).toEqual(
      each(10, (index) => ({
        tenantId: `t${index}`,
        targetHost: index < 2 ? 'shared' : `h${index}`,
        dueForMs: 12_000 - index * 1_000,
      })),
    );
  });

  it('reserves half of its slots for unproven endpoints, an eighth for failing ones, the rest for proven ones', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 16);
    const of = (kind: string): PendingDelivery[] => each(12, (index) => pending(`${kind}${index}`, 's', 1)).flat();
    for (const ending of FAILING) {
      dispatcher.offer(of('failing'));
      await deliveries.endAll(ending);
    }
    dispatcher.offer(of('proven'));
    await deliveries.endAll();
    dispatcher.offer([...of('failing'), ...of('proven'), ...of('unproven')]);
    expect(dispatcher.slotsHeld()).toEqual({ proven: 6, unproven: 8, failing: 2 });
  });

  it('remembers the results of 10,000 subscriptions and forgets the one that is idle longest', async () => {
    let hangs = false;
    const deliver = ({ targetHost }: PendingDelivery): Promise<AttemptOutcome> =>
      hangs ? new Promise(() => undefined) : Promise.resolve({ kind: 'succeeded', latencyMs: 20, targetHost });
    const dispatcher = new Dispatcher(deliver, 64);
    const [first, second] = [pending('a', 'first', 1), pending('a', 'second', 1)];
    for (const offered of [first, second, first, each(9_999, (index) => pending('b', `s${index}`, 1)).flat()]) {
      dispatcher.offer(offered);
      await new Promise((resolve) => setImmediate(resolve));
    }
    hangs = true;
    dispatcher.offer([...first, ...second]);
    expect(dispatcher.slotsHeld()).toEqual({ proven: 1, unproven: 1, failing: 0 });
  });

  it('closes after its running deliveries end and starts no others', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 3);
    dispatcher.offer(pending('a', 's', 3));
    let isClosed = false;
    const closing = dispatcher.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    await deliveries.end('a/s#0');
    await closing;
    dispatcher.offer(pending('b', 's', 1));
    expect(deliveries.ids()).toEqual(['a/s#0']);
    expect(dispatcher.load()).toEqual({ running: 0, waiting: 2 });
    await dispatcher.close();
  });

  describe('a subscription', () => {
    it('starts with two concurrent attempts and gains one per success, up to 32', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 512);
      dispatcher.offer(pending('a', 's', 300));
      expect(deliveries.running.size).toBe(2);
      await deliveries.end('a/s#0');
      expect(deliveries.running.size).toBe(3);
      for (const id of deliveries.ids()) if (deliveries.running.has(id)) await deliveries.end(id);
      for (let count = 0; count < 60; count += 1) await deliveries.end(deliveries.of('a/s')[0] ?? '');
      expect(deliveries.running.size).toBe(32);
    });

    it('loses concurrency with each failure, and is limited to one attempt after five in a row', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 512);
      await deliveries.show(dispatcher, 'a', 's', [...each<Ending>(40, () => 'succeeded'), 'failed', 'failed']);
      dispatcher.offer(pending('a', 's', 60));
      expect(deliveries.running.size).toBe(8);
      await deliveries.endAll('nothing');
      await deliveries.show(dispatcher, 'a', 's', ['failed', 'failed', 'failed']);
      dispatcher.offer(pending('a', 's', 20));
      for (let count = 0; count < 10; count += 1) {
        expect(deliveries.of('a/s')).toEqual([`a/s#${count}`]);
        await deliveries.end(`a/s#${count}`, count === 0 ? 'nothing' : 'failed');
      }
      await deliveries.end('a/s#10');
      expect(deliveries.of('a/s')).toEqual(['a/s#11', 'a/s#12']);
    });

    it('keeps its results while idle, and starts again when its target changes', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 512);
      const held = async (endings: Ending[], targetHost?: string) => {
        await deliveries.show(dispatcher, 'a', 's', endings);
        dispatcher.offer(pending('a', 's', 1));
        const slots = dispatcher.slotsHeld();
        await deliveries.end('a/s#0', targetHost === undefined ? 'nothing' : 'succeeded', targetHost);
        return Object.entries(slots).find(([, count]) => count > 0)?.[0];
      };
      expect(await held([])).toBe('unproven');
      expect(await held(['succeeded'])).toBe('proven');
      expect(await held(['failed'])).toBe('unproven');
      expect(await held(['succeeded'])).toBe('proven');
      expect(await held(['slow', 'slow'])).toBe('unproven');
      expect(await held(each(8, () => 'succeeded'))).toBe('proven');
      expect(await held(FAILING)).toBe('failing');
      // The new target starts with two concurrent attempts, regardless of the previous target, and its first success adds one.
      expect(
        await held(
          each(8, () => 'succeeded'),
          'elsewhere',
        ),
      ).toBe('proven');
      dispatcher.offer(pending('a', 's', 20));
      expect(deliveries.running.size).toBe(3);
    });
  });

  describe('a founder', () => {
    it('uses at most a quarter of the slots, so that others always get some', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 32);
      dispatcher.offer(
        each(100, (index) => pending(`t${index}`, 's', 5, { founderId: 'burst', targetHost: `h${index}` })).flat(),
      );
      expect(deliveries.running.size).toBe(4);
      expect(dispatcher.skippedTurns().unproven).toBeGreaterThan(0);
      dispatcher.offer(each(12, (index) => pending(`o${index}`, 's', 1)).flat());
      expect(deliveries.of('o')).toHaveLength(12);
      await deliveries.end('t0/s#0', 'slow');
      expect(deliveries.of('t')).toHaveLength(3);
      dispatcher.offer(pending('p', 's', 1));
      expect(deliveries.of('p')).toHaveLength(1);
    });

    it('queues fewer deliveries for a failing subscription and leaves room for other founders', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 3);
      await deliveries.show(dispatcher, 'b', 'dead', FAILING);
      dispatcher.offer(pending('b', 'dead', 30_000));
      expect(dispatcher.load().waiting).toBe(199);
      for (let index = 0; index < 100; index += 1)
        dispatcher.offer(pending(`flood${index}`, 's', index < 5 ? 30_000 : 3_000));
      const before = dispatcher.load().waiting;
      expect(before).toBeLessThanOrEqual(100_000);
      dispatcher.offer(pending('late', 's', 500));
      expect(dispatcher.load().waiting).toBeGreaterThanOrEqual(before + 400);
    });
  });

  describe('a host', () => {
    const shared = { targetHost: 'hooks.example.com' };

    it('gets eight concurrent attempts for unproven endpoints and 32 for proven ones', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 512);
      dispatcher.offer(each(50, (index) => pending(`t${index}`, 's', 2, shared)).flat());
      expect(deliveries.running.size).toBe(8);
      await deliveries.endAll();
      expect(deliveries.started).toHaveLength(100);
      dispatcher.offer(each(50, (index) => pending(`t${index}`, 's', 2, shared)).flat());
      expect(deliveries.running.size).toBe(32);
      dispatcher.offer(pending('other', 's', 1));
      expect(deliveries.of('other')).toHaveLength(1);
      await deliveries.endAll();
      expect(deliveries.started).toHaveLength(201);
    });

    it('gets two concurrent attempts for failing endpoints', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 512);
      const offer = (): void => dispatcher.offer(each(3, (index) => pending(`t${index}`, 's', 1, shared)).flat());
      for (const ending of FAILING) {
        offer();
        await deliveries.endAll(ending);
      }
      offer();
      expect(dispatcher.slotsHeld()).toEqual({ proven: 0, unproven: 0, failing: 2 });
    });

    it('gets its attempts back when endpoints move to another host', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 512);
      for (let index = 0; index < 8; index += 1) {
        dispatcher.offer(pending(`t${index}`, 's', 2, shared));
        for (const id of deliveries.of(`t${index}/`)) await deliveries.end(id, 'succeeded', 'elsewhere');
      }
      dispatcher.offer(pending('last', 's', 2, shared));
      expect(deliveries.of('last')).toHaveLength(2);
    });

    it('gets its attempts back when endpoints become proven while they wait for a slot', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 3);
      for (let index = 0; index < 8; index += 1) {
        dispatcher.offer(pending(`t${index}`, 's', 2, shared));
        await deliveries.endAll();
      }
      dispatcher.offer(pending('last', 's', 1, shared));
      expect(deliveries.of('last')).toHaveLength(1);
    });

    it('still receives deliveries for responsive endpoints while other endpoints on it hang', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 512);
      await deliveries.show(dispatcher, 'honest', 's', ['succeeded', 'succeeded']);
      dispatcher.offer([
        ...pending('honest', 's', 1, shared),
        ...each(50, (index) => pending(`t${index}`, 's', 2, shared)).flat(),
      ]);
      await deliveries.end('honest/s#0', 'succeeded', 'hooks.example.com');
      dispatcher.offer(pending('honest', 's', 2, shared));
      expect(deliveries.of('honest')).toHaveLength(2);
    });
  });
});

describe('a hundred tenants whose receivers hang', () => {
  const world = (founderOf: (index: number) => string, subscriptions: number) => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 512);
    const hang = (): void =>
      dispatcher.offer(
        each(100, (tenant) =>
          each(subscriptions, (index) =>
            pending(`bad${tenant}`, `s${index}`, 20, { founderId: founderOf(tenant) }),
          ).flat(),
        ).flat(),
      );
    return { deliveries, dispatcher, hang };
  };

  describe.each([
    ['one founder', () => 'bad'],
    ['one founder each', (index: number) => `bad${index}`],
  ])('of %s', (_, founderOf) => {
    it.each([1, 20])('with %d subscriptions do not delay others before results are known', async (subscriptions) => {
      const { deliveries, dispatcher, hang } = world(founderOf, subscriptions);
      hang();
      dispatcher.offer(pending('victim', 's', 100));
      // None of the hanging deliveries ends. Each of the victim's ends immediately, and its next one starts.
      for (let count = 0; count < 100; count += 1) {
        const [next] = deliveries.of('victim');
        expect(next).toBeDefined();
        await deliveries.end(next ?? '');
      }
      expect(deliveries.of('victim')).toEqual([]);
    });

    it('do not delay other tenants after having answered quickly before', async () => {
      const { deliveries, dispatcher, hang } = world(founderOf, 1);
      for (let tenant = 0; tenant < 100; tenant += 1)
        for (const delivery of pending(`bad${tenant}`, 's0', 1, { founderId: founderOf(tenant) })) {
          dispatcher.offer([delivery]);
          await deliveries.end(delivery.deliveryId);
        }
      await deliveries.show(dispatcher, 'victim', 's', ['succeeded']);
      hang();
      expect(dispatcher.slotsHeld().proven).toBeGreaterThan(40);
      dispatcher.offer(pending('victim', 's', 1));
      expect(deliveries.of('victim')).toHaveLength(1);
    });

    it('do not delay other tenants when they keep failing', async () => {
      const { deliveries, dispatcher, hang } = world(founderOf, 1);
      await deliveries.show(dispatcher, 'victim', 's', ['succeeded', 'failed']);
      for (let round = 0; round < 6; round += 1) {
        hang();
        for (const id of deliveries.of('bad')) await deliveries.end(id, 'failed');
        dispatcher.offer(pending('victim', 's', 1));
        expect(deliveries.of('victim')).toHaveLength(1);
        await deliveries.end('victim/s#0', round === 5 ? 'succeeded' : 'nothing');
      }
    });
  });
});
