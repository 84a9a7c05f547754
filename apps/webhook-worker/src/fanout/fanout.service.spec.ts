import type { FanOutStep, PendingDelivery, StepSizes } from '@iss/persistence';
import { FanoutService } from './fanout.service';

/** Events with numbers of subscriptions, and a record of all calls in their order. */
class World {
  readonly done: string[] = [];
  readonly steps: StepSizes[] = [];
  isQueueDown = false;
  /** How often a step was noted as work that moves. */
  moves = 0;
  private readonly made = new Map<string, number>();

  constructor(private readonly audiences: Readonly<Record<string, number>>) {}

  readonly service = new FanoutService(
    { fanOut: async (eventIds, sizes) => this.step(eventIds, sizes) },
    {
      wakeFanout: async (eventIds, delayMs) => this.tell(`queue ${eventIds.join()} in ${delayMs} ms`),
      wakeDelivery: async (deliveries) => {
        if (deliveries.length > 0) this.tell(`queue ${deliveries.length}`);
      },
    },
    { offer: (deliveries) => void this.done.push(`offer ${deliveries.length}`) },
    { events: { moved: () => void this.moves++ } },
  );

  private step(eventIds: readonly string[], sizes: StepSizes): FanOutStep {
    this.steps.push(sizes);
    const [pending, unfinished]: [PendingDelivery[], string[]] = [[], []];
    for (const eventId of eventIds) {
      const before = this.made.get(eventId) ?? 0;
      const size = before === 0 ? sizes.first : sizes.next;
      const count = Math.min(size, (this.audiences[eventId] ?? 0) - before);
      for (let index = before; index < before + count; index += 1)
        pending.push({
          deliveryId: `${eventId}#${index}`,
          subscriptionId: `s${index}`,
          tenantId: 't',
          founderId: 'f',
          targetHost: 'h',
        });
      this.made.set(eventId, before + count);
      if (count === size) unfinished.push(eventId);
    }
    this.done.push(`make ${pending.length}`);
    return { pending, skipped: 0, unfinished };
  }

  private tell(what: string): void {
    if (this.isQueueDown) throw new Error('the queue is down');
    this.done.push(what);
  }
}

describe('FanoutService', () => {
  it('dispatches the first deliveries before it creates the rest, and yields to other events', async () => {
    const world = new World({ e: 1_000 });
    await world.service.fanOut(['e']);
    expect(world.done).toEqual(['make 16', 'offer 16', 'queue e in 20 ms']);
    await world.service.fanOut(['e']);
    expect(world.done.slice(3)).toEqual(['make 256', 'offer 100', 'queue 156', 'queue e in 20 ms']);
  });

  it('finishes an event with a small audience in one step', async () => {
    const world = new World({ e: 1, f: 15, g: 0 });
    await world.service.fanOut(['e', 'f', 'g']);
    expect(world.done).toEqual(['make 16', 'offer 16']);
    expect(world.moves).toBe(1);
  });

  it('runs no step when there is no event', async () => {
    const world = new World({});
    await world.service.fanOut([]);
    expect([world.steps, world.moves]).toEqual([[], 0]);
  });

  it('limits the deliveries of one step for any number of events', async () => {
    const eventIds = Array.from({ length: 100 }, (_, index) => `e${index}`);
    const world = new World(Object.fromEntries(eventIds.map((eventId) => [eventId, 1_000])));
    await world.service.fanOut(eventIds);
    await world.service.fanOut(eventIds.slice(0, 8));
    expect(world.steps).toEqual([
      { first: 16, next: 16 },
      { first: 16, next: 32 },
    ]);
  });

  it('leaves further steps to the sweep while the queue is down', async () => {
    const world = new World({ e: 600, f: 3 });
    world.isQueueDown = true;
    await world.service.fanOut(['e', 'f']);
    expect(world.done).toEqual(['make 19', 'offer 19']);
    expect(await world.service.step(['e', 'f'])).toEqual(['e']);
    const offered = world.done.filter((what) => what.startsWith('offer')).map((what) => Number(what.slice(6)));
    expect(offered).toEqual([19, 100, 28]);
  });

  it('queues no further step when the sweep runs one', async () => {
    const world = new World({ e: 600 });
    expect(await world.service.step(['e'])).toEqual(['e']);
    expect(world.done).toEqual(['make 16', 'offer 16']);
  });
});
