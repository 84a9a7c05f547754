import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { operationsOf } from '../../../../tools/testing/conformance';
import { closeConnections, send, type Sent, times } from '../../../../tools/testing/hostile/client';
import { IS_FULL } from '../../../../tools/testing/runs';
import { type Caller, CALLERS, EVERY_SCOPE, GRANTEES, tenantOf } from './callers';
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
afterAll(async () => {
  closeConnections();
  await world?.close();
});

const AT_ONCE = 6;

/** Returns the callers of a row. `npm test` sends a route that ignores grants as only one grantee, with every scope. */
function callersOf(row: Row): readonly Caller[] {
  const heedsGrants = CALLERS.some(
    (caller) => caller in GRANTEES && expectedStatus(row, caller) !== expectedStatus(row, 'other tenant'),
  );
  return IS_FULL || heedsGrants ? CALLERS : [...CALLERS.filter((caller) => !(caller in GRANTEES)), EVERY_SCOPE];
}

/** Returns the status that a row promises a caller. */
const statusFor = (row: Row, caller: Caller): number =>
  expectedStatus(row, caller === EVERY_SCOPE ? 'other tenant' : caller);

/** Returns the status of each caller. Fixtures that undo each other are made one after the other. */
async function statusesOf(row: Row): Promise<Partial<Record<Caller, number>>> {
  let shared: Promise<Prepared> | undefined;
  const statuses: Partial<Record<Caller, number>> = {};
  const callers = callersOf(row);
  await times(callers.length, isExclusive(row.fixture) ? 1 : AT_ONCE, async (index) => {
    const caller = callers[index] ?? 'no token';
    // A refused request changes nothing, so the next caller can use the same fixture.
    const isShared = statusFor(row, caller) >= 400 && isForAnyCaller(row.fixture);
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
  const hasBody = body !== undefined && row.method !== 'get' && row.method !== 'delete';
  return () =>
    statusOf(caller, row.method, `${path}${search}`, {
      headers: {
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(lines !== undefined && { 'Content-Type': 'application/x-ndjson' }),
        ...(form !== undefined && { 'Content-Type': 'application/x-www-form-urlencoded' }),
      },
      body: lines ?? (form !== undefined ? new URLSearchParams(form).toString() : hasBody ? body : undefined),
    });
}

/** Sends a request over a kept connection. Returns the status. The answer must conform to the OpenAPI document. */
async function statusOf(caller: Caller, method: Row['method'], path: string, sent: Sent): Promise<number> {
  const { gateway, sql } = world;
  const target = { port: Number(new URL(gateway.url).port), sql, token: async () => world.token(caller) ?? '' };
  const user = caller === 'no token' ? null : caller;
  const { status, headers: received, body } = await send(target, method.toUpperCase(), path, { ...sent, user });
  const text = body.toString();
  const headers = Object.fromEntries(Object.entries(received).map(([name, value]) => [name, String(value)]));
  const isJson = headers['content-type']?.startsWith('application/json') === true && text !== '';
  const fault = gateway.faultOf(method, path, { status, headers, text, body: isJson ? JSON.parse(text) : {} });
  if (fault !== null) throw new Error(fault);
  return status;
}

describe.each(TABLE.map((row) => [`${row.method.toUpperCase()} ${row.path} ${row.when ?? ''}`, row] as const))(
  '%s',
  (_, row) => {
    it('returns to each caller the status in the table', async () => {
      const expected = Object.fromEntries(callersOf(row).map((caller) => [caller, statusFor(row, caller)]));
      expect(await statusesOf(row)).toEqual(expected);
    });
  },
);

/** Every tenant may add members and issuers of these names, and learn that it has no grants on a subject. */
const OF_ANY_TENANT = /\{(?:principal_id|issuer)\}|\/absence-proof$/;

it.each(
  TABLE.filter(
    ({ path, role, actsFor }) =>
      role !== undefined && actsFor === 'owner' && /\{tenant_id\}.*\{/.test(path) && !OF_ANY_TENANT.test(path),
  ).map((row) => [`${row.method.toUpperCase()} ${row.path} ${row.when ?? ''}`, row] as const),
)('%s refuses the id of another tenant’s resource below the own tenant', async (_, row) => {
  const { params, ...prepared } = await prepare(world, row.fixture, 'tenant_owner');
  const foreign = { ...prepared, params: { ...params, tenant_id: tenantOf('other tenant') } };
  expect([403, 404]).toContain(await requestOf(row, 'other tenant', foreign)());
});

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

it('the table contains exactly the routes of the service', async () => {
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
