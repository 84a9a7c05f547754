import { randomUUID } from 'node:crypto';
import { createIssuingKey, publicJwkOf, readStatusList, signStatusList } from '@iss/attestation';
import { SecretBox } from '@iss/platform';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { compactVerify, decodeJwt, importJWK } from 'jose';
import { Client } from 'pg';
import { addTenant } from '../../../libs/persistence/src/testing/world';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

const ISSUER = 'https://identity.example/tenants/owner';
const LIST = randomUUID();
const URI = `https://identity.example/v1/status-lists/${LIST}`;

type Key = Awaited<ReturnType<typeof createIssuingKey>>;

let workers: TestWorkers;
let superuser: Client;
let secrets: SecretBox;

beforeAll(async () => {
  workers = await startWorkers();
  secrets = SecretBox.fromKeyRing(String(workers.env['SECRETS_KEYS']));
  superuser = new Client({ connectionString: workers.env['DATABASE_URL'] });
  await superuser.connect();
  await workers.start();
  await addTenant(workers, 'owner');
  const key = await addKey();
  const token = await signStatusList({ issuer: ISSUER, uri: URI, signedAt: new Date(), statuses: [] }, key);
  await superuser.query(
    `INSERT INTO status_lists (list_id, tenant_id, issuer, uri, token, signed_at) VALUES ($1, 'owner', $2, $3, $4, date_trunc('second', now()))`,
    [LIST, ISSUER, URI, token],
  );
});
afterAll(async () => {
  await superuser?.end();
  await workers?.close();
});

/** Adds the key that signs from now on. */
async function addKey(): Promise<Key> {
  const key = await createIssuingKey();
  // In one transaction, as the service does. Otherwise a worker may find no key, and retries the list a minute later.
  await superuser.query('BEGIN');
  await superuser.query(`UPDATE issuing_keys SET sealed = NULL, replaced_at = now() WHERE replaced_at IS NULL`);
  await superuser.query(
    `INSERT INTO issuing_keys (kid, tenant_id, issuer, public_key, sealed, created_by) VALUES ($1, 'owner', $2, $3, $4, 'p')`,
    [key.kid, ISSUER, key.publicKey, secrets.seal(key.privateKey, key.kid)],
  );
  await superuser.query('COMMIT');
  return key;
}

async function addCredential(idx: number, subjectKey = 1): Promise<string> {
  const { rows } = await superuser.query(
    `INSERT INTO credentials (credential_id, tenant_id, subject_key, snapshot_version, format, has_holder_key, kid, list_id, status_idx,
                              issued_by, expires_at, status)
     SELECT gen_random_uuid(), 'owner', $3, 1, 'dc+sd-jwt', false, kid, $1, $2, 'p', now() + interval '1 hour', 'valid'
       FROM issuing_keys WHERE replaced_at IS NULL RETURNING credential_id AS id`,
    [LIST, idx, subjectKey],
  );
  return rows[0].id;
}

const stored = async () =>
  (await superuser.query(`SELECT token, due_at AS "dueAt" FROM status_lists WHERE list_id = $1`, [LIST])).rows[0];

/** Waits until the served list has these statuses, and is signed by this key if one is given. */
const published = (statuses: Record<number, number>, key?: Key) =>
  waitFor(
    async () => {
      const { token } = await stored();
      const list = getListFromStatusListJWT(token);
      const holds = Object.entries(statuses).every(([idx, status]) => list.getStatus(Number(idx)) === status);
      const isSigned =
        key === undefined ||
        (await compactVerify(token, await importJWK(publicJwkOf(key), 'EdDSA')).then(
          () => true,
          () => false,
        ));
      return holds && isSigned ? String(token) : null;
    },
    { what: 'the signed list' },
  );

it('publishes each change of a status, signed with the current key', async () => {
  const [first, second] = [await addCredential(131_071), await addCredential(5)];
  await superuser.query(`UPDATE credentials SET status = 'superseded' WHERE credential_id = $1`, [first]);
  await published({ 131_071: 3, 5: 0, 6: 0 });
  await superuser.query(
    `UPDATE credentials SET status = 'invalid', invalid_reason = 'withdrawn' WHERE credential_id = $1`,
    [second],
  );
  await published({ 131_071: 3, 5: 1, 6: 0 });
  const key = await addKey();
  const token = await published({ 131_071: 3, 5: 1 }, key);
  const { ttl, exp = 0, iat = 0 } = decodeJwt(token);
  expect([ttl, exp - iat]).toEqual([60, 86_400]);
  expect((await stored()).dueAt.getTime()).toBeGreaterThan(Date.now() + 11 * 3_600_000);
  const keys = { issuer: ISSUER, jwks: [publicJwkOf(key)], roots: [] };
  expect((await readStatusList(token, URI, keys, null, new Date())).at(131_071)).toBe(3);
  await expect(readStatusList(token, URI, keys, new Date(Date.now() + 60_000), new Date())).rejects.toThrow('is older');
});

it('signs a list again before it expires, and never with an earlier time', async () => {
  const future = new Date(Math.ceil(Date.now() / 1000) * 1000 + 30_000);
  await superuser.query(`UPDATE status_lists SET signed_at = $1, due_at = now() WHERE list_id = $2`, [future, LIST]);
  await waitFor(async () => (decodeJwt((await stored()).token).iat === future.getTime() / 1000 ? true : null), {
    what: 'a list that is not older',
  });
});

it('retries a list whose key cannot be opened', async () => {
  await superuser.query(`UPDATE issuing_keys SET sealed = 'lost.x.y.z' WHERE replaced_at IS NULL`);
  await superuser.query(`UPDATE status_lists SET due_at = now() WHERE list_id = $1`, [LIST]);
  await waitFor(async () => ((await stored()).dueAt > new Date(Date.now() + 30_000) ? true : null), {
    what: 'a delay',
  });
  const key = await addKey();
  await published({ 5: 1 }, key);
});

it('stops signing a list after all its credentials have expired, even if the key changes', async () => {
  await superuser.query('SET session_replication_role = replica');
  await superuser.query('UPDATE credentials SET expires_at = now()');
  await superuser.query('RESET session_replication_role');
  await superuser.query(`UPDATE status_lists SET due_at = now() WHERE list_id = $1`, [LIST]);
  await waitFor(async () => (await stored()).dueAt === null || null, { what: 'the last signature' });
  await addKey();
  expect((await stored()).dueAt).toBeNull();
});
