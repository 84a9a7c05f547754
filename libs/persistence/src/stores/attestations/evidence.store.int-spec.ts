import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { untilBlocks } from '../../../../../tools/testing/until-blocks';
import { addTenant, openSharedWorld, type SharedWorld } from '../../testing/world';
import { EvidenceStore } from './evidence.store';

let world: SharedWorld;
let adder: Client;
let evidence: EvidenceStore;

beforeAll(async () => {
  world = await openSharedWorld();
  evidence = new EvidenceStore(world.database.sql);
  adder = new Client({ connectionString: world.url });
  await adder.connect();
});
afterAll(async () => {
  await adder?.end();
  await world?.close();
});

beforeEach(async () => {
  await world.empty();
  await addTenant(world, 'acme');
});

const LIST = { tenantId: 'acme', issuer: 'https://issuer.example', uri: 'https://issuer.example/list' };

/** Adds an attestation whose status is in the list, as `AttestationStore` does. */
async function add(): Promise<void> {
  const list = [LIST.tenantId, LIST.issuer, LIST.uri];
  await adder.query(
    `INSERT INTO attestations (attestation_id, tenant_id, issuer, vct, digest, has_key_binding, added_by, status, status_uri, status_idx)
     VALUES ($4, $1, $2, 'vct', sha256(''), false, 'alice', 'pending', $3, 1)`,
    [...list, randomUUID()],
  );
  await adder.query(
    `INSERT INTO attestation_lists AS o (tenant_id, issuer, uri, due_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (tenant_id, issuer, uri) DO UPDATE
        SET due_at = least(coalesce(o.due_at, 'infinity'), greatest(excluded.due_at, o.asked_at + interval '10 seconds'))`,
    list,
  );
}

it.each([
  ['was being read', () => evidence.setStatuses(LIST, new Date(), () => 'revoked')],
  ['failed to be read', () => evidence.failed(LIST, 'The status list is gone.')],
])('soon reads a list again that %s while an attestation was added', async (_, end) => {
  await add();
  await evidence.claimLists(1, []);
  await evidence.setStatuses(LIST, new Date(), () => 'revoked');
  await adder.query(`UPDATE attestation_lists SET due_at = now()`);
  expect(await evidence.claimLists(1, [])).toHaveLength(1);

  await adder.query('BEGIN');
  await add();
  const ended = end();
  await untilBlocks(adder);
  await adder.query('COMMIT');
  await ended;
  const { rows } = await adder.query(`SELECT due_at < now() + interval '2 minutes' AS "isSoon" FROM attestation_lists`);
  expect(rows).toEqual([{ isSoon: true }]);
});
