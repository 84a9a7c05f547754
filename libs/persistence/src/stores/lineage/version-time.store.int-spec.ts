import { randomUUID } from 'node:crypto';
import { parseDateTime, type SubjectRef, TIME_BASES, type TimeBasis } from '@iss/domain';
import { Client } from 'pg';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import { LINEAGE_ORDERS } from './snapshot-list.store';
import { VersionTimeStore } from './version-time.store';

let world: World;
let superuser: Client;
let store: VersionTimeStore;

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  store = new VersionTimeStore(world.database.sql);
});

afterAll(async () => {
  await superuser?.end();
  await world?.close();
});

/** The times of a version: when it was stored, with microseconds, and its writer's time. */
interface Times {
  recorded: string;
  effective: string;
}

/** Adds a subject whose versions have these times. */
async function chainOf(times: readonly Times[]): Promise<SubjectRef> {
  const subject = { subjectType: 'organization', subjectId: `subject-${randomUUID()}` };
  await superuser.query(
    `WITH subject AS (
       INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ($1, $2, 'acme') RETURNING subject_key
     )
     INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, created_at, generated_at, envelope)
     SELECT subject_key, version, gen_random_uuid(), 'acme', recorded, effective, '{}'
       FROM subject, unnest($3::timestamptz[], $4::text[]) WITH ORDINALITY AS t(recorded, effective, version)`,
    [
      subject.subjectType,
      subject.subjectId,
      times.map(({ recorded }) => recorded),
      times.map(({ effective }) => effective),
    ],
  );
  return subject;
}

const owner = { tenantId: 'acme', principalId: 'tenant_reader' };
const READERS = [owner, { tenantId: null, principalId: 'tenant_reader' }];

/** Returns the version of a moment, for which both forms must agree; if there was none, the time of the first one. */
async function asOf(subject: SubjectRef, basis: TimeBasis, at: string | number): Promise<number | string | null> {
  const found = new Set<number | string | null>();
  for (const reader of READERS) {
    const { facts, version, firstAt } = await store.versionAsOf(reader, subject, { basis, at: new Date(at) });
    expect(facts.ownsSubject).toBe(true);
    found.add(version ?? firstAt?.toISOString() ?? null);
  }
  expect(found.size).toBe(1);
  return [...found][0] ?? null;
}

const DAY = '2026-03-01T12:00:00';
const same = (text: string): Times => ({ recorded: text, effective: text });

describe.each(TIME_BASES)('VersionTimeStore.versionAsOf by %s time', (basis) => {
  it('returns the newest version up to that millisecond', async () => {
    const subject = await chainOf([same(`${DAY}.100900Z`), same(`${DAY}.200Z`), same(`${DAY}.300Z`)]);
    expect(await asOf(subject, basis, `${DAY}.099Z`)).toBe(`${DAY}.100Z`);
    expect(await asOf(subject, basis, `${DAY}.100Z`)).toBe(1);
    expect(await asOf(subject, basis, `${DAY}.199Z`)).toBe(1);
    expect(await asOf(subject, basis, `${DAY}.200Z`)).toBe(2);
    expect(await asOf(subject, basis, `${DAY}.300Z`)).toBe(3);
    expect(await asOf(subject, basis, '9999-12-31T23:59:59Z')).toBe(3);
    expect(await asOf(subject, basis, '0001-01-01T00:00:00Z')).toBe(`${DAY}.100Z`);
  });

  it('returns the highest version if times are equal', async () => {
    const subject = await chainOf([same(`${DAY}Z`), same(`${DAY}Z`), same(`${DAY}Z`)]);
    expect(await asOf(subject, basis, `${DAY}Z`)).toBe(3);
  });

  it('returns null for an unknown subject', async () => {
    const missing = { subjectType: 'organization', subjectId: 'none' };
    const found = await store.versionAsOf(owner, missing, { basis, at: new Date() });
    expect(found).toMatchObject({ headVersion: null, version: null, firstAt: null, facts: { ownsSubject: false } });
  });
});

/** Returns a minute of the day as RFC 3339, in one of several forms. */
const minute = (at: number, form = 0): string => {
  const time = new Date(Date.UTC(2026, 2, 1, 0, at));
  switch (form % 3) {
    case 0:
      return time.toISOString();
    case 1:
      return time.toISOString().replace('T', 't').replace('.000Z', 'z');
    default:
      return new Date(time.getTime() - 90 * 60_000).toISOString().replace('.000Z', '.0000000-01:30');
  }
};

it('finds the version at an effective time if versions were written in any order', async () => {
  const minutes = [50, 10, 30, 30, 70, 20, 10, 60];
  const subject = await chainOf(
    minutes.map((at, index) => ({ recorded: minute(index), effective: minute(at, index) })),
  );
  for (let at = 0; at <= 80; at += 10) {
    const best = minutes
      .map((time, index) => ({ time, version: index + 1 }))
      .filter(({ time }) => time <= at)
      .sort((a, b) => b.time - a.time || b.version - a.version)[0];
    const atMs = Date.parse(minute(at));
    expect({ at, found: await asOf(subject, 'effective', atMs) }).toEqual({ at, found: best?.version ?? minute(10) });
  }
});

describe('effective_time', () => {
  it.each([
    '2026-01-15T09:30:00Z',
    '2026-01-15t09:30:00.123456789z',
    '2026-01-15T09:30:00.9999999999+23:59',
    '0001-01-01T00:00:00-23:59',
    '2016-12-31T23:59:60Z',
    '2024-02-29T23:59:59.999-00:01',
    '9999-12-31T23:59:59Z',
  ])('parses %s as parseDateTime does', async (text) => {
    const { rows } = await superuser.query(
      `SELECT floor(extract(epoch FROM effective_time($1)) * 1000)::text AS milliseconds`,
      [text],
    );
    expect(Number(rows[0].milliseconds)).toBe(parseDateTime(text)?.getTime());
  });

  it.each(['x', '', '2026-01-15', '2026-01-15T09:30:00', '2026-02-31T00:00:00Z', 'now'])(
    'returns null for %j',
    async (text) => {
      const { rows } = await superuser.query('SELECT effective_time($1) AS time', [text]);
      expect(rows).toEqual([{ time: null }]);
    },
  );
});

describe('VersionTimeStore.within', () => {
  const minutes = [50, 10, 30, 30, 70, 20, 10, 60];
  const windows = [
    [null, null],
    [10, 30],
    [30, 30],
    [31, 59],
    [null, 20],
    [60, null],
    [71, null],
    [5, 3],
  ] as const;

  it.each(TIME_BASES.flatMap((basis) => LINEAGE_ORDERS.map((order) => [basis, order] as const)))(
    'matches a search of the whole chain by %s time in order %s on pages of any size',
    async (basis, order) => {
      const subject = await chainOf(
        minutes.map((at, index) => ({ recorded: minute(10 * (index + 1)), effective: minute(at) })),
      );
      const timed = minutes.map((at, index) => ({
        version: index + 1,
        at: basis === 'recorded' ? 10 * (index + 1) : at,
      }));
      for (const [from, to] of windows) {
        const expected = timed
          .filter(({ at }) => at >= (from ?? 0) && at <= (to ?? 99))
          .sort((a, b) => a.at - b.at || a.version - b.version)
          .map(({ version }) => version);
        if (order === 'desc') expected.reverse();
        for (const limit of [1, 3, 20]) {
          for (const reader of READERS) {
            const seen: number[] = [];
            for (let after: number | null = null; ;) {
              const bound = (at: number | null): Date | null => (at === null ? null : new Date(minute(at)));
              const window = { basis, from: bound(from), to: bound(to) };
              const { versions, headVersion } = await store.within(reader, subject, window, { order, after, limit });
              expect(headVersion).toBe(8);
              seen.push(...versions);
              after = versions.at(-1) ?? null;
              if (versions.length < limit) break;
            }
            expect({ from, to, limit, seen }).toEqual({ from, to, limit, seen: expected });
          }
        }
      }
    },
  );
});

it('reads a bounded number of rows for any length of the chain', async () => {
  const chain = (count: number): Promise<SubjectRef> =>
    chainOf(
      Array.from({ length: count }, (_, index) => ({
        recorded: minute(index),
        effective: minute((index * 7919) % count),
      })),
    );
  const [short, long] = [await chain(10), await chain(10_000)];
  const read = async (name: string, subject: SubjectRef, given: object): Promise<number> =>
    rowsRead(world, name, { ...owner, ...subject, ...given });
  for (const asOfMs of [Date.parse(minute(5)), Date.parse(minute(5_000))]) {
    expect(await read('version_as_of_recorded_tenant', long, { asOf: asOfMs })).toBeLessThan(24);
    const of = (subject: SubjectRef) => read('version_as_of_effective_tenant', subject, { asOf: asOfMs });
    expect(await of(long)).toBeLessThanOrEqual(await of(short));
  }
  const window = { from: Date.parse(minute(2)), ending: Date.parse(minute(9_000)), after: null, limit: 5 };
  expect(await read('versions_recorded_within_tenant', long, window)).toBeLessThan(40);
  for (const order of LINEAGE_ORDERS) {
    expect(await read(`versions_effective_within_${order}_tenant`, long, window)).toBeLessThan(16);
    expect(await read(`versions_effective_within_${order}_tenant`, long, { ...window, after: 5_000 })).toBeLessThan(16);
  }
});
