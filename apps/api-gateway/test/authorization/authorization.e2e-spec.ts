import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { operationsOf } from '../../../../tools/testing/conformance';
import { times } from '../../../../tools/testing/hostile/client';
import { type Caller, CALLERS, tenantOf } from './callers';
import { render, renderRights } from './render';
import { expectedStatus, type Row, TABLE } from './table';
import { isExclusive, isForAnyCaller, prepare, type Prepared, World } from './world';

const REPOSITORY = resolve(__dirname, '../../../..');
/** The files that are generated from the table. */
const FILES = [
  ['docs/authorization.md', render],
  ['apps/console/src/generated/rights.ts', renderRights],
] as const;

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world?.close());

const AT_ONCE = 6;

/** Returns the status of each caller. Fixtures that undo each other are made one after the other. */
async function statusesOf(row: Row): Promise<Partial<Record<Caller, number>>> {
  let shared: Promise<Prepared> | undefined;
  const statuses: Partial<Record<Caller, number>> = {};
  await times(CALLERS.length, isExclusive(row.fixture) ? 1 : AT_ONCE, async (index) => {
    const caller = CALLERS[index] ?? 'no token';
    // A refused request changes nothing, so the next caller can use the same fixture.
    const isShared = expectedStatus(row, caller) >= 400 && isForAnyCaller(row.fixture);
    const prepared = isShared ? (shared ??= prepare(world, row.fixture, caller)) : prepare(world, row.fixture, caller);
    statuses[caller] = await requestOf(row, caller, await prepared)();
  });
  return statuses;
}

/** Returns a function that sends the row's request. */
function requestOf(row: Row, caller: Caller, prepared: Prepared, key?: string): () => Promise<number> {
  const { params, query, body, lines, form } = prepared;
  const values: Record<string, string> = { tenant_id: row.actsFor === 'own' ? tenantOf(caller) : 'acme', ...params };
  const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
  return async () => {
    const request = world.gateway.withToken(world.token(caller), row.method, `${path}${search}`);
    if (key !== undefined) void request.set('Idempotency-Key', key);
    if (lines !== undefined) return (await request.type('application/x-ndjson').send(lines)).status;
    if (form !== undefined) return (await request.type('form').send(form)).status;
    const hasBody = body !== undefined && row.method !== 'get' && row.method !== 'delete';
    return (await (hasBody ? request.send(body) : request)).status;
  };
}

describe.each(TABLE.map((row) => [`${row.method.toUpperCase()} ${row.path} ${row.when ?? ''}`, row] as const))(
  '%s',
  (_, row) => {
    it('answers each caller as the table says', async () => {
      const expected = Object.fromEntries(CALLERS.map((caller) => [caller, expectedStatus(row, caller)]));
      expect(await statusesOf(row)).toEqual(expected);
    });
  },
);

// A removed member cannot repeat a request to read its stored answer.
it.each(
  TABLE.filter(
    ({ method, role, keepsNothing }) => method === 'post' && role !== undefined && keepsNothing !== true,
  ).map((row) => [`${row.path} ${row.when ?? ''}`, row] as const),
)('POST %s replays a stored answer to members only', async (_, row) => {
  const { sql } = world;
  const caller = expectedStatus(row, 'tenant_owner') < 300 ? 'tenant_owner' : 'tenant_proposer';
  const send = requestOf(row, caller, await prepare(world, row.fixture, caller), randomUUID());
  const setStatus = (status: string): Promise<unknown> =>
    sql.query('UPDATE memberships SET status = $1 WHERE principal_id = $2', [status, world.principalOf(caller)]);
  const statuses = [await send(), await send()];
  await setStatus('removed');
  statuses.push(await send());
  await setStatus('active');
  statuses.push(await send());
  expect(statuses).toEqual([row.ok, row.ok, 403, row.ok]);
});

it('the table has every route of the service, and no other', async () => {
  const { body } = await world.gateway.as(null, 'get', '/openapi.json').expect(200);
  const routes = operationsOf(body).map(({ method, path }) => `${method} ${path}`);
  const listed = new Set(TABLE.map(({ method, path }) => `${method} ${path}`));
  expect([...listed].sort()).toEqual([...new Set(routes)].sort());
});

it.each(FILES)('%s is up to date (npm run generate -- openapi writes it)', (name, write) => {
  const file = resolve(REPOSITORY, name);
  const text = write();
  if (process.env['UPDATE_OPENAPI'] === 'true') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
