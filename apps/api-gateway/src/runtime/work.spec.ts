import { gatewayEnv } from '@iss/platform';
import { Registry } from 'prom-client';
import { IMMEDIATE_SIZE, Work } from './work';

const settings = gatewayEnv({
  DATABASE_URL: 'postgres://localhost/x',
  AUTH_MODE: 'disabled',
  SECRETS_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
  // No test is about the time limit, which a busy machine exceeds.
  WORK_DEADLINE_MS: '300000',
});
const asker = { principalId: 'a' };
/** A text of this length. The summary of a long text takes some milliseconds. */
const textOf = (length: number): string => `{"attributes":[${'[],'.repeat((length - 24) / 3)}1]}`.padEnd(length);

let charged: [string, number][];
let metrics: Registry;
let work: Work;

beforeEach(() => {
  charged = [];
  metrics = new Registry();
  work = new Work(settings, { charge: (...one) => charged.push(one) }, metrics);
});
afterEach(() => work.onApplicationShutdown());

it('Work runs a small task immediately, and does not charge for it', () => {
  const summary = work.run(asker, 'summarize', { text: textOf(IMMEDIATE_SIZE) });
  expect(summary).not.toBeInstanceOf(Promise);
  expect(summary).toMatchObject({ evidenceCount: 0 });
  expect(charged).toEqual([]);
});

it('Work runs a large task in a thread, and charges each millisecond after the first', async () => {
  const text = textOf(1024 * 1024);
  const summary = work.run(asker, 'summarize', { text });
  expect(summary).toBeInstanceOf(Promise);
  await expect(summary).resolves.toMatchObject({ attributes: text.trim().slice('{"attributes":'.length, -1) });
  expect(charged).toEqual([['a', expect.any(Number)]]);
  const [[, requests] = ['', 0]] = charged;
  expect(requests).toBeGreaterThan(1);
  expect(Number.isInteger(requests)).toBe(true);
  const sum = /work_task_processor_seconds_sum\{task="summarize"\} (\S+)/.exec(await metrics.metrics());
  // Processor time has whole microseconds, which a fraction of seconds does not represent exactly.
  expect(Math.ceil(Math.round(Number(sum?.[1]) * 1e6) / 1000) - 1).toBe(requests);
});

it('Work rejects with the DomainError that a task throws in a thread', async () => {
  const bytes = new TextEncoder().encode(`${' '.repeat(IMMEDIATE_SIZE)}[1,]`);
  const run = async (): Promise<unknown> => work.run(asker, 'read_envelope', { bytes, maxDepth: 64 });
  await expect(run()).rejects.toMatchObject({
    name: 'DomainError',
    code: 'validation_error',
    details: [{ path: '/1', code: 'invalid_json' }],
  });
});

it('Work has metrics for running, waiting and refused tasks', async () => {
  const texts = Array.from({ length: settings.work.queue }, () => ({ text: textOf(2 * IMMEDIATE_SIZE) }));
  const all = texts.map(async (input) => work.run(asker, 'summarize', input));
  const settled = Promise.allSettled(all);
  const shown = await metrics.metrics();
  expect(shown).toMatch(/work_tasks\{state="running"\} [1-9]/);
  expect(shown).toMatch(/work_tasks\{state="waiting"\} [1-9]/);
  expect(shown).toMatch(/work_tasks_refused_total\{why="full"\} [1-9]/);
  await settled;
  expect(await metrics.metrics()).toMatch(/work_tasks\{state="running"\} 0/);
});
