import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { reservePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { type Product, startProduct } from '../testing/product.ts';
import { TestTenant } from '../testing/tenant.ts';

const SUBJECTS = 20;
const WARM_UP = 1_000;
const WINDOW = 400;
const CONCURRENCY = 32;
/** The number of measured windows. The smallest counts, since compilers and caches allocate only occasionally. */
const WINDOWS = 4;

let product: Product;
let tenant: TestTenant;
let probePort: number;

beforeAll(async () => {
  probePort = await reservePort();
  const probe = join(repositoryRoot, 'tools/testing/heap-probe.cjs');
  const env = { NODE_OPTIONS: `--require ${probe}`, HEAP_PROBE_PORT: String(probePort) };
  product = await startProduct({ queue: 'postgresql', database: 'tests', gateways: 1, workers: 0, env });
  tenant = await TestTenant.open(product, 'acme');
  for (let index = 0; index < SUBJECTS; index++) await create(`subject-${index}`);
});

afterAll(() => product?.close());

const allocated = async (): Promise<number> => Number(await (await fetch(`http://127.0.0.1:${probePort}/`)).text());

async function create(subjectId: string): Promise<void> {
  expect((await tenant.create(tenant.owner, subjectId)).status).toBe(201);
}

async function readLatest(index: number): Promise<void> {
  const path = `${tenant.pathOf(`subject-${index % SUBJECTS}`)}/snapshots/latest`;
  expect((await product.request(tenant.owner, 'GET', path)).status).toBe(200);
}

async function many(count: number, send: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
}

/** Returns the bytes of V8's heap that a request allocates in the gateway. */
async function bytesOf(send: (index: number) => Promise<void>): Promise<number> {
  await many(WARM_UP, send);
  let least = Infinity;
  for (let window = 0; window < WINDOWS; window++) {
    const before = await allocated();
    await many(WINDOW, send);
    least = Math.min(least, ((await allocated()) - before) / WINDOW);
  }
  return least;
}

// The limits are about one and a half times the measured values, and independent of the machine's speed. Small batches of
// statements allocate more per request than large ones.
it.each<[string, number, (index: number) => Promise<void>]>([
  ['a read of the latest version', 60_000, readLatest],
  ['the creation of a subject', 75_000, () => create(`created-${randomUUID()}`)],
])('%s allocates less than %d bytes', async (_what, limit, send) => {
  expect(await bytesOf(send)).toBeLessThan(limit);
});
