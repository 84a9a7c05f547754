import { createServer } from 'node:http';
import { statement } from '@iss/persistence';
import { testRedisUrl } from '../../../tools/testing/test-redis';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers } from './worker';
jest.setTimeout(120000);
it.each(['Redis','PG'])('bench %s', async (b) => {
  const w = await startWorkers(b === 'Redis' ? await testRedisUrl() : undefined);
  let n = 0; const at: number[] = [];
  const server = createServer((q, r) => { q.resume(); q.on('end', () => { n++; at.push(performance.now()); r.statusCode = 204; r.end(); }); });
  await new Promise<void>((r) => server.listen(0, '127.0.0.1', r));
  await w.subscribe(`http://127.0.0.1:${(server.address() as any).port}/`);
  await w.start({ WORKER_CONCURRENCY: process.env.CONC ?? '64', SWEEP_INTERVAL_MS: '5000' });
  const lat: number[] = [];
  for (let i = 0; i < 60; i++) { const before = n; const t0 = performance.now(); const { eventId } = await w.publish(); await waitFor(() => n > before); lat.push(at.at(-1)! - t0); }
  lat.sort((x, y) => x - y); console.log(b, 'commit+wake->receive p50', lat[30], 'p98', lat[58]);
  const N = +(process.env.N ?? 20000); const ids = (await w.database.sql.run(statement<{ id: string }>('bench', `INSERT INTO outbox_events (event_id, tenant_id, event_type, body) SELECT gen_random_uuid(), 'acme', 'identity.snapshot.created', repeat('x', 500) FROM generate_series(1, ${N}) RETURNING event_id AS id`), [])).map((r) => r.id);
  n = 0; const t = performance.now(); const tick = setInterval(async () => { const [r] = await w.database.sql.run(statement<any>('st', "SELECT (SELECT count(*) FROM outbox_events WHERE fanned_out_at IS NULL)::int o, (SELECT count(*) FROM deliveries WHERE status='pending')::int p, (SELECT count(*) FROM deliveries WHERE lease_until > now())::int l, (SELECT count(*) FROM deliveries WHERE attempt>1)::int a2"), []); console.log(Math.round(performance.now()-t), n, JSON.stringify(r), JSON.stringify(await w.queue.depth())); }, 1000); const cpu = process.cpuUsage();
  for (let i = 0; i < N; i += 500) await w.queue.wakeFanout(ids.slice(i, i + 500));
  await waitFor(() => n >= N, { deadlineMs: 40000 }).catch((e) => console.log(String(e), n));
  clearInterval(tick); const c = process.cpuUsage(cpu);
  console.log(b, 'deliveries/s', Math.round(n / (performance.now() - t) * 1000), n, 'cpu us per delivery', (c.user + c.system) / n);
  await w.close(); server.close(); server.closeAllConnections();
});
