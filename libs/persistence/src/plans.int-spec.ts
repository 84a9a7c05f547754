import { Client, Pool } from 'pg';
import { SnapshotReadStore } from './index';
import { declaredStatements, Sql } from './sql';
import { openWorld, type World } from './testing/world';

// This store declares its statements when it is made; the pool is never used.
new SnapshotReadStore(new Sql(new Pool()));

let world: World;
let client: Client;

beforeAll(async () => {
  world = await openWorld();
  client = new Client({ connectionString: world.url, options: '-c role=iss_app -c enable_seqscan=off -c jit=off' });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await world.close();
});

const EXPLAINED = /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/i;
/** Asked of a table that has a row for each migration. */
const SMALL = ['migrations_applied'];
/** Partial indexes that hold only what waits to be done, in its order. */
const WAITING = ['outbox_events_waiting', 'deliveries_due'];

// Sequential scans are switched off, so that one in the plan means that no index can answer.
it.each([...declaredStatements()].filter(([name, text]) => EXPLAINED.test(text) && !SMALL.includes(name)))(
  'statement %s is answered by indexes',
  async (_, text) => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan on/);
    // An index without a condition is read whole: right only where it gives the order of the few that wait.
    const scans = /(?:Scan (?:Backward )?using|Bitmap Index Scan on) (\w+).*\n(?!\s+Index Cond)/g;
    const whole = [...`${plan}\n`.matchAll(scans)].map(([, index]) => index);
    expect(whole.filter((index) => index === undefined || !WAITING.includes(index))).toEqual([]);
  },
);

it('knows the statements of every store', () => {
  expect(declaredStatements().size).toBeGreaterThan(15);
});
