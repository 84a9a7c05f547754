import type { PendingDelivery } from '@iss/persistence';
import fc from 'fast-check';
import { Dispatcher } from './dispatcher';
import type { AttemptOutcome } from './lane';

/** 32 slots for unproven endpoints, 8 for failing ones, 24 for proven ones. Half of each are reserved for newcomers. */
const SLOTS = 64;
const MAX_HOSTILE_FOUNDERS = 11;
const TIMEOUT_MS = 10_000;
const VICTIM_MS = 50;
const VICTIM_BURST = 10;

interface Endpoint {
  founder: number;
  tenant: number;
  host: number;
  /** The results of its attempts, repeated from the start. */
  answers: { ms: number; isSuccess: boolean }[];
  deliveries: number;
}

const answer = fc.record({
  ms: fc.oneof(fc.constant(TIMEOUT_MS), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: TIMEOUT_MS })),
  isSuccess: fc.boolean(),
});
const endpoint: fc.Arbitrary<Endpoint> = fc.record({
  founder: fc.integer({ min: 0, max: MAX_HOSTILE_FOUNDERS - 1 }),
  tenant: fc.integer({ min: 0, max: 3 }),
  host: fc.integer({ min: 0, max: 5 }),
  answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
  deliveries: fc.integer({ min: 1, max: 60 }),
});

interface Running {
  delivery: PendingDelivery;
  endsAtMs: number;
  end: () => void;
}

/** A dispatcher with simulated time, so that the duration of attempts costs nothing. */
class Simulation {
  nowMs = 0;
  readonly offeredAtMs = new Map<string, number>();
  readonly startedAtMs = new Map<string, number>();
  private running: Running[] = [];
  private readonly attempts = new Map<string, number>();
  readonly dispatcher = new Dispatcher((delivery) => this.attempt(delivery), SLOTS);

  constructor(private readonly answersOf: (subscriptionId: string) => Endpoint['answers']) {}

  offer(deliveries: readonly PendingDelivery[]): void {
    for (const { deliveryId } of deliveries) this.offeredAtMs.set(deliveryId, this.nowMs);
    this.dispatcher.offer(deliveries);
    this.check();
  }

  /** Advances time to this moment, or until nothing runs any more. */
  async until(endMs = Infinity): Promise<void> {
    for (;;) {
      const next = this.running.reduce<Running | undefined>(
        (first, one) => (first === undefined || one.endsAtMs < first.endsAtMs ? one : first),
        undefined,
      );
      if (next === undefined || next.endsAtMs > endMs) break;
      this.nowMs = next.endsAtMs;
      this.running = this.running.filter((one) => one !== next);
      next.end();
      await new Promise((settled) => setImmediate(settled));
      this.check();
    }
    if (Number.isFinite(endMs)) this.nowMs = endMs;
  }

  private attempt(delivery: PendingDelivery): Promise<AttemptOutcome> {
    const { deliveryId, subscriptionId, targetHost } = delivery;
    const answers = this.answersOf(subscriptionId);
    const count = this.attempts.get(subscriptionId) ?? 0;
    this.attempts.set(subscriptionId, count + 1);
    const { ms, isSuccess } = answers[count % answers.length] ?? { ms: 0, isSuccess: true };
    this.startedAtMs.set(deliveryId, this.nowMs);
    return new Promise((resolve) => {
      const end = (): void => resolve({ kind: isSuccess ? 'succeeded' : 'failed', latencyMs: ms, targetHost });
      this.running.push({ delivery, endsAtMs: this.nowMs + ms, end });
    });
  }

  /** Checks that no limit is exceeded. */
  private check(): void {
    const { proven, unproven, failing } = this.dispatcher.slotsHeld();
    expect({ isProven: proven <= 24, isUnproven: unproven <= 32, isFailing: failing <= 8 }).toEqual({
      isProven: true,
      isUnproven: true,
      isFailing: true,
    });
    expect(proven + unproven + failing).toBe(this.running.length);
    expect(most(this.running.map(({ delivery }) => delivery.subscriptionId))).toBeLessThanOrEqual(32);
    expect(most(this.running.map(({ delivery }) => delivery.targetHost))).toBeLessThanOrEqual(32 + 8 + 2);
    // No founder ever has more than a quarter of a pool.
    expect(most(this.running.map(({ delivery }) => delivery.founderId))).toBeLessThanOrEqual(6 + 8 + 2);
  }
}

function most(names: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

const deliveriesOf = ({ founder, tenant, host, deliveries }: Endpoint, index: number): PendingDelivery[] =>
  Array.from({ length: deliveries }, (_, count) => ({
    deliveryId: `s${index}#${count}`,
    subscriptionId: `s${index}`,
    tenantId: `t${founder}-${tenant}`,
    founderId: `f${founder}`,
    targetHost: `h${host}`,
  }));

const victims = (round: number, count: number): PendingDelivery[] =>
  Array.from({ length: count }, (_, index) => ({
    deliveryId: `victim#${round}-${index}`,
    subscriptionId: 'victim',
    tenantId: 'victim',
    founderId: 'victim',
    targetHost: 'victim.example.com',
  }));

it('starts every delivery within all limits and never delays a responsive receiver for long', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(endpoint, { minLength: 1, maxLength: 30 }),
      fc.array(
        fc.record({ afterMs: fc.integer({ min: 0, max: 15_000 }), count: fc.integer({ min: 1, max: VICTIM_BURST }) }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      async (endpoints, bursts) => {
        const simulation = new Simulation((subscriptionId) =>
          subscriptionId === 'victim'
            ? [{ ms: VICTIM_MS, isSuccess: true }]
            : (endpoints[Number(subscriptionId.slice(1))]?.answers ?? []),
        );
        simulation.offer(endpoints.flatMap(deliveriesOf));
        for (const [round, { afterMs, count }] of bursts.entries()) {
          await simulation.until(simulation.nowMs + afterMs);
          simulation.offer(victims(round, count));
        }
        await simulation.until();
        expect(simulation.startedAtMs.size).toBe(simulation.offeredAtMs.size);
        expect(simulation.dispatcher.load()).toEqual({ running: 0, waiting: 0 });
        for (const [deliveryId, startedAtMs] of simulation.startedAtMs) {
          if (!deliveryId.startsWith('victim')) continue;
          const waitedMs = startedAtMs - (simulation.offeredAtMs.get(deliveryId) ?? 0);
          expect(waitedMs).toBeLessThan(2 * VICTIM_BURST * VICTIM_MS);
        }
      },
    ),
    { numRuns: 60 },
  );
});
