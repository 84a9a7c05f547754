import { Client } from 'pg';
import './index';
import { explainable, isOwners, type PlanNode, PLANNER_OPTIONS, ROLE_OPTION, scansFor } from './testing/plans';
import { requireSamePlans } from './testing/same-plans';
import { TELLING_STATES } from './testing/statistics';
import { openWorld, type World } from './testing/world';

let world: World;
let client: Client;
let owner: Client;
const columnsOf = new Map<string, string[]>();

beforeAll(async () => {
  world = await openWorld();
  client = new Client({ connectionString: world.url, options: `${ROLE_OPTION} ${PLANNER_OPTIONS}` });
  owner = new Client({ connectionString: world.url, options: PLANNER_OPTIONS });
  await Promise.all([client.connect(), owner.connect()]);
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `SELECT i.indexrelid::regclass::text AS name,
            array_agg(pg_get_indexdef(i.indexrelid, a.attnum, true) ORDER BY a.attnum) AS columns
       FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid GROUP BY 1`,
  );
  for (const { name, columns } of rows) columnsOf.set(name, columns);
});

afterAll(async () => {
  await Promise.all([client.end(), owner.end()]);
  await world.close();
});

const EXPLAINABLE = explainable();

/** These read small tables: one row per migration, per key that ever signed, or per restart of the log. */
const SMALL = ['migrations_applied', 'log_keys', 'log_key_live', 'log_restarts'];
/** Indexes that only have waiting rows in their order, and one whose newest row is read. */
const WAITING = [
  'outbox_events_waiting',
  'outbox_waiting_pkey',
  'evidence_waiting_pkey',
  'status_list_waiting_pkey',
  'deliveries_due',
  'log_waiting_pkey',
  'records_waiting_pkey',
  'log_checkpoints_served',
  'granted_feeds_in_turn',
  'grants_feed_due',
];

// Sequential scans are off, so one in the plan means that no index can answer.
it.each(EXPLAINABLE.filter(([name]) => !SMALL.includes(name)))(
  'statement %s is answered only by indexes',
  async (name, text) => {
    const planner = isOwners(name) ? owner : client;
    const { rows } = await planner.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan on/);
    // An index without a condition is read whole. That is right only if it orders the few waiting rows.
    const scans = /(?:Scan (?:Backward )?using|Bitmap Index Scan on) (\w+).*\n(?!\s+Index Cond)/g;
    const whole = [...`${plan}\n`.matchAll(scans)].map(([, index]) => index);
    expect(whole.filter((index) => index === undefined || !WAITING.includes(index))).toEqual([]);
  },
);

/** Returns true if the condition compares the column, alone or in a row of columns. */
function isGiven(column: string, condition: string): boolean {
  const name = column.replace(/[^\w]/g, '\\$&');
  return new RegExp(`[( ]${name}\\)?(?:::\\w+)? (?:=|<|>|IS)|\\(${name},|, ${name}[,)]`).test(condition);
}

/** An index is searched by its first columns. If one of them has no condition, everything below it is scanned. */
function isWalkedThrough({ 'Index Name': name = '', 'Index Cond': condition = '' }: PlanNode): boolean {
  const given = (columnsOf.get(name) ?? []).map((column) => isGiven(column, condition));
  return given.includes(false) && given.lastIndexOf(true) > given.indexOf(false);
}

it.each(EXPLAINABLE)('statement %s scans no whole index', async (name, text) => {
  const scans = await scansFor(isOwners(name) ? owner : client, text);
  expect(scans.filter(isWalkedThrough)).toEqual([]);
});

// A connection keeps a plan until the next statistics, and those may describe completely different tables. `plans.full-spec.ts`
// takes all of them.
it('PostgreSQL makes the same plans for the statistics that affect most statements', async () => {
  await requireSamePlans(EXPLAINABLE, TELLING_STATES.slice(0, 2));
});

it('the plans cover more than 15 statements', () => {
  expect(EXPLAINABLE.length).toBeGreaterThan(15);
});
