import { createRegistry, watchBacklog, watchFigure, watchProcess } from './metrics';

/** The lines of one figure, without its help. */
async function scrape(registry: ReturnType<typeof createRegistry>, name: string): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
}

describe('watchFigure', () => {
  it('reads one number or several at each scrape', async () => {
    const registry = createRegistry('spec');
    let [age, jobs]: [number, Record<string, number>] = [1.5, { fanout: 1, delivery: 2 }];
    watchFigure(registry, { name: 'age', help: 'h', read: async () => age });
    watchFigure(registry, { name: 'jobs', help: 'h', read: async () => jobs });
    expect(await scrape(registry, 'age')).toEqual(['age{service="spec"} 1.5']);
    expect(await scrape(registry, 'jobs')).toEqual([
      'jobs{of="fanout",service="spec"} 1',
      'jobs{of="delivery",service="spec"} 2',
    ]);
    [age, jobs] = [0, { fanout: 3 }];
    expect(await scrape(registry, 'age')).toEqual(['age{service="spec"} 0']);
    expect(await scrape(registry, 'jobs')).toEqual(['jobs{of="fanout",service="spec"} 3']);
  });

  it('omits a figure that cannot be read', async () => {
    const registry = createRegistry('spec');
    let isDown = false;
    watchFigure(registry, {
      name: 'age',
      help: 'h',
      read: () => (isDown ? Promise.reject(new Error()) : Promise.resolve(7)),
    });
    expect(await scrape(registry, 'age')).toHaveLength(1);
    isDown = true;
    expect(await scrape(registry, 'age')).toEqual([]);
    isDown = false;
    expect(await scrape(registry, 'age')).toHaveLength(1);
  });

  it('does not wait for a read that hangs, and does not start it again', async () => {
    const registry = createRegistry('spec');
    let asked = 0;
    let answer: (value: number) => void = () => undefined;
    const read = (): Promise<number> => {
      asked += 1;
      return new Promise((resolve) => (answer = resolve));
    };
    watchFigure(registry, { name: 'age', help: 'h', read });
    expect(await Promise.all([scrape(registry, 'age'), scrape(registry, 'age')])).toEqual([[], []]);
    expect(asked).toBe(1);
    const third = scrape(registry, 'age');
    answer(3);
    expect(await third).toEqual(['age{service="spec"} 3']);
    expect(asked).toBe(1);
  });
});

it('createRegistry gives no gauge the name of a counter', async () => {
  const text = await createRegistry('spec').metrics();
  expect(text.match(/^# TYPE \S+_total gauge$/gm)).toBeNull();
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds{');
});

it('watchProcess distinguishes a degraded dependency from a failed one', async () => {
  const registry = createRegistry('spec');
  const checks = { queue: { status: 'degraded' }, database: { status: 'failed' }, clock: { status: 'ok' } } as const;
  watchProcess(registry, {
    build: { gitSha: 'abc' },
    load: () => ({ busy: 1, idle: 2, waiting: 3 }),
    readiness: async () => ({ status: 'not_ready', checks }),
  });
  expect(await scrape(registry, 'dependency_status')).toEqual([
    'dependency_status{of="queue",service="spec"} 0.5',
    'dependency_status{of="database",service="spec"} 0',
    'dependency_status{of="clock",service="spec"} 1',
  ]);
  expect(await scrape(registry, 'service_ready')).toEqual(['service_ready{service="spec"} 0']);
  expect(await scrape(registry, 'database_connections')).toHaveLength(3);
});

it('watchBacklog reports ages in seconds', async () => {
  const registry = createRegistry('spec');
  const backlog = { oldestEventMs: async () => 1_500, oldestDeliveryMs: async () => 2_500 };
  watchBacklog(registry, backlog, { depth: async () => ({ fanout: 4 }) });
  const lines = [
    'webhook_outbox_lag_seconds{service="spec"} 1.5',
    'webhook_oldest_due_delivery_seconds{service="spec"} 2.5',
    'webhook_queue_jobs{of="fanout",service="spec"} 4',
  ];
  const text = await registry.metrics();
  for (const line of lines) expect(text).toContain(line);
});
