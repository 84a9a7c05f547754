import { Client } from 'pg';
import type { Test } from 'supertest';
import { FORMS, newSubject, pathOf, ReadWorld, type Subject } from './read-world';

let world: ReadWorld;
let superuser: Client;
let subject: Subject;
/** The times at which its versions were stored, as the service returns them. */
let stored: string[];

/** The time that the writer of each version states. The second one is back-dated. */
const SAID = ['2026-02-10T00:00:00Z', '2026-02-01T08:00:00+02:00', '2026-02-20T23:59:59.999Z', '2026-03-01T00:00:00Z'];
const nameOf = (version: number): string => `Name ${version} AG`;

/** Changes the times of a subject's versions, as if they had been written then. */
async function store(of: Subject, times: readonly string[]): Promise<void> {
  for (const [index, time] of times.entries()) await world.tamper(of, index + 1, `created_at = '${time}'`);
}

beforeAll(async () => {
  world = await ReadWorld.open();
  superuser = new Client({ connectionString: world.gateway.databaseUrl });
  await superuser.connect();
  subject = newSubject();
  for (const [index, generated_at] of SAID.entries()) {
    await world.write(subject, index + 1, {
      generated_at,
      attributes: { legal: { legal_name: nameOf(index + 1) } },
    });
  }
  // Two versions are from the same millisecond. The later one is the one that was known.
  await store(subject, [
    '2026-04-01T10:00:00.123456Z',
    '2026-04-02T10:00:00.500100Z',
    '2026-04-02T10:00:00.500900Z',
    '2026-04-03T10:00:00Z',
  ]);
  const { body } = await world.read(`${pathOf('/v1/tenants/acme', subject)}/snapshots?order=asc`);
  stored = body.items.map((item: { created_at: string }) => item.created_at);
});

afterAll(async () => {
  await superuser?.end();
  await world?.close();
});

const at = (time: string | undefined): string => `as_of=${encodeURIComponent(time ?? '')}`;
const before = (time: string | undefined): string => new Date(Date.parse(time ?? '') - 1).toISOString();
/** Reads as another tenant with these scopes. */
async function grant(to: Subject, scopes: readonly string[]): Promise<void> {
  const body = { grantee_tenant_id: 'beta', ...to, scopes };
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/grants').send(body).expect(201);
}

describe.each(FORMS)('as_of on routes below %s', (form) => {
  const latest = (query: string, status = 200): Test =>
    world.read(`${pathOf(form, subject)}/snapshots/latest?${query}`, status);

  it('returns the version that was the latest at that time, in milliseconds', async () => {
    for (const [time, version] of [
      [stored[0], 1],
      [before(stored[1]), 1],
      [stored[1], 3],
      [before(stored[3]), 3],
      [stored[3], 4],
      ['2099-01-01T00:00:00Z', 4],
      ['2026-04-01T12:00:00.123+02:00', 1],
    ] as const) {
      const { body } = await latest(at(time));
      expect({ time, version: body.snapshot_version }).toEqual({ time, version });
      expect(body).toEqual((await world.read(`${pathOf(form, subject)}/snapshots/${version}`)).body);
    }
  });

  it('accepts a date as the end of that day, and an unescaped plus sign', async () => {
    for (const [query, version] of [
      ['as_of=2026-04-01', 1],
      ['as_of=2026-04-02', 3],
      ['as_of=2026-02-09&basis=effective', 2],
      ['as_of=2026-04-01T12:00:00.123+02:00', 1],
      ['as_of=2026-04-03T12:00:00+02:00', 4],
    ] as const) {
      expect({ query, version: (await latest(query)).body.snapshot_version }).toEqual({ query, version });
    }
    await latest('as_of=2026-04-01T12:00:00.123%2002:00x', 400);
    const history = await world.read(`${pathOf(form, subject)}/history?to=2026-04-01T12:00:00.123+02:00`);
    expect(history.body.items).toHaveLength(1);
  });

  it('returns the effective version with basis=effective, regardless of the order of storage', async () => {
    for (const [time, version] of [
      ['2026-02-01T06:00:00Z', 2],
      ['2026-02-09T23:59:59.999Z', 2],
      [SAID[0], 1],
      ['2026-02-20T23:59:59.998Z', 1],
      [SAID[2], 3],
      [SAID[3], 4],
    ] as const) {
      expect((await latest(`${at(time)}&basis=effective`)).body.snapshot_version).toBe(version);
    }
  });

  it('returns 404 with the time of the first version if none existed yet', async () => {
    for (const [query, first] of [
      [at(before(stored[0])), stored[0]],
      [`${at('2026-02-01T05:59:59.999Z')}&basis=effective`, '2026-02-01T06:00:00.000Z'],
    ]) {
      const { body } = await latest(String(query), 404);
      expect(body.error.code).toBe('not_found');
      expect(body.error.message).toContain(first);
      // If only the other basis has a version, the answer names that basis.
      expect(body.error.message.includes('basis=effective')).toBe(!String(query).includes('effective'));
      expect(body.error.details).toEqual([
        { path: '/query/as_of', message: `must not be before ${String(first)}`, code: 'not_found' },
      ]);
    }
  });

  it('must be revalidated, and returns 304 if the version is the same', async () => {
    const { headers } = await latest(at(stored[0]));
    expect(headers['cache-control']).toBe('private, no-cache');
    const again = world.gateway.as('reader', 'get', `${pathOf(form, subject)}/snapshots/latest?${at(stored[0])}`);
    await again.set('If-None-Match', headers['etag'] ?? '').expect(304);
    const later = world.gateway.as('reader', 'get', `${pathOf(form, subject)}/snapshots/latest?${at(stored[3])}`);
    await later.set('If-None-Match', headers['etag'] ?? '').expect(200);
  });

  it('combines with view and verify, also in the summary', async () => {
    expect((await latest(`${at(stored[0])}&view=header`)).body).not.toHaveProperty('envelope');
    const { body } = await latest(`${at(stored[1])}&verify=chain&depth=all`);
    expect(body.verification).toMatchObject({
      hash: { valid: true },
      chain: { valid: true, depth: 2, complete: true },
    });
    const summary = await world.read(`${pathOf(form, subject)}?${at(stored[1])}&verify=hash`);
    expect(summary.body).toMatchObject({
      current_snapshot: { snapshot_version: 3 },
      identity: { legal: { legal_name: nameOf(3) } },
      verification: { hash: { valid: true } },
    });
  });

  it('defaults to now if only basis is given', async () => {
    expect((await latest('basis=effective')).body.snapshot_version).toBe(4);
    const later = newSubject();
    await world.write(later, 1, { generated_at: '2026-01-01T00:00:00Z' });
    await world.write(later, 2, { generated_at: '2099-01-01T00:00:00Z' });
    for (const path of ['snapshots/latest', 'provenance']) {
      const read = async (query: string) => (await world.read(`${pathOf(form, later)}/${path}?${query}`)).body;
      expect((await read('basis=effective')).snapshot_version).toBe(1);
      expect((await read('basis=recorded')).snapshot_version).toBe(2);
    }
  });

  it('selects either side of a diff', async () => {
    const diff = (query: string, status = 200) => world.read(`${pathOf(form, subject)}/diff?${query}`, status);
    const { body: byVersions, headers: named } = await diff('from_version=1&to_version=3');
    for (const query of [
      `from_version=1&${at(stored[1])}`,
      `from_${at(stored[0])}&to_version=3`,
      `from_${at(stored[0])}&${at(stored[1])}`,
      `from_${at('2026-02-15T00:00:00Z')}&${at('2026-02-25T00:00:00Z')}&basis=effective`,
    ]) {
      const { body, headers } = await diff(query);
      expect(body).toEqual(byVersions);
      expect(headers['etag']).toBe(named['etag']);
      expect(headers['cache-control']).toBe('private, no-cache');
    }
    expect(named['cache-control']).toBe('private, immutable');
    expect((await diff(`from_version=1&${at(before(stored[0]))}`, 404)).body.error.message).toContain(stored[0]);
  });

  it.each([
    ['to_version=2', '/query/from_version', 'required'],
    ['from_version=1&basis=effective', '/query/to_version', 'required'],
    ['from_version=1&from_as_of=2026-01-01T00:00:00Z&to_version=2', '/query/from_as_of', 'mismatch'],
    ['from_version=1&as_of=2026-01-01T00:00:00Z&to_version=2', '/query/as_of', 'mismatch'],
    ['from_version=1&as_of=2026-13-01', '/query/as_of', 'invalid_value'],
    ['from_version=1&as_of=2026-01-01T00:00:00Z&basis=known', '/query/basis', 'invalid_value'],
  ])('refuses a diff with %s', async (query, path, code) => {
    expect(await world.faultOf(`${pathOf(form, subject)}/diff?${query}`)).toMatchObject({ path, code });
  });

  it('ends an export at that time, as a document and as lines', async () => {
    const versionsOf = (items: { snapshot_version: number }[]): number[] => items.map((item) => item.snapshot_version);
    const { body } = await world.read(`${pathOf(form, subject)}/export?${at(stored[1])}`);
    expect(versionsOf(body.snapshots)).toEqual([1, 2, 3]);
    const whole = await world.read(`${pathOf(form, subject)}/export.ndjson`);
    const lines = whole.text.split('\n').slice(0, 3);
    for (const [query, count] of [
      [at(stored[1]), 3],
      [`${at('2026-02-05T00:00:00Z')}&basis=effective`, 2],
    ] as const) {
      const { text } = await world.read(`${pathOf(form, subject)}/export.ndjson?${query}`);
      expect(text).toBe(
        lines
          .slice(0, count)
          .map((line) => `${line}\n`)
          .join(''),
      );
    }
    await world.read(`${pathOf(form, subject)}/export?${at(before(stored[0]))}`, 404);
  });

  it('is refused for a bundle, which always includes the latest version', async () => {
    const path = `${pathOf(form, subject)}/export?proofs=log&${at(stored[1])}`;
    expect(await world.faultOf(path)).toMatchObject({ path: '/query/as_of', code: 'mismatch' });
  });

  it.each(['', '2026-13-01', '2026-01-01T00:00:00', '2026-02-30T00:00:00Z', 'now'])(
    'refuses as_of=%s',
    async (time) => {
      for (const path of time === 'now' ? ['', '/snapshots/latest', '/export', '/export.ndjson'] : ['']) {
        expect(await world.faultOf(`${pathOf(form, subject)}${path}?as_of=${time}`)).toMatchObject({
          path: '/query/as_of',
          code: 'invalid_value',
        });
      }
    },
  );

  it('is unknown to reads of one version, of the history and of the chain proof', async () => {
    for (const path of ['/snapshots/1', '/history', '/chain-proof']) {
      expect(await world.faultOf(`${pathOf(form, subject)}${path}?${at(stored[0])}`)).toMatchObject({
        path: '/query/as_of',
        code: 'unknown_field',
      });
    }
  });
});

describe('a grantee that reads with as_of', () => {
  const latest = (of: Subject, time: string | undefined, status: number) =>
    world.read(`${pathOf('/v1/tenants/beta', of)}/snapshots/latest?${at(time)}`, status, 'bob');
  const times = ['2026-04-01T10:00:00Z', '2026-04-02T10:00:00Z'];

  async function granted(scopes: readonly string[]): Promise<Subject> {
    const of = await world.written(2);
    await store(of, times);
    await grant(of, scopes);
    return of;
  }

  it('learns nothing about earlier versions with only read_latest', async () => {
    const of = await granted(['read_latest']);
    expect((await latest(of, times[1], 200)).body.snapshot_version).toBe(2);
    for (const time of [times[0], '2026-01-01T00:00:00Z']) {
      const { body } = await latest(of, time, 403);
      expect(body.error.message).toContain('read_snapshot_by_id or read_lineage');
      expect(body.error).not.toHaveProperty('details');
    }
    await world.read(`${pathOf('/v1', of)}/snapshots/latest?${at(times[0])}`, 404, 'bob');
    await world.read(`${pathOf('/v1', of)}?${at(times[0])}`, 404, 'bob');
    await world.read(`${pathOf('/v1', of)}?${at(times[1])}`, 200, 'bob');
  });

  it.each(['read_snapshot_by_id', 'read_lineage'])('can read earlier versions with %s', async (scope) => {
    const of = await granted([scope]);
    expect((await latest(of, times[0], 200)).body.snapshot_version).toBe(1);
    expect((await latest(of, times[1], 200)).body.snapshot_version).toBe(2);
    expect((await latest(of, '2026-01-01T00:00:00Z', 404)).body.error.message).toContain('2026-04-01T10:00:00.000Z');
  });

  it('gets 403 with the reason if allow_counterparty_access is off', async () => {
    const of = await granted(['read_latest']);
    const flag = (allow_counterparty_access: boolean) =>
      world.gateway
        .as('bob', 'put', `/v1/tenants/beta/principals/${encodeURIComponent('oidc:test#bob')}`)
        .send({ allow_counterparty_access })
        .expect(200);
    await flag(false);
    expect((await latest(of, times[1], 403)).body.error.message).toContain('allow_counterparty_access is false');
    await flag(true);
  });

  it('can compare two times with read_diff, but cannot read the versions', async () => {
    const of = await granted(['read_diff']);
    const diff = `${pathOf('/v1/tenants/beta', of)}/diff?from_${at(times[0])}&${at(times[1])}`;
    expect((await world.read(diff, 200, 'bob')).body).toMatchObject({ from_version: 1, to_version: 2 });
    await latest(of, times[1], 403);
  });
});

/** The disclosures that reads by another tenant leave. */
async function disclosed(of: Subject): Promise<string[]> {
  const { rows } = await superuser.query(
    `SELECT grantee_tenant_id, via, from_version, to_version FROM disclosures
      WHERE subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1) ORDER BY disclosure_id`,
    [of.subject_id],
  );
  return rows.map((row) => `${row.grantee_tenant_id} ${row.via} ${row.from_version}-${row.to_version}`);
}

it('each version that a grantee reads by time is recorded as a disclosure', async () => {
  for (const form of ['/v1', '/v1/tenants/beta']) {
    const of = await world.written(3);
    await store(of, ['2026-04-01T10:00:00Z', '2026-04-02T10:00:00Z', '2026-04-03T10:00:00Z']);
    await grant(of, ['read_latest']);
    await world.read(`${pathOf(form, of)}/snapshots/latest?${at('2026-04-03T10:00:00Z')}`, 200, 'bob');
    await world.read(`${pathOf(form, of)}?${at('2026-04-03T10:00:00Z')}`, 200, 'bob');
    await world.read(
      `${pathOf(form, of)}/snapshots/latest?${at('2026-04-02T10:00:00Z')}`,
      form === '/v1' ? 404 : 403,
      'bob',
    );
    expect(await disclosed(of)).toEqual(['beta snapshot 3-3', 'beta summary 3-3']);
  }
  for (const form of ['/v1', '/v1/tenants/beta']) {
    const of = newSubject();
    for (const [index, generated_at] of SAID.entries()) await world.write(of, index + 1, { generated_at });
    await grant(of, ['read_lineage']);
    await world.read(`${pathOf(form, of)}/snapshots/latest?${at(SAID[0])}&basis=effective`, 200, 'bob');
    await world.read(
      `${pathOf(form, of)}/history?view=header&from=2026-02-01&to=2026-02-05&basis=effective`,
      200,
      'bob',
    );
    await world.read(`${pathOf(form, of)}/history?view=full&from=2026-02-10&basis=effective`, 200, 'bob');
    await world.read(`${pathOf(form, of)}/export?${at(SAID[2])}&basis=effective`, 200, 'bob');
    expect(await disclosed(of)).toEqual([
      'beta snapshot 1-1',
      'beta headers 2-2',
      'beta history 1-1',
      'beta history 3-4',
      'beta export 1-3',
    ]);
  }
});

it('as_of does not reveal whether a subject exists', async () => {
  const missing = newSubject();
  await world.read(`${pathOf('/v1/tenants/acme', missing)}/snapshots/latest?${at(stored[0])}`, 403);
  const { body } = await world.read(`${pathOf('/v1', missing)}/snapshots/latest?${at(stored[0])}`, 404);
  expect(body.error).not.toHaveProperty('details');
});

it('a version stored after the clock was set back is not older than its parent', async () => {
  const of = await world.written(1);
  await store(of, ['2099-01-01T00:00:00.5Z']);
  await world.write(of, 2);
  const { body } = await world.read(`${pathOf('/v1/tenants/acme', of)}/snapshots?order=asc`);
  const [first, second] = body.items;
  expect(second.created_at).toBe(first.created_at);
  const latest = await world.read(`${pathOf('/v1', of)}/snapshots/latest?${at(first.created_at)}`);
  expect(latest.body.snapshot_version).toBe(2);
});

describe.each([
  ['/v1', 'history', 'full'],
  ['/v1/tenants/acme', 'history', 'header'],
  ['/v1/tenants/acme', 'snapshots', 'full'],
])('a window of time on %s …/%s with view=%s', (form, name, view) => {
  const path = (query: string): string => `${pathOf(form, subject)}/${name}?view=${view}&${query}`;
  const versions = async (query: string): Promise<number[]> => {
    const { body } = await world.read(path(query));
    for (const item of body.items) {
      expect(item).toEqual(
        (await world.read(`${pathOf(form, subject)}/snapshots/${item.snapshot_version}?view=${view}`)).body,
      );
    }
    return body.items.map((item: { snapshot_version: number }) => item.snapshot_version);
  };

  it('contains the versions that were stored in it', async () => {
    expect(await versions('from=2026-04-02')).toEqual([4, 3, 2]);
    expect(await versions('from=2026-04-02&to=2026-04-02&order=asc')).toEqual([2, 3]);
    expect(await versions(`to=${String(stored[0])}`)).toEqual([1]);
    expect(await versions(`to=${before(stored[0])}`)).toEqual([]);
    expect(await versions(`from=${String(stored[3])}&order=asc`)).toEqual([4]);
    expect(await versions('from=2026-05-01')).toEqual([]);
  });

  it('contains the versions that were effective in it, in the order of their effective times', async () => {
    expect(await versions('from=2026-02-01&basis=effective&order=asc')).toEqual([2, 1, 3, 4]);
    expect(await versions('to=2026-02-28&basis=effective')).toEqual([3, 1, 2]);
    expect(await versions('from=2026-02-10&to=2026-02-20&basis=effective')).toEqual([3, 1]);
  });

  it.each(['recorded', 'effective'])(
    'is paged to its end with basis=%s, by cursors that are valid only for it',
    async (basis) => {
      const query = `from=2026-02-01&basis=${basis}&limit=1`;
      const seen: number[] = [];
      for (let next: string | null = path(query); next !== null;) {
        const { body }: { body: { items: { snapshot_version: number }[]; next_cursor: string | null } } =
          await world.read(next);
        seen.push(...body.items.map((item) => item.snapshot_version));
        next = body.next_cursor === null ? null : path(`${query}&cursor=${body.next_cursor}`);
        if (body.next_cursor !== null) {
          const other = path(`from=2026-02-02&basis=${basis}&limit=1&cursor=${body.next_cursor}`);
          expect(await world.faultOf(other)).toMatchObject({ path: '/query/cursor' });
        }
      }
      expect(seen).toEqual(basis === 'recorded' ? [4, 3, 2, 1] : [4, 3, 1, 2]);
    },
  );

  it('is verified on request', async () => {
    const { body } = await world.read(path('from=2026-04-02&to=2026-04-02&verify=chain&depth=all'));
    expect(body.items.map((item: { verification: object }) => item.verification)).toEqual(
      Array(2).fill(expect.objectContaining({ chain: expect.objectContaining({ valid: true, complete: true }) })),
    );
    const hashes = await world.read(path('from=2026-02-10&basis=effective&verify=hash'));
    expect(hashes.body.items.map((item: { verification: { hash: object } }) => item.verification.hash)).toEqual(
      Array(3).fill(expect.objectContaining({ valid: true })),
    );
  });

  it.each([
    ['from=2026-04-03&to=2026-04-02', '/query/from', 'out_of_range'],
    ['from=yesterday', '/query/from', 'invalid_value'],
    ['to=2026-04-02T10:00:00', '/query/to', 'invalid_value'],
    ['from=2026-04-02&basis=both', '/query/basis', 'invalid_value'],
    ['from=2026-04-02&basis=effective&verify=chain', '/query/verify', 'mismatch'],
  ])('is refused for %s', async (query, at, code) => {
    expect(await world.faultOf(path(query))).toMatchObject({ path: at, code });
  });
});

it('a window of large envelopes returns a full page', async () => {
  const of = await world.lineage(7, 900_000);
  const { body } = await world.read(`${pathOf('/v1', of)}/history?from=2020-01-01&order=asc&limit=5`);
  expect(body.items.map((item: { snapshot_version: number }) => item.snapshot_version)).toEqual([1, 2, 3, 4, 5]);
  expect(body.items.every((item: { envelope?: object }) => item.envelope !== undefined)).toBe(true);
});
