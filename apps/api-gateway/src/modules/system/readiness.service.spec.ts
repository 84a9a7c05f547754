import { ReadinessService, readinessOf } from './readiness.service';

const ok = { status: 'ok' } as const;
const checks = {
  database: ok,
  migrations: ok,
  schema: ok,
  clock: ok,
  issuer: ok,
  queue: ok,
  outbox: ok,
  log: ok,
  feed: ok,
};

it.each(['database', 'migrations', 'schema', 'issuer'] as const)('the gateway is not ready without %s', (name) => {
  expect(readinessOf({ ...checks, [name]: { status: 'failed' } }, false)).toBe('not_ready');
});

it.each(['issuer', 'queue', 'outbox', 'log', 'clock'] as const)('the gateway is ready while %s is degraded', (name) => {
  expect(readinessOf({ ...checks, [name]: { status: 'degraded' } }, false)).toBe('ready');
});

it.each(['queue', 'outbox', 'log', 'feed', 'clock'] as const)('the gateway is ready without %s', (name) => {
  expect(readinessOf({ ...checks, [name]: { status: 'failed' } }, false)).toBe('ready');
});

it('the gateway is not ready while it drains', () => {
  expect(readinessOf(checks, false)).toBe('ready');
  expect(readinessOf(checks, true)).toBe('not_ready');
});

it('the gateway is ready, but its feed degraded, while change feeds lack log entries', async () => {
  const [fine, none] = [async () => 0, async () => []];
  const service: ReadinessService = Reflect.construct(ReadinessService, [
    ...[{ replica: null, archive: null, ping: fine, missingMigrations: none, schemaFaults: none }],
    ...[{ oldestEventMs: fine }, { ping: fine }, { lagMs: fine }, { check: async () => ok }],
    ...[{ lagMs: async () => 61_000 }, { check: async () => null }, { neededConnections: undefined }],
  ]);
  const detail = 'the oldest entry of the log that is not in the change feeds has waited for 61 s';
  expect(await service.read()).toEqual({
    status: 'ready',
    checks: { ...checks, feed: { status: 'degraded', detail } },
  });
});
