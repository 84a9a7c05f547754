import { ends, figure } from '../measure.ts';
import type { Outcome } from '../run.ts';
import type { Server } from '../stage.ts';
import { untilFed, withLogWorker } from './log-worker.ts';
import { rowsRead } from './rows-read.ts';
import { type Bench } from './scenario.ts';
import { seedSubjects, seedTenant, settle } from './seed.ts';

/** The number of items per page. */
export const PAGE = 100;
const INTERVAL_MS = 50;
const READ_TABLES = [
  ...['memberships', 'subjects', 'snapshots', 'grants'],
  ...['log_feed', 'tenant_feed', 'shared_feed', 'log_entries'],
];
const count = (size: number): string => size.toLocaleString('en');

/** Creates a tenant with a feed of each size. Returns a page in the middle of each feed. */
export async function seedFeeds(bench: Bench, sizes: Readonly<Record<string, number>>): Promise<Map<string, string>> {
  const { sql } = bench.stage;
  const paths = new Map<string, string>();
  await withLogWorker(bench, INTERVAL_MS, async () => {
    for (const [tenantId, entries] of Object.entries(sizes)) {
      await seedTenant(bench, bench.owner, tenantId);
      await seedSubjects(bench, { prefix: `${tenantId}-`, upTo: entries, tenantId });
    }
    await untilFed(bench);
  });
  await settle(bench);
  await sql.query('VACUUM ANALYZE log_entries, tenant_feed, shared_feed');
  for (const tenantId of Object.keys(sizes)) {
    const { rows } = await sql.query<{ middle: number }>(
      `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i)::float8 AS middle
         FROM tenant_feed CROSS JOIN unnest(log_indexes) i WHERE tenant_id = $1`,
      [tenantId],
    );
    const [{ middle } = { middle: NaN }] = rows;
    paths.set(tenantId, `/v1/tenants/${tenantId}/changes?limit=${PAGE}&after=${middle}`);
  }
  return paths;
}

/** Measures the rows that a page of a feed reads as the feed grows. */
export async function feedGrowth(bench: Bench, probe: Server): Promise<Required<Pick<Outcome, 'lines' | 'curves'>>> {
  const sizes = bench.effort.quick ? [1000, 10_000] : [1000, 10_000, 100_000];
  const tenantOf = (entries: number): string => `feed-${entries}`;
  const paths = await seedFeeds(bench, Object.fromEntries(sizes.map((entries) => [tenantOf(entries), entries])));
  const steps: { entries: number; rows: number }[] = [];
  for (const entries of sizes) {
    const path = paths.get(tenantOf(entries)) ?? '';
    steps.push({ entries, rows: await rowsRead(bench, probe, [{ path, headers: bench.owner }], READ_TABLES) });
  }
  const [small, large] = ends(steps);
  return {
    lines: [
      {
        id: 'growth-feed-rows',
        what: `Rows PostgreSQL reads for a page of ${PAGE} changes of ${count(large.entries)}`,
        figure: figure([large.rows]),
        unit: 'rows',
        against: { what: `of ${count(small.entries)}`, figure: figure([small.rows]) },
        // The lists that make up a feed begin before the page.
        target: { most: 1.25 },
      },
    ],
    curves: [
      {
        id: 'feed-rows',
        title: `Rows read for a page of ${PAGE} changes, by length of the feed`,
        x: { name: 'entries of the feed', scale: 'log' },
        y: 'rows PostgreSQL reads for a page',
        series: [{ name: 'changes', points: steps.map(({ entries, rows }) => ({ x: entries, y: rows })) }],
      },
    ],
  };
}
