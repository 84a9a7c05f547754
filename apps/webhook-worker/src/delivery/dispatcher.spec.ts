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

  it('keeps many of one subscription waiting, few while it fails, and leaves the rest where they are', async () => {
    const deliveries = new Deliveries();
    const dispatcher = new Dispatcher(deliveries.deliver, 2);
    dispatcher.offer(pending('a', 's', 30_000));
    expect(dispatcher.load()).toEqual({ running: 2, waiting: 19_998 });
    expect(dispatcher.backlogged()).toEqual(['a/s']);

    dispatcher.offer(pending('b', 'dead', 1));
    await deliveries.end('a/s#0');
    await deliveries.end('a/s#1');
    await deliveries.end('b/dead#0', 'failed');
    dispatcher.offer(pending('b', 'dead', 30_000));
    expect(dispatcher.load().waiting).toBeLessThan(20_300);
    expect(dispatcher.backlogged()).toEqual(['a/s', 'b/dead']);
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
