import { Client } from 'pg';
import type { Response } from 'supertest';
import type { Disclosure } from '@iss/contract';
import { addLineage } from '../../../tools/testing/lineage';
import type { User } from './gateway';
import { GrantWorld, places } from './grant-world';
import { publishLog } from './publish-log';
import type { Subject } from './read-world';

let world: GrantWorld;
let subject: Subject;
/** The ids of the subject's versions. */
let ids: string[];
/** Subjects for the tests below, one for each test. */
const unused: { subject: Subject; ids: string[] }[] = [];

const SCOPES = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'];

beforeAll(async () => {
  world = await GrantWorld.open();
  await addSubjects(50);
});

afterAll(() => world?.close());

beforeEach(() => {
  const next = unused.pop();
  if (next === undefined) throw new Error('More subjects are needed.');
  ({ subject, ids } = next);
});

/** Adds subjects with two versions in the log that beta may read. */
async function addSubjects(count: number): Promise<void> {
  const { superuser, gateway } = world;
  for (let at = 1; at <= count; at++) {
    const owner = { tenantId: 'acme', subjectType: 'organization', subjectId: `subject-${at}` };
    await addLineage(superuser, owner, 2);
  }
  await superuser.query(
    `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
     SELECT gen_random_uuid(), 'acme', 'beta', subject_key, $1 FROM subjects WHERE subject_id LIKE 'subject-%'`,
    [SCOPES],
  );
  const { rows } = await superuser.query<{ subject_id: string; ids: string[] }>(
    `SELECT subject_id, array_agg(snapshot_id::text ORDER BY snapshot_version) AS ids
       FROM snapshots JOIN subjects USING (subject_key) GROUP BY subject_id`,
  );
  for (const { subject_id, ids } of rows) unused.push({ subject: { subject_type: 'organization', subject_id }, ids });
  await publishLog(gateway.databaseUrl);
}

/** Ends the access of beta to the subject. */
const revokeGrants = () =>
  world.superuser.query(
    `UPDATE grants SET revoked_at = now()
      WHERE revoked_at IS NULL AND subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1)`,
    [subject.subject_id],
  );

const of = (tenant: string): string => `/v1/tenants/${tenant}/subjects/organization/${subject.subject_id}`;
const GLOBAL = (): string => `/v1/subjects/organization/${subject.subject_id}`;

const get = (path: string, user: User = 'bob', status = 200) => world.gateway.as(user, 'get', path).expect(status);

async function disclosed(query = ''): Promise<Disclosure[]> {
  const { body } = await get(`${of('acme')}/disclosures${query}`, 'admin');
  return body.items;
}

/** Summarizes who was shown which versions, and how. */
const short = ({ principal_id, from_version, to_version, via }: Disclosure): string =>
  `${principal_id.slice('oidc:test#'.length)} ${from_version}-${to_version} ${via}`;
const shorts = async (): Promise<string[]> => (await disclosed()).map(short).sort();

// Every read of a subject, in the form below a tenant. The form without a tenant is tested too.
const READS: [string, () => string, string[]][] = [
  ['a summary', () => '', ['bob 2-2 summary']],
  ['the latest', () => '/snapshots/latest', ['bob 2-2 snapshot']],
  ['the latest, its header', () => '/snapshots/latest?view=header', ['bob 2-2 headers']],
  ['the latest, verified', () => '/snapshots/latest?verify=chain&depth=all', ['bob 2-2 snapshot']],
  ['a version', () => '/snapshots/1', ['bob 1-1 snapshot']],
  ['an id', () => `/snapshots/${ids[0]}`, ['bob 1-1 snapshot']],
  ['a proof', () => `/snapshots/${ids[0]}/proof`, ['bob 1-1 proof']],
  ['a log proof', () => `/snapshots/${ids[0]}/log-proof`, ['bob 1-1 proof']],
  ['a history', () => '/history?view=full', ['bob 1-2 history']],
  ['a page of a history', () => '/history?view=full&limit=1', ['bob 2-2 history']],
  ['a history of headers', () => '/snapshots?view=header', ['bob 1-2 headers']],
  ['a chain proof', () => '/chain-proof', ['bob 1-2 proof']],
  ['an export', () => '/export', ['bob 1-2 export']],
  ['an export in lines', () => '/export.ndjson', ['bob 1-2 export']],
  ['a provenance', () => '/provenance?version=1', ['bob 1-1 provenance']],
  ['a diff', () => '/diff?from_version=1&to_version=2', ['bob 1-1 diff', 'bob 2-2 diff']],
  ['a diff by ids', () => `/snapshots/${ids[0]}/diff/${ids[1]}`, ['bob 1-1 diff', 'bob 2-2 diff']],
];

const isById = (path: string): boolean => ids.some((id) => path.includes(id));
const formsOf = (path: string): string[] =>
  isById(path) ? [`/v1/tenants/beta${path}`, `/v1${path}`] : [of('beta') + path, GLOBAL() + path];

it.each(READS)('a read of %s is recorded as a disclosure, in both forms', async (_, pathOf, expected) => {
  const [scoped = '', global = ''] = formsOf(pathOf());
  await get(scoped).set('X-Request-Id', 'first');
  const recorded = await disclosed();
  expect(recorded.map(short).sort()).toEqual(expected);
  const today = new Date().toISOString().slice(0, 10);
  for (const one of recorded) {
    expect(one).toMatchObject({ ...subject, grantee_tenant_id: 'beta', request_id: 'first' });
    expect([today, new Date(Date.now() - 60_000).toISOString().slice(0, 10)]).toContain(one.disclosed_on);
  }
  // The other form finds the same tenant, so the disclosure is the same.
  await get(global);
  expect(await disclosed()).toEqual(recorded);
});

it('a bundle is recorded as a disclosure', async () => {
  await get(`${of('beta')}/export?proofs=log`).set('Accept', 'application/x-ndjson');
  expect(await shorts()).toEqual(['bob 1-2 bundle']);
});

it('the first read of a principal is recorded even if the answer comes from the cache', async () => {
  const path = '/snapshots/latest';
  await get(of('acme') + path, 'alice');
  await get(of('beta') + path, 'bob');
  await get(of('beta') + path, 'proposer');
  expect(await shorts()).toEqual(['bob 2-2 snapshot', 'proposer 2-2 snapshot']);
});

it('concurrent reads are recorded as one disclosure', async () => {
  await Promise.all(Array.from({ length: 20 }, () => get(`${of('beta')}/snapshots/latest`)));
  expect(await shorts()).toEqual(['bob 2-2 snapshot']);
});

it('each hit of a search is recorded, but not the items of a plain list', async () => {
  const name = `Sought ${subject.subject_id} AG`;
  await world.superuser.query('UPDATE subjects SET name = lower($2) WHERE subject_id = $1', [subject.subject_id, name]);
  const list = '/v1/tenants/beta/accessible-subjects';
  expect((await get(`${list}?limit=200`)).body.items.length).toBeGreaterThan(1);
  expect((await get(`${list}?q=sought none`)).body.items).toEqual([]);
  expect(await disclosed()).toEqual([]);
  expect((await get(`${list}?q=sought`)).body.items).toMatchObject([subject]);
  expect(await shorts()).toEqual(['bob 2-2 search']);
  const [hit] = await disclosed();
  expect(hit).toMatchObject({ ...subject, grantee_tenant_id: 'beta', via: 'search' });
  // The owner's own search discloses nothing to others.
  await get('/v1/tenants/acme/subjects?q=sought', 'alice');
  expect(await shorts()).toEqual(['bob 2-2 search']);
});

it('a search returns 503 if its hit cannot be recorded', async () => {
  const name = `Hidden ${subject.subject_id} AG`;
  await world.superuser.query('UPDATE subjects SET name = lower($2) WHERE subject_id = $1', [subject.subject_id, name]);
  await world.superuser.query('REVOKE INSERT ON disclosures FROM iss_gateway');
  try {
    expect((await get('/v1/tenants/beta/accessible-subjects?q=hidden', 'bob', 503)).body.error.code).toBe(
      'unavailable',
    );
  } finally {
    await world.superuser.query('GRANT INSERT ON disclosures TO iss_gateway');
  }
});

it('reads by the owner are not recorded, in either form', async () => {
  for (const [, pathOf] of READS) {
    for (const path of formsOf(pathOf())) await get(path.replace('tenants/beta', 'tenants/acme'), 'alice');
  }
  expect(await disclosed()).toEqual([]);
});

it('refused reads are not recorded', async () => {
  await get(`${of('beta')}/snapshots/3`, 'bob', 404);
  await get(`${of('beta')}/snapshots/latest`, 'zoe', 403);
  await revokeGrants();
  await get(`${of('beta')}/snapshots/latest`, 'bob', 403);
  await get(`${GLOBAL()}/snapshots/latest`, 'bob', 404);
  expect(await disclosed()).toEqual([]);
});

it('a global read is recorded for the first tenant whose grant allows it', async () => {
  await world.setMember('bob', 'beta', 'o1', { allow_counterparty_access: true });
  await world.setMember('o1', 'gamma', 'o1', { allow_counterparty_access: true });
  await revokeGrants();
  await world.grantOn(subject, { scopes: ['read_diff'] });
  await world.grantOn(subject, { grantee_tenant_id: 'gamma', scopes: ['read_latest'] });
  await get(`${GLOBAL()}/snapshots/latest`, 'o1');
  expect(await disclosed()).toMatchObject([{ grantee_tenant_id: 'gamma', principal_id: 'oidc:test#o1' }]);
});

it('a read by a grantee returns 503 if it cannot be recorded', async () => {
  const superuser = new Client({ connectionString: world.gateway.databaseUrl });
  await superuser.connect();
  try {
    await superuser.query('REVOKE INSERT ON disclosures FROM iss_gateway');
    for (const path of ['/snapshots/latest', '/export.ndjson', '/diff?from_version=1&to_version=2']) {
      const { body } = await get(of('beta') + path, 'bob', 503);
      expect(body.error.code).toBe('unavailable');
    }
    await get(`${of('acme')}/snapshots/latest`, 'alice');
  } finally {
    await superuser.query('GRANT INSERT ON disclosures TO iss_gateway');
    await superuser.end();
  }
  await get(`${of('beta')}/snapshots/latest`);
  expect(await shorts()).toEqual(['bob 2-2 snapshot']);
});

describe('lists of disclosures', () => {
  beforeEach(async () => {
    await get(`${of('beta')}/snapshots/1`);
    await get(`${of('beta')}/snapshots/2`);
  });

  it('are newest first, paged and filtered', async () => {
    const both = await disclosed();
    expect(both.map(short)).toEqual(['bob 2-2 snapshot', 'bob 1-1 snapshot']);
    const first: Response = await get(`${of('acme')}/disclosures?limit=1`, 'admin');
    expect(first.body.items).toEqual(both.slice(0, 1));
    const second: Response = await get(`${of('acme')}/disclosures?limit=1&cursor=${first.body.next_cursor}`, 'admin');
    expect([second.body.items, second.body.next_cursor]).toEqual([both.slice(1), null]);
    expect(await disclosed('?grantee_tenant_id=beta')).toEqual(both);
    expect(await disclosed('?grantee_tenant_id=gamma')).toEqual([]);
    expect(await disclosed('?from=2099-01-01T00:00:00Z')).toEqual([]);
    expect(await disclosed('?to=2020-01-01T00:00:00Z')).toEqual([]);
    const today = both[0]?.disclosed_on;
    expect(await disclosed(`?from=${both[1]?.disclosed_on}&to=${today}`)).toEqual(both);
    expect(await disclosed(`?from=${both[1]?.first_at}&to=${both[0]?.first_at}`)).toEqual(both);
  });

  it('are filtered by principal, kind of read and subject', async () => {
    await get(`${of('beta')}/snapshots/1`, 'proposer');
    await get(`${of('beta')}/provenance`);
    const bob = `principal_id=${encodeURIComponent('oidc:test#bob')}`;
    const owners = async (query: string) => (await disclosed(`?${query}`)).map(short);
    expect(await owners(bob)).toEqual(['bob 2-2 provenance', 'bob 2-2 snapshot', 'bob 1-1 snapshot']);
    expect(await owners(`${bob}&via=provenance`)).toEqual(['bob 2-2 provenance']);
    expect(await owners('via=snapshot')).toHaveLength(3);
    expect(await owners('via=diff')).toEqual([]);
    const grantees = async (query: string) =>
      (await get(`/v1/tenants/beta/disclosures?${query}`, 'zoe')).body.items.map(short);
    const named = `subject_type=${subject.subject_type}&subject_id=${subject.subject_id}`;
    expect(await grantees(named)).toHaveLength(4);
    expect(await grantees(`${named}&${bob}&via=provenance`)).toEqual(['bob 2-2 provenance']);
    expect(await grantees(`${bob}&limit=1`)).toEqual(['bob 2-2 provenance']);
    expect(await grantees('subject_type=organization&subject_id=none')).toEqual([]);
    expect(places(await get('/v1/tenants/beta/disclosures?subject_id=x', 'zoe', 400))).toEqual(['/query/subject_type']);
  });

  it('name the grant, its purpose and the request of each disclosure', async () => {
    const { rows } = await world.superuser.query<{ id: string }>(
      `UPDATE grants SET purpose = 'Review of 2026' WHERE subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1)
       RETURNING grant_id AS id`,
      [subject.subject_id],
    );
    const { headers } = await get(`${of('beta')}/provenance`);
    const { body: grant } = await get(`/v1/tenants/beta/grants/${rows[0]?.id}`);
    // Only a grant on all subjects is accepted by a read.
    expect(grant).toMatchObject({ purpose: 'Review of 2026', accepted_at: null });
    const [newest] = await disclosed();
    expect(newest).toMatchObject({
      grant_id: rows[0]?.id,
      purpose: 'Review of 2026',
      request_id: headers['x-request-id'],
    });
  });

  it('show the grantee only its own disclosures', async () => {
    const { body } = await get('/v1/tenants/beta/disclosures', 'zoe');
    expect(body.items.slice(0, 2)).toEqual(await disclosed());
    const { body: none } = await get('/v1/tenants/gamma/disclosures', 'o1');
    expect(none.items.filter((one: Disclosure) => one.grantee_tenant_id !== 'gamma')).toEqual([]);
  });

  it.each([
    ['from=yesterday', '/query/from'],
    ['to=2026-13-15', '/query/to'],
    ['from=2026-01-16T00:00:00Z&to=2026-01-15', '/query/from'],
    ['grantee_tenant_id=-', '/query/grantee_tenant_id'],
    ['via=rumour', '/query/via'],
    ['principal_id=bob', '/query/principal_id'],
    ['since=x', '/query/since'],
  ])('refuse %s', async (query, place) => {
    expect(places(await get(`${of('acme')}/disclosures?${query}`, 'admin', 400))).toEqual([place]);
  });
});
