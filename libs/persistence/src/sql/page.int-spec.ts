import { ANY_TIME } from '../stores/records/record-page';
import { AuditStore } from '../stores/records/audit.store';
import { ErasureStore } from '../stores/erasures/erasure.store';
import { TransferOfferStore } from '../stores/tenancy/transfer-offer.store';
import { DeliveryLogStore } from '../stores/webhooks/delivery-log.store';
import { addTenant, openSharedWorld, type SharedWorld } from '../testing/world';
import { type Page, PAGE_BYTES, type PagePosition, type PageRequest } from './page';

const COUNT = 1_002;
const LIMIT = 1_000;
const actor = { tenantId: 'acme', principalId: 'tenant_owner' };
const subject = { subjectType: 'organization', subjectId: 'o-1' };
const subscriptionId = '00000000-0000-7000-8000-000000000001';
const ROWS = `generate_series(1, ${COUNT}) n`;
const WIDE = (characters: number): string => `repeat('𝒳', ${characters})`;

let world: SharedWorld;
beforeAll(async () => {
  world = await openSharedWorld();
  await addTenant(world, 'acme');
  const { admin } = world;
  await admin.query('SET session_replication_role = replica');
  await admin.query('TRUNCATE audit_records');
  await admin.query(`
    INSERT INTO audit_records (audit_id, tenant_id, action, target, details) OVERRIDING SYSTEM VALUE
    SELECT n, 'acme', 'webhook_subscription.changed', '{}', jsonb_build_object('target_url', ${WIDE(5_000)}) FROM ${ROWS};
    INSERT INTO transfer_offers (offer_id, tenant_id, from_principal_id, to_principal_id, message, status)
    SELECT gen_random_uuid(), 'acme', ${WIDE(500)}, ${WIDE(500)}, ${WIDE(2_000)}, 'declined' FROM ${ROWS};
    INSERT INTO subjects (subject_key, subject_type, subject_id, owner_tenant_id) OVERRIDING SYSTEM VALUE
    VALUES (1, 'organization', 'o-1', 'acme');
    INSERT INTO erasures (public_id, tenant_id, subject_key, versions, status, requested_by, cancelled_by, cancelled_at)
    SELECT gen_random_uuid(), 'acme', 1, ARRAY(SELECT 2147483647 FROM generate_series(1, 1000)), 'cancelled', 'p', 'q', now()
      FROM ${ROWS};
    INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
    VALUES ('${subscriptionId}', 'acme', 'https://example.com/hook', '{t}', '', '');
    WITH event AS (
      INSERT INTO outbox_events (event_id, tenant_id, event_type, body)
      SELECT gen_random_uuid(), 'acme', 't', '{}' FROM ${ROWS} RETURNING event_id
    ), delivery AS (
      INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status)
      SELECT gen_random_uuid(), event_id, '${subscriptionId}', 'acme', 't', 'dead' FROM event RETURNING delivery_id
    )
    INSERT INTO delivery_attempts (delivery_id, attempt, started_at, latency_ms, error)
    SELECT delivery_id, n, now(), 1, repeat('e', 1000) FROM delivery CROSS JOIN generate_series(1, 10) n;`);
});
afterAll(() => world.close());

type List = (request: PageRequest) => Promise<{ page: Page<object> }>;
const lists: readonly (readonly [string, () => List])[] = [
  [
    'the audit trail',
    () => (request) =>
      new AuditStore(world.database.sql).ofTenant(
        actor,
        { ...ANY_TIME, action: null, byPrincipalId: null, targetId: null, subject: null },
        request,
      ),
  ],
  ['transfer offers', () => (request) => new TransferOfferStore(world.database.sql).list(actor, request)],
  ['erasures of a subject', () => (request) => new ErasureStore(world.database.sql).list(actor, subject, request)],
  [
    'erasures of a tenant',
    () => (request) => new ErasureStore(world.database.sql).listOfTenant(actor, undefined, request),
  ],
  [
    'deliveries',
    () => (request) =>
      new DeliveryLogStore(world.database.sql).page(
        { subscriptionId, principalId: 'tenant_owner' },
        { status: null, eventType: null, from: null, to: null },
        request,
      ),
  ],
];

it.each(lists)('limits a page of %s by bytes and returns every item', async (_what, listOf) => {
  const list = listOf();
  const sizes: number[] = [];
  const seen = new Set<string>();
  let after: PagePosition | null = null;
  do {
    const { page }: { page: Page<object> } = await list({ limit: LIMIT, after });
    const texts = page.items.map((item) => JSON.stringify(item));
    sizes.push(Buffer.byteLength(texts.join('')));
    for (const text of texts) seen.add(text);
    after = page.next;
  } while (after !== null);
  expect(seen.size).toBe(COUNT);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PAGE_BYTES);
  // No page ends much before it has to.
  expect(sizes[0]).toBeGreaterThan(PAGE_BYTES / 2);
});
