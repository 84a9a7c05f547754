import { randomBytes, randomUUID } from 'node:crypto';
import { type Database, openDatabase, SealedSecretStore, statement } from '@iss/persistence';
import { keyIdOf, SecretBox } from '@iss/platform';
import { resealSecrets } from '../db/reseal-secrets.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const [OLD, OLDER, NEW, LOST] = [key('old'), key('older'), key('new'), key('lost')];
const ring = (...keys: string[]): SecretBox => SecretBox.fromKeyRing(keys.join(','));

const SECRETS = statement<
  { id: string },
  { secret_sealed: string; previous_secret_sealed: string | null; is_bounded: boolean }
>(
  'spec_secrets',
  `SELECT secret_sealed, previous_secret_sealed, previous_secret_until IS NOT NULL AS is_bounded
     FROM webhook_subscriptions WHERE subscription_id = :id`,
);

let testDatabase: TestDatabase;
let database: Database;
let store: SealedSecretStore;

beforeEach(async () => {
  testDatabase = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: testDatabase.url, poolSize: 4, applicationName: 'reseal-spec' });
  store = new SealedSecretStore(database.sql);
  await run('tenant', `INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
});

afterEach(async () => {
  await database?.close();
  await testDatabase?.drop();
});

const run = (name: string, text: string, parameters: Record<string, unknown> = {}) =>
  database.sql.run(statement<Record<string, unknown>>(`spec_reseal_${name}`, text), parameters);

async function subscribe(box: SecretBox, previous?: { box: SecretBox; graceSeconds: number }): Promise<string> {
  const id = randomUUID();
  await run(
    'subscribe',
    `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed,
                                        secret_fingerprint, previous_secret_sealed, previous_secret_until)
     VALUES (:id, 'acme', 'https://example.com/', '{identity.snapshot.created}', :secret, 'f', :previous,
             now() + :graceSeconds::float8 * interval '1 second')`,
    {
      id,
      secret: box.seal(`secret of ${id}`, id),
      previous: previous?.box.seal(`before ${id}`, id) ?? null,
      graceSeconds: previous?.graceSeconds ?? null,
    },
  );
  return id;
}

async function secretsOf(id: string) {
  const [row] = await database.sql.run(SECRETS, { id });
  if (row === undefined) throw new Error('no such subscription');
  return row;
}

describe('resealSecrets', () => {
  it('reseals all secrets with the first key and returns the unused keys', async () => {
    const ids = [
      await subscribe(ring(OLD)),
      await subscribe(ring(OLDER)),
      await subscribe(ring(NEW), { box: ring(OLD), graceSeconds: 3600 }),
    ];
    const deleted = await subscribe(ring(OLD));
    await run('delete', 'UPDATE webhook_subscriptions SET deleted_at = now() WHERE subscription_id = :deleted', {
      deleted,
    });
    const current = await subscribe(ring(NEW));
    const before = await secretsOf(current);
    const box = ring(NEW, OLD, OLDER);

    expect(await resealSecrets(store, box)).toEqual({
      resealed: 4,
      current: 1,
      unopened: [],
      unusedKeyIds: ['old', 'older'],
    });
    for (const id of [...ids, deleted]) {
      const { secret_sealed: sealed, previous_secret_sealed: previous } = await secretsOf(id);
      expect(keyIdOf(sealed)).toBe('new');
      expect(ring(NEW).open(sealed, id)).toBe(`secret of ${id}`);
      if (previous !== null) expect(ring(NEW).open(previous, id)).toBe(`before ${id}`);
    }
    expect(await secretsOf(ids[2] ?? '')).toMatchObject({
      previous_secret_sealed: expect.any(String),
      is_bounded: true,
    });
    expect(await secretsOf(current)).toEqual(before);
    expect(await resealSecrets(store, box)).toMatchObject({ resealed: 0, current: 5 });
  });

  it('deletes a previous secret after its grace period, even if its key is missing', async () => {
    const id = await subscribe(ring(NEW), { box: ring(LOST), graceSeconds: -1 });
    expect(await resealSecrets(store, ring(NEW, OLD))).toMatchObject({ resealed: 1, unopened: [] });
    expect(await secretsOf(id)).toMatchObject({ previous_secret_sealed: null, is_bounded: false });
  });

  it('returns secrets that it cannot open, and keeps them and their key', async () => {
    const [lost, swapped, fine] = [
      await subscribe(ring(LOST)),
      await subscribe(ring(OLD)),
      await subscribe(ring(OLDER)),
    ];
    await run('swap', `UPDATE webhook_subscriptions SET secret_sealed = :sealed WHERE subscription_id = :swapped`, {
      swapped,
      sealed: ring(OLD).seal('of another', randomUUID()),
    });
    const before = [await secretsOf(lost), await secretsOf(swapped)];
    const rotation = await resealSecrets(store, ring(NEW, OLD, OLDER));
    expect(rotation).toMatchObject({ resealed: 1, current: 0, unusedKeyIds: ['older'] });
    expect([...rotation.unopened].sort()).toEqual([lost, swapped].sort());
    expect([await secretsOf(lost), await secretsOf(swapped)]).toEqual(before);
    expect(keyIdOf((await secretsOf(fine)).secret_sealed)).toBe('new');
  });

  it('keeps a concurrent rotation and reseals its secret', async () => {
    const id = await subscribe(ring(OLD));
    let isFirst = true;
    const racing = {
      page: store.page.bind(store),
      reseal: async (secrets: Parameters<SealedSecretStore['reseal']>[0]) => {
        if (isFirst) {
          isFirst = false;
          // A gateway that still seals with the old key.
          await run('rotate', 'UPDATE webhook_subscriptions SET secret_sealed = :sealed WHERE subscription_id = :id', {
            id,
            sealed: ring(OLD).seal('rotated meanwhile', id),
          });
        }
        return store.reseal(secrets);
      },
    };
    expect(await resealSecrets(racing, ring(NEW, OLD))).toMatchObject({
      resealed: 1,
      current: 0,
      unusedKeyIds: ['old'],
    });
    expect(ring(NEW).open((await secretsOf(id)).secret_sealed, id)).toBe('rotated meanwhile');
  });

  it('reseals the issuing keys of tenants, except a key that is replaced concurrently', async () => {
    const keys = new SealedSecretStore(database.sql, 'issuing_keys');
    await run('other_tenant', `INSERT INTO tenants (tenant_id, name) VALUES ('bank', 'Bank')`);
    for (const [kid, tenant] of Object.entries({ kept: 'acme', replaced: 'bank' })) {
      const sealed = ring(OLD).seal(`private ${kid}`, kid);
      await run(
        'key',
        `INSERT INTO issuing_keys (kid, tenant_id, issuer, public_key, sealed, created_by)
         VALUES (:kid, :tenant, 'https://issuer.example', 'x', :sealed, 'p')`,
        { kid, tenant, sealed },
      );
    }
    const racing = {
      page: keys.page.bind(keys),
      reseal: async (secrets: Parameters<SealedSecretStore['reseal']>[0]) => {
        await run('replace', `UPDATE issuing_keys SET sealed = NULL, replaced_at = now() WHERE kid = 'replaced'`);
        return keys.reseal(secrets);
      },
    };
    const expected = { resealed: 1, unopened: [], unusedKeyIds: ['old'] };
    expect(await resealSecrets(racing, ring(NEW, OLD))).toMatchObject(expected);
    const [kept, ...others] = await keys.page(null, 10);
    expect([kept?.id, others]).toEqual(['kept', []]);
    expect(ring(NEW).open(kept?.secret ?? '', 'kept')).toBe('private kept');
  });

  it('reseals more than one page of secrets', async () => {
    const box = ring(OLD);
    await run(
      'many',
      `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed,
                                          secret_fingerprint)
       SELECT id, 'acme', 'https://example.com/', '{identity.snapshot.created}', sealed, 'f'
         FROM unnest(:ids::uuid[], :secrets::text[]) AS i(id, sealed)`,
      (() => {
        const ids = Array.from({ length: 1_001 }, () => randomUUID());
        return { ids, secrets: ids.map((id) => box.seal('s', id)) };
      })(),
    );
    expect(await resealSecrets(store, ring(NEW, OLD))).toMatchObject({ resealed: 1_001, current: 0 });
  });
});
