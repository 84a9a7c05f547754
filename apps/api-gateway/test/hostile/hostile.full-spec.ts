import { randomUUID } from 'node:crypto';
import { type Attack, ATTACKS } from '../../../../tools/testing/hostile/attacks';
import { type Answer, must, times } from '../../../../tools/testing/hostile/client';
import { type Figures, watched } from '../../../../tools/testing/hostile/figures';
import { envelope, found } from '../../../../tools/testing/hostile/subjects';
import { startReceiver } from '../../../../tools/testing/receiver';
import { Bystander } from './bystander';
import { type GatewayProcess, startGatewayProcess } from './gateway-process';
import { startHangingReceivers } from './hanging-receivers';

const KIB = 1024;
const MIB = 1024 * KIB;
/** The memory limit of a gateway in deploy/chart. */
const MEMORY_LIMIT_MIB = 640;
/** The work of the gateway besides an attack: requests of a bystander, scrapes, and collection of older garbage. */
const BESIDE_MS = 300;
/**
 * Beside other work, the same work takes up to twice the processor time, because processors share caches and cores. An
 * attack takes many times as much.
 */
const BUSY_FACTOR = 2;

let gateway: GatewayProcess;
let bystander: Bystander;

beforeAll(async () => {
  gateway = await startGatewayProcess({ WRITE_TIMEOUT_MS: '4000', BATCH_LINE_TIMEOUT_MS: '2000' });
  bystander = await Bystander.of(gateway);
});

afterAll(() => gateway?.close());

interface Struck extends Figures {
  answers: readonly Answer[];
  /** The requests of the bystander. */
  asked: number;
}

/** During every attack, the process stays within its memory limit and serves all requests of a bystander. */
async function strike(attack: Attack): Promise<Struck> {
  const act = await attack.prepare(gateway);
  const { outcome, figures } = await watched(gateway, () => bystander.beside(act));
  const { outcome: answers, asked, failed } = outcome;
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(0);
  requireAtMost({ peakMiB: [figures.peakMiB, MEMORY_LIMIT_MIB] });
  return { ...figures, answers, asked };
}

/** Figures, each with its bound. A figure that this system does not provide is not checked. */
function requireAtMost(figures: Readonly<Record<string, readonly [measured: number, bound: number]>>): void {
  const over = Object.entries(figures).filter(([, [measured, bound]]) => measured > bound);
  expect(Object.fromEntries(over)).toEqual({});
}

/** The processor time of one request of the attack. */
function requireCpu(
  { answers, asked, ...figures }: Struck,
  each: Partial<Record<'gatewayCpuMs' | 'mainThreadCpuMs' | 'databaseCpuMs', number>>,
): void {
  const bounds = Object.entries(each).map(([name, ms]): [string, [number, number]] => {
    const measured =
      name === 'gatewayCpuMs' || name === 'mainThreadCpuMs' || name === 'databaseCpuMs' ? figures[name] : NaN;
    return [name, [measured, BUSY_FACTOR * (ms * answers.length + 2 * asked + BESIDE_MS)]];
  });
  requireAtMost(Object.fromEntries(bounds));
}

/** The request succeeds, or gets 503 with the time to wait. */
function isServedOrPutOff({ status, headers }: Answer): boolean {
  return status === 200 || status === 201 || (status === 503 && headers['retry-after'] !== undefined);
}

const statusesOf = (answers: readonly Answer[]): number[] => [...new Set(answers.map(({ status }) => status))].sort();
const largest = (answers: readonly Answer[]): number => Math.max(...answers.map(({ body }) => body.length));
const jsonOf = ({ body }: Answer): unknown => JSON.parse(body.toString());

describe('attacks with large documents', () => {
  test.each([ATTACKS.diffBelowLongKey, ATTACKS.diffOfUnlike, ATTACKS.diffDeepInside])('$what', async (attack) => {
    const struck = await strike(attack);
    expect(statusesOf(struck.answers)).toEqual([200]);
    expect(largest(struck.answers)).toBeLessThan(4 * MIB + 64 * KIB);
    requireCpu(struck, { gatewayCpuMs: 1500, mainThreadCpuMs: 100 });
  });

  test.each([ATTACKS.chainedMoves, ATTACKS.moreChainedMoves])('$what', async (attack) => {
    const struck = await strike(attack);
    const [proposed, read] = struck.answers.map(jsonOf);
    expect(statusesOf(struck.answers)).toEqual([200, 400]);
    expect(proposed).toMatchObject({
      error: {
        code: 'validation_error',
        details: [{ path: expect.stringMatching(/^\/patch_ops\/\d+$/), code: 'too_deep' }],
      },
    });
    expect(read).toMatchObject({ verification: { hash: { valid: true }, chain: { valid: true } } });
    requireCpu(struck, { gatewayCpuMs: 150 });
  });

  test(`${ATTACKS.largeWrites.what}`, async () => {
    const struck = await strike(ATTACKS.largeWrites);
    // A caller that sends so much at once may get an answer to retry later.
    expect(struck.answers.every(isServedOrPutOff)).toBe(true);
    requireCpu(struck, { gatewayCpuMs: 500, mainThreadCpuMs: 60 });
  });

  test(`${ATTACKS.longChain.what}`, async () => {
    const struck = await strike(ATTACKS.longChain);
    expect(struck.answers.every(isServedOrPutOff)).toBe(true);
    // The gateway reads a gigabyte from the database and hashes it.
    requireCpu(struck, { gatewayCpuMs: 15_000 });
  });

  test.each([
    [ATTACKS.problemsBelowLongKey.what, ATTACKS.problemsBelowLongKey, 403],
    [ATTACKS.unknownMembers.what, ATTACKS.unknownMembers, 400],
  ])('%s', async (_, attack, status) => {
    const struck = await strike(attack);
    expect(statusesOf(struck.answers)).toEqual([status]);
    expect(largest(struck.answers)).toBeLessThanOrEqual(64 * KIB);
    requireCpu(struck, { gatewayCpuMs: 250, mainThreadCpuMs: 100 });
  });
});

describe('attacks with many rows', () => {
  test(`${ATTACKS.manySubscriptions.what}`, async () => {
    const struck = await strike(ATTACKS.manySubscriptions);
    expect(statusesOf(struck.answers)).toEqual([201]);
    requireCpu(struck, { gatewayCpuMs: 5, databaseCpuMs: 3 });
  });

  test(`${ATTACKS.manyMemberships.what}`, async () => {
    const struck = await strike(ATTACKS.manyMemberships);
    expect(statusesOf(struck.answers)).toEqual([404]);
    requireCpu(struck, { gatewayCpuMs: 5, databaseCpuMs: 3 });
  });

  test(`${ATTACKS.largeReads.what}`, async () => {
    const struck = await strike(ATTACKS.largeReads);
    expect(statusesOf(struck.answers)).toEqual([200]);
    requireCpu(struck, { gatewayCpuMs: 30 });
  });

  test(`${ATTACKS.proposalsOfMegabyte.what}`, async () => {
    const struck = await strike(ATTACKS.proposalsOfMegabyte);
    expect(statusesOf(struck.answers)).toEqual([200]);
    expect(largest(struck.answers)).toBeLessThanOrEqual(8 * MIB + 64 * KIB);
    expect(jsonOf(struck.answers[0]!)).toMatchObject({ next_cursor: expect.any(String) });
    requireCpu(struck, { gatewayCpuMs: 400, databaseCpuMs: 200 });
  });
});

describe('attacks with connections', () => {
  test(`${ATTACKS.probes.what}`, async () => {
    const struck = await strike(ATTACKS.probes);
    expect(statusesOf(struck.answers)).toEqual([200, 404]);
    requireCpu(struck, { gatewayCpuMs: 1, databaseCpuMs: 0.2 });
  });

  test(`${ATTACKS.documentation.what}`, async () => {
    const struck = await strike(ATTACKS.documentation);
    expect(statusesOf(struck.answers)).toEqual([200]);
    requireCpu(struck, { gatewayCpuMs: 3, databaseCpuMs: 0 });
  });

  test(`${ATTACKS.unknownKeys.what}`, async () => {
    const before = gateway.issuer.keySetRequests;
    const struck = await strike(ATTACKS.unknownKeys);
    expect(statusesOf(struck.answers)).toEqual([401]);
    expect(gateway.issuer.keySetRequests - before).toBeLessThan(5);
    requireCpu(struck, { gatewayCpuMs: 2, databaseCpuMs: 0 });
  });

  test(`${ATTACKS.garbageBehindRequest.what}`, async () => {
    const { answers } = await strike(ATTACKS.garbageBehindRequest);
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });

  const greedy = [ATTACKS.greedyConnections, ATTACKS.unreadExports, ATTACKS.slowExports];
  test.each(greedy)('$what', async (attack) => {
    const struck = await strike(attack);
    expect(statusesOf(struck.answers)).toEqual([0]);
    requireCpu(struck, { gatewayCpuMs: 100 });
  });

  test(`${ATTACKS.tricklingBatches.what}`, async () => {
    const struck = await strike(ATTACKS.tricklingBatches);
    const { answers } = struck;
    expect(statusesOf(answers)).toEqual([200, 503]);
    const ends = answers.filter(({ status }) => status === 200).map(({ body }) => body.toString());
    for (const end of ends) expect(end).toMatch(/^\{"line":1,"status":408,[^\n]*\n$/);
    requireCpu(struck, { gatewayCpuMs: 100 });
  });
});

describe('attacks with receivers', () => {
  const TENANTS = 100;
  const EVENTS = 5;
  const SLOTS = 32;
  const FOR_EVER_MS = '600000';

  // A slot that a hanging receiver got stays occupied. The test checks who gets slots, not for how long.
  test(`${TENANTS} tenants whose receivers hang do not occupy all delivery slots`, async () => {
    const hanging = await startHangingReceivers(TENANTS);
    const victim = await startReceiver();
    try {
      await times(TENANTS, 8, (at) => publish('attacker', `hanging-${at}`, hanging.urls[at] ?? '', EVENTS));
      await publish('victim', 'victim', victim.url, 4 * EVENTS);
      await gateway.startWorker('worker', {
        METRICS_PORT: '0',
        WORKER_CONCURRENCY: String(SLOTS),
        WEBHOOK_CONNECT_TIMEOUT_MS: FOR_EVER_MS,
        WEBHOOK_HEADERS_TIMEOUT_MS: FOR_EVER_MS,
        WEBHOOK_TOTAL_TIMEOUT_MS: FOR_EVER_MS,
      });
      await victim.waitForRequests(4 * EVENTS);
      expect(hanging.taken).toBeLessThan(SLOTS);
    } finally {
      await hanging.stop();
      await victim.stop();
    }
  });

  /** Creates a tenant of this user with one subscription and this number of events. */
  async function publish(user: string, name: string, targetUrl: string, events: number): Promise<void> {
    const tenantId = await found(gateway, name, user);
    const body = { tenant_id: tenantId, target_url: targetUrl, event_types: ['identity.snapshot.created'] };
    await must(gateway, 'POST', '/v1/webhook-subscriptions', { user, body });
    for (let event = 0; event < events; event += 1) {
      const snapshot = envelope({}, { subjectId: randomUUID() });
      await must(gateway, 'POST', `/v1/tenants/${tenantId}/entity-states`, { user, body: snapshot });
    }
  }
});

test('no process logged an error or ended by itself', () => {
  expect(gateway.faults()).toEqual([]);
});
