import { Client } from 'pg';
import { PLANNER } from './database';
import './index';
import { declaredStatements } from './sql/statement';
import { TABLE_STATES, takeStatistics } from './testing/statistics';
import { openWorld, type World } from './testing/world';

let world: World;
let client: Client;
const columnsOf = new Map<string, string[]>();

beforeAll(async () => {
  world = await openWorld();
  client = new Client({ connectionString: world.url, options: PLANNER_OPTIONS });
  await client.connect();
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `SELECT i.indexrelid::regclass::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid GROUP BY 1`,
  );
  for (const { name, columns } of rows) columnsOf.set(name, columns);
});

afterAll(async () => {
  await client.end();
  await world.close();
});

/** As the applications plan. */
const PLANNER_OPTIONS = ['role=iss_app', ...PLANNER].map((setting) => `-c ${setting}`).join(' ');

const EXPLAINED = /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/i;
const EXPLAINABLE = [...declaredStatements()]
  .map(([name, { text }]) => [name, text] as const)
  .filter(([, text]) => EXPLAINED.test(text));

/** Asked of a table that has a row for each migration. */
const SMALL = ['migrations_applied'];
/** Partial indexes that hold only what waits to be done, in its order. */
const WAITING = ['outbox_events_waiting', 'deliveries_due'];

// Sequential scans are switched off, so that one in the plan means that no index can answer.
it.each(EXPLAINABLE.filter(([name]) => !SMALL.includes(name)))(
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

interface PlanNode {
  Alias?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

const scansOf = (node: PlanNode): PlanNode[] => [
  ...(node['Index Name'] === undefined ? [] : [node]),
  ...(node.Plans ?? []).flatMap(scansOf),
];

/** Whether the condition holds a column against something, by itself or in a row with others. */
const isGiven = (column: string, condition: string): boolean =>
  new RegExp(`[( ]${column}\\)?(?:::\\w+)? (?:=|<|>|IS)|\\(${column},|, ${column}\\)`).test(condition);

/** An index is entered at its first columns: what lies below one that is not given is walked through. */
function isWalkedThrough({ 'Index Name': name = '', 'Index Cond': condition = '' }: PlanNode): boolean {
  const given = (columnsOf.get(name) ?? []).map((column) => isGiven(column, condition));
  return given.includes(false) && given.lastIndexOf(true) > given.indexOf(false);
}

/** How a statement enters indexes, planned by this connection. */
async function scansFor(connection: Client, text: string): Promise<PlanNode[]> {
  const { rows } = await connection.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
  );
  return rows.flatMap((row) => scansOf(row['QUERY PLAN'][0].Plan));
}

it.each(EXPLAINABLE)('statement %s walks through no index', async (_, text) => {
  const scans = await scansFor(client, text);
  expect(scans.filter(isWalkedThrough)).toEqual([]);
});

/** Every statement's indexes with what is asked of them, in order. */
async function plansFor(connection: Client): Promise<Record<string, string[]>> {
  const plans: Record<string, string[]> = {};
  for (const [name, text] of EXPLAINABLE) {
    const scans = await scansFor(connection, text);
    plans[name] = scans
      .map((scan) => `${scan.Alias ?? ''} ${scan['Index Name'] ?? ''} ${scan['Index Cond'] ?? ''}`)
      .sort();
  }
  return plans;
}

// A connection keeps a plan until the next statistics, which may be of tables that have nothing in common with today's.
it('plans the same whatever statistics say', async () => {
  const { url, close } = await openWorld();
  const superuser = new Client({ connectionString: url });
  const application = new Client({ connectionString: url, options: PLANNER_OPTIONS });
  await Promise.all([superuser.connect(), application.connect()]);
  try {
    const withoutStatistics = await plansFor(application);
    for (const state of TABLE_STATES) {
      await takeStatistics(superuser, state);
      expect({ state, plans: await plansFor(application) }).toEqual({ state, plans: withoutStatistics });
    }
  } finally {
    await Promise.all([superuser.end(), application.end()]);
    await close();
  }
}, 120_000);

it('knows the statements of every store', () => {
  expect(declaredStatements().size).toBeGreaterThan(15);
});
