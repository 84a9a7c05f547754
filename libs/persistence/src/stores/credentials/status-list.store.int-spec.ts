import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { untilBlocks } from '../../../../../tools/testing/until-blocks';
import { addTenant, openWorld, type World } from '../../testing/world';
import { IssuingKeyStore } from './issuing-key.store';
import { StatusListStore } from './status-list.store';

let world: World;
let admin: Client;

beforeAll(async () => {
  world = await openWorld();
  admin = new Client({ connectionString: world.url });
  await admin.connect();
  await addTenant(world, 'acme');
});
afterAll(async () => {
  await admin?.end();
  await world?.close();
});

it('signs a list with the new key if the key is replaced while the list is claimed', async () => {
  const keys = new IssuingKeyStore(world.database.sql);
  const by = { tenantId: 'acme', principalId: 'tenant_owner', requestId: 'r' };
  const key = (kid: string) => ({ kid, issuer: 'https://issuer.example', publicKey: kid, sealed: kid });
  await keys.create(by, key('first'));
  await admin.query(
    `INSERT INTO status_lists (list_id, tenant_id, issuer, uri, token, signed_at, due_at)
     VALUES ($1, 'acme', 'https://issuer.example', 'https://issuer.example/list', '', now(), now())`,
    [randomUUID()],
  );
  await admin.query(
    `ALTER TABLE status_lists RENAME TO lists;
     CREATE VIEW status_lists AS SELECT * FROM lists WHERE pg_advisory_xact_lock_shared(7)::text IS NOT NULL;
     GRANT ALL ON status_lists TO PUBLIC`,
  );
  await admin.query('SELECT pg_advisory_lock(7)');
  await admin.query('BEGIN');
  await admin.query(`UPDATE issuing_keys SET sealed = NULL, replaced_at = now()`);
  await admin.query(
    `INSERT INTO issuing_keys (kid, tenant_id, issuer, public_key, sealed, created_by)
     SELECT 'second', tenant_id, issuer, 'second', 'second', created_by FROM issuing_keys`,
  );
  const kids: string[] = [];
  const signed = new StatusListStore(world.database.sql).signNext(({ kid, signedAt }) => {
    kids.push(kid);
    return Promise.resolve({ token: kid, signedAt: new Date(signedAt.getTime() + 1), dueAt: new Date() });
  });
  await untilBlocks(admin);
  await admin.query('COMMIT');
  await admin.query('SELECT pg_advisory_unlock(7)');
  expect(await signed).toBe(true);
  expect(kids).toEqual(['second']);
});
