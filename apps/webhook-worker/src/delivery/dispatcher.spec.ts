import type { PendingDelivery } from '@iss/persistence';
import { Dispatcher, type Outcome } from './dispatcher';

/** Deliveries end when the test says so. */
class Deliveries {
  readonly started: PendingDelivery[] = [];
  readonly running = new Map<string, (outcome: Outcome) => void>();

  readonly deliver = (delivery: PendingDelivery): Promise<Outcome> =>
    new Promise((resolve) => {
      this.started.push(delivery);
      this.running.set(delivery.deliveryId, resolve);
    });

  async end(deliveryId: string, outcome: Outcome = 'succeeded'): Promise<void> {
    const resolve = this.running.get(deliveryId);
    if (resolve === undefined) throw new Error(`${deliveryId} does not run`);
    this.running.delete(deliveryId);
    resolve(outcome);
    await new Promise((settled) => setImmediate(settled));
  }

  /** Ends what runs, until nothing runs any more. */
  async endAll(outcome: Outcome = 'succeeded'): Promise<void> {
    for (let [next] = this.running.keys(); next !== undefined; [next] = this.running.keys())
      await this.end(next, outcome);
  }

  /** Lets deliveries of a subscription fail, one after the other. */
  async fail(dispatcher: Dispatcher, tenantId: string, subscription: string, count: number): Promise<void> {
    for (const delivery of pending(tenantId, subscription, count)) {
      dispatcher.offer([delivery]);
      await this.end(delivery.deliveryId, 'failed');
    }
  }

  ids(): string[] {
    return this.started.map((delivery) => delivery.deliveryId);
  }
}

/** `count` deliveries of one subscription: `a/s1#0`, `a/s1#1`, … */
function pending(tenantId: string, subscription: string, count: number): PendingDelivery[] {
  const subscriptionId = `${tenantId}/${subscription}`;
  return Array.from({ length: count }, (_, index) => ({
    deliveryId: `${subscriptionId}#${index}`,
    subscriptionId,
    tenantId,
  }));
}

describe('Dispatcher', () => {
  it('runs so many at once and no more, and each in the end', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 6);
    const offered = [...pending('a', 's1', 5), ...pending('a', 's2', 5), ...pending('b', 's1', 5)];
    dispatcher.offer(offered);
    expect(deliveries.running.size).toBe(6);
    expect(dispatcher.load()).toEqual({ running: 6, waiting: 9 });
    await deliveries.endAll();
    expect(deliveries.ids().sort()).toEqual(offered.map((delivery) => delivery.deliveryId).sort());
    expect(dispatcher.load()).toEqual({ running: 0, waiting: 0 });
  });

  it('lets tenants take turns, and the subscriptions of a tenant', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 1);
    dispatcher.offer([...pending('a', 's1', 3), ...pending('a', 's2', 3), ...pending('b', 's1', 3)]);
    await deliveries.endAll();
    expect(deliveries.ids()).toEqual([
      'a/s1#0',
      'b/s1#0',
      'a/s2#0',
      'b/s1#1',
      'a/s1#1',
      'b/s1#2',
      'a/s2#1',
      'a/s1#2',
      'a/s2#2',
    ]);
  });

  it('serves a newcomer next, however much another tenant has waiting', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 1);
    dispatcher.offer(Array.from({ length: 1_000 }, (_, index) => pending('large', `s${index}`, 1)).flat());
    dispatcher.offer(pending('small', 's', 1));
    await deliveries.end('large/s0#0');
    await deliveries.end('large/s1#0');
    expect(deliveries.ids()).toContain('small/s#0');
  });

  it('narrows a subscription that fails to one attempt at once, and widens it again with successes', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 100);
    dispatcher.offer(pending('a', 'dead', 200));
    expect(deliveries.running.size).toBe(4);
    for (let count = 0; count < 6; count += 1) {
      const [next] = deliveries.running.keys();
      await deliveries.end(next ?? '', 'failed');
    }
    expect(deliveries.running.size).toBe(1);
    dispatcher.offer(pending('a', 'healthy', 200));
    expect(deliveries.running.size).toBe(5);

    for (let count = 0; count < 100; count += 1) {
      const [next] = [...deliveries.running.keys()].filter((id) => id.startsWith('a/dead'));
      await deliveries.end(next ?? '');
    }
    expect([...deliveries.running.keys()].filter((id) => id.startsWith('a/dead'))).toHaveLength(32);
  });

  it('remembers that a subscription fails', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 100);
    dispatcher.offer(pending('a', 'dead', 4));
    await deliveries.endAll('failed');
    dispatcher.offer(pending('a', 'dead', 4));
    expect(deliveries.running.size).toBe(1);
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

  it('keeps many of one tenant waiting, few of a subscription that fails, and leaves the rest where they are', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 4);
    dispatcher.offer([...pending('a', 's1', 15_000), ...pending('a', 's2', 15_000)]);
    expect(dispatcher.load()).toEqual({ running: 2, waiting: 19_998 });
    expect(dispatcher.backlogged()).toEqual(['a/s1', 'a/s2']);

    await deliveries.fail(dispatcher, 'b', 'dead', 5);
    dispatcher.offer(pending('b', 'dead', 30_000));
    expect(dispatcher.load()).toEqual({ running: 3, waiting: 19_998 + 199 });
    expect(dispatcher.backlogged()).toEqual(['a/s1', 'a/s2', 'b/dead']);
  });

  it('leaves slots to others, whatever a tenant has waiting', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 10);
    dispatcher.offer(Array.from({ length: 1_000 }, (_, index) => pending('burst', `s${index}`, 5)).flat());
    expect(deliveries.running.size).toBe(5);
    dispatcher.offer([...pending('b', 's', 1), ...pending('c', 's', 1), ...pending('d', 's', 3)]);
    expect(deliveries.ids().slice(5)).toEqual(['b/s#0', 'c/s#0', 'd/s#0', 'd/s#1', 'd/s#2']);
    await deliveries.end('b/s#0');
    await deliveries.end('c/s#0');
    expect([...deliveries.running.keys()].filter((id) => id.startsWith('burst'))).toHaveLength(5);
  });

  describe('with a subscription that failed five times in a row', () => {
    const running = (deliveries: Deliveries): string[] => [...deliveries.running.keys()];

    it('makes one attempt at a time until one succeeds', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 100);
      await deliveries.fail(dispatcher, 'a', 'dead', 5);
      dispatcher.offer(pending('a', 'dead', 20));
      for (let count = 0; count < 10; count += 1) {
        expect(running(deliveries)).toEqual([`a/dead#${count}`]);
        await deliveries.end(`a/dead#${count}`, 'failed');
      }
      await deliveries.end('a/dead#10');
      expect(running(deliveries)).toEqual(['a/dead#11', 'a/dead#12']);
      await deliveries.end('a/dead#11', 'failed');
      await deliveries.end('a/dead#12');
      expect(running(deliveries)).toEqual(['a/dead#13', 'a/dead#14']);
    });

    it('does not take finding nothing to do for an answer', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 100);
      await deliveries.fail(dispatcher, 'a', 'dead', 5);
      dispatcher.offer(pending('a', 'dead', 20));
      await deliveries.end('a/dead#0', 'nothing');
      expect(running(deliveries)).toEqual(['a/dead#1']);
    });

    it('gives a quarter of the slots to all of them, and the others take turns with them', async () => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, 8);
      const tenants = ['a', 'b', 'c', 'd', 'e'];
      for (const tenant of tenants) await deliveries.fail(dispatcher, tenant, 'dead', 5);
      for (const tenant of tenants) dispatcher.offer(pending(tenant, 'dead', 20));
      expect(running(deliveries)).toEqual(['a/dead#0', 'b/dead#0']);
      dispatcher.offer([...pending('x', 'healthy', 20), ...pending('y', 'healthy', 20)]);
      expect(running(deliveries).filter((id) => id.includes('healthy'))).toHaveLength(6);
      await deliveries.end('a/dead#0', 'failed');
      expect(running(deliveries).filter((id) => id.includes('dead'))).toEqual(['b/dead#0', 'c/dead#0']);
    });

    it.each([1, 2, 3])('forgets neither them nor the others with %d slots', async (concurrency) => {
      const deliveries = new Deliveries();
      const dispatcher = new Dispatcher(deliveries.deliver, concurrency);
      await deliveries.fail(dispatcher, 'a', 'dead', 5);
      dispatcher.offer([...pending('a', 'dead', 40), ...pending('b', 'healthy', 40)]);
      for (let count = 0; count < 20; count += 1) {
        const [next = ''] = running(deliveries);
        await deliveries.end(next, next.startsWith('a/') ? 'failed' : 'succeeded');
      }
      const started = deliveries.ids().slice(5);
      expect(started.filter((id) => id.startsWith('a/')).length).toBeGreaterThanOrEqual(4);
      expect(started.filter((id) => id.startsWith('b/')).length).toBeGreaterThanOrEqual(8);
    });
  });

  it('takes a delivery that throws for a failure', async () => {
    const dispatcher = new Dispatcher(() => Promise.reject(new Error('unforeseen')), 2);
    dispatcher.offer(pending('a', 's', 3));
    await new Promise((resolve) => setImmediate(resolve));
    expect(dispatcher.load()).toEqual({ running: 0, waiting: 0 });
  });

  it('closes when what runs has ended, and starts nothing more', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 1);
    dispatcher.offer(pending('a', 's', 3));
    let isClosed = false;
    const closing = dispatcher.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    await deliveries.end('a/s#0');
    await closing;
    dispatcher.offer(pending('b', 's', 1));
    expect(deliveries.ids()).toEqual(['a/s#0']);
  });
});
