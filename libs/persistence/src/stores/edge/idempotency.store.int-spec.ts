import { createHash, randomBytes } from 'node:crypto';
import { type NoParameters, statement } from '../../sql/statement';
import { openWorld, type World } from '../../testing/world';
import { IdempotencyStore } from './idempotency.store';

const AGE = statement<{ key: Buffer; seconds: number }>(
  'spec_idempotency_age',
  `UPDATE idempotency_keys SET started_at = now() - :seconds * interval '1 second' WHERE key_hash = :key`,
);
const SUBJECTS = statement<{ key: Buffer }, { hasSubject: boolean }>(
  'spec_idempotency_subjects',
  'SELECT subject_hash IS NOT NULL AS "hasSubject" FROM idempotency_keys WHERE key_hash = :key',
);
const KEYS = statement<NoParameters, { key_hash: Buffer }>(
  'spec_idempotency_keys',
  'SELECT key_hash FROM idempotency_keys',
);

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
const BODY = hash('body');

let world: World;
let store: IdempotencyStore;
let key: Buffer;

beforeAll(async () => {
  world = await openWorld();
  store = new IdempotencyStore(world.database.sql);
});

afterAll(() => world?.close());

beforeEach(() => {
  key = randomBytes(32);
});

const begin = async (): Promise<string> => {
  const outcome = await store.begin(key, BODY);
  if (outcome.kind !== 'began') throw new Error(`the key is ${outcome.kind}`);
  return outcome.claim;
};
const age = (seconds: number) => world.database.sql.run(AGE, { key, seconds });

describe('IdempotencyStore.begin', () => {
  it('lets only one of many concurrent requests begin', async () => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => store.begin(key, BODY)));
    expect(outcomes.filter(({ kind }) => kind === 'began')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'running')).toHaveLength(49);
  });

  it('returns the stored answer for the same body', async () => {
    const claim = await begin();
    expect(await store.begin(key, BODY)).toEqual({ kind: 'running' });
    await store.keep(key, claim, 'answer');
    expect(await store.begin(key, BODY)).toEqual({ kind: 'answered', answer: 'answer' });
    expect(await store.begin(key, hash('other'))).toEqual({ kind: 'other_body' });
  });

  it('begins again after 24 hours with any body', async () => {
    await store.keep(key, await begin(), 'answer', { subjectType: 'entity', subjectId: 'x' });
    expect(await world.database.sql.run(SUBJECTS, { key })).toEqual([{ hasSubject: true }]);
    await age(86_395);
    expect(await store.begin(key, BODY)).toEqual({ kind: 'answered', answer: 'answer' });
    await age(86_400);
    expect(await store.begin(key, hash('other'))).toMatchObject({ kind: 'began' });
    expect(await store.begin(key, hash('other'))).toEqual({ kind: 'running' });
    // An erasure of the subject of the old answer does not free the key.
    expect(await world.database.sql.run(SUBJECTS, { key })).toEqual([{ hasSubject: false }]);
  });

  it('lets one request with the same body take over the key after a minute', async () => {
    const dead = await begin();
    await age(61);
    expect(await store.begin(key, hash('other'))).toEqual({ kind: 'other_body' });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.begin(key, BODY)));
    expect(outcomes.filter(({ kind }) => kind === 'began')).toHaveLength(1);
    // The request that was taken for dead can neither answer nor free the key.
    await store.keep(key, dead, 'late');
    await store.free(key, dead);
    expect(await store.begin(key, BODY)).toEqual({ kind: 'running' });
  });
});

describe('IdempotencyStore.free', () => {
  it('frees the key, unless it has an answer', async () => {
    await store.free(key, await begin());
    const claim = await begin();
    await store.keep(key, claim, 'answer');
    await store.free(key, claim);
    expect(await store.begin(key, BODY)).toEqual({ kind: 'answered', answer: 'answer' });
  });
});

describe('IdempotencyStore.deleteExpired', () => {
  it('deletes keys older than 24 hours in batches, oldest first', async () => {
    while ((await store.deleteExpired(1000)) > 0);
    const old: Buffer[] = [];
    for (let count = 0; count < 3; count += 1) {
      key = randomBytes(32);
      old.push(key);
      await begin();
      await age(90_000 - count);
    }
    key = randomBytes(32);
    await begin();
    expect(await store.deleteExpired(2)).toBe(2);
    const left = (await world.database.sql.run(KEYS, {})).map(({ key_hash }) => key_hash.toString('hex'));
    expect(left).toContain(old[2]?.toString('hex'));
    expect(left).not.toContain(old[0]?.toString('hex'));
    expect(await store.deleteExpired(2)).toBe(1);
    expect(await store.begin(key, BODY)).toEqual({ kind: 'running' });
  });
});
