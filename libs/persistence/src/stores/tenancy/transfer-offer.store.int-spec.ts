import { before } from '../../sql/page';
import { statement } from '../../sql/statement';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import { TransferOfferStore } from './transfer-offer.store';

const OFFERS = 2_000;

/** Adds offers that ended long ago. Every thousandth was made to `recipient`. */
const ADD = statement<{ count: number }>(
  'spec_add_offers',
  `INSERT INTO transfer_offers (offer_id, tenant_id, from_principal_id, to_principal_id, status, resolved_at, created_at)
  SELECT gen_random_uuid(), 'acme', 'tenant_owner', CASE number % 1000 WHEN 0 THEN 'recipient' ELSE 'p-' || number END,
         'declined', now(), now() - number * interval '1 minute'
    FROM generate_series(1, :count::int) number`,
);

let world: World;

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  await world.database.sql.run(ADD, { count: OFFERS });
});

afterAll(() => world?.close());

it.each([
  ['tenant_owner', 10],
  ['recipient', 2],
  ['tenant_reader', 0],
  ['stranger', 0],
])('lists only the offers that %s may see, and reads no others', async (principalId, expected) => {
  const actor = { tenantId: 'acme', principalId };
  const request = { limit: 10, after: null };
  const { page } = await new TransferOfferStore(world.database.sql).list(actor, request);
  expect(page.items).toHaveLength(expected);
  const read = await rowsRead(world, 'transfer_offers_of_tenant', { ...actor, ...before(request) });
  expect(read).toBeLessThan(20);
});
