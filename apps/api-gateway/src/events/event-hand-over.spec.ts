import type { EventQueue } from '@iss/queue';
import { EventHandOver } from './event-hand-over';

type Queue = Pick<EventQueue, 'wakeFanout' | 'wakeDelivery'>;

function handOver(
  wakeFanout: Queue['wakeFanout'],
  warn = jest.fn(),
  wakeDelivery: Queue['wakeDelivery'] = async () => {},
) {
  const queue: Queue = { wakeFanout, wakeDelivery };
  return { handOver: new EventHandOver(queue, warn), warn };
}

describe('EventHandOver', () => {
  it('hands over the events of one turn together, and later ones after them', async () => {
    const flushes: string[][] = [];
    const { handOver: events } = handOver(async (eventIds) => {
      flushes.push([...eventIds]);
      if (flushes.length === 1) events.announce(['d']);
    });
    events.announce(['a', 'b']);
    events.announce(['c']);
    expect(flushes).toEqual([]);
    await events.close();
    expect(flushes).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('never runs two flushes concurrently', async () => {
    let running = 0;
    let most = 0;
    const { handOver: events } = handOver(async () => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    });
    for (let turn = 0; turn < 20; turn += 1) {
      events.announce([`${turn}`]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await events.close();
    expect(most).toBe(1);
  });

  it('drops events while the queue is down, warns once, and works again afterwards', async () => {
    let isDown = true;
    const taken: string[] = [];
    const { handOver: events, warn } = handOver(async (eventIds) => {
      if (isDown) throw new Error('down');
      taken.push(...eventIds);
    });
    for (let turn = 0; turn < 3; turn += 1) {
      events.announce(['lost']);
      await events.close();
    }
    expect(warn).toHaveBeenCalledTimes(1);
    isDown = false;
    events.announce(['kept']);
    await events.close();
    expect(taken).toEqual(['kept']);
  });

  it('holds at most 10,000 events', async () => {
    const taken: string[] = [];
    const { handOver: events } = handOver(async (eventIds) => void taken.push(...eventIds));
    events.announce(Array.from({ length: 9_999 }, (_, index) => `${index}`));
    events.announce(['one too many', 'and another']);
    events.announce(['fits']);
    await events.close();
    expect(taken).toHaveLength(10_000);
    expect(taken.at(-1)).toBe('fits');
  });

  it('wakes deliveries in the background, and closes only after they are handed over', async () => {
    const taken: unknown[] = [];
    const delivery = { deliveryId: 'd', subscriptionId: 's', tenantId: 't', founderId: 'f', targetHost: 'h' };
    const { handOver: events } = handOver(
      async () => {},
      jest.fn(),
      async (deliveries) => {
        await new Promise((resolve) => setImmediate(resolve));
        taken.push(...deliveries);
      },
    );
    events.wake([delivery]);
    expect(taken).toEqual([]);
    await events.close();
    expect(taken).toEqual([delivery]);
  });

  it('leaves deliveries to the sweep while the queue is down', async () => {
    const { handOver: events, warn } = handOver(
      async () => {},
      jest.fn(),
      async () => {
        throw new Error('down');
      },
    );
    events.wake([]);
    await events.close();
    expect(warn).toHaveBeenCalledTimes(1);
  });
});
