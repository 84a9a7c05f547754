import { randomUUID } from 'node:crypto';
import { before, type PagePosition } from '../../sql/page';
import { statement } from '../../sql/statement';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import '../log/history.store';
import { ANY_TIME, FIRST_UUID, recordPage } from '../records/record-page';
import { AccessibleSubjectStore } from './accessible-subject.store';
import { GrantStore } from './grant.store';

const GRANTS = 3000;
const EVERY_HUNDREDTH = GRANTS / 100;

/**
 * Adds subjects of acme with a snapshot, each granted to beta. The grant of every hundredth is live, and the others have expired.
 */
const ADD = statement<{ after: number; count: number }>(
  'spec_add_grants',
  `WITH added AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
  SELECT 'entity', number::text, 'acme' FROM generate_series(:after::int + 1, :after::int + :count::int) series(number) ORDER BY series.number
  RETURNING subject_key, subject_id
),
written AS (
  INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
  SELECT subject_key, 1, gen_random_uuid(), 'acme', '2026-01-15T09:30:00Z', sha256('{}'), '{}' FROM added
)
INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at)
SELECT gen_random_uuid(), 'acme', 'beta', subject_key, '{read_latest}',
       CASE WHEN subject_id::int % 100 = 0 THEN NULL ELSE now() - interval '1 day' END
  FROM added`,
);
/** Adds grants to gamma: one on each subject, all but two expired, and a hundred expired ones beside one of the two. */
const ADD_EXPIRED = statement<{ after: number }>(
  'spec_add_expired_grants',
  `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at)
  SELECT gen_random_uuid(), 'acme', 'gamma', subject_key, '{read_latest}',
         CASE WHEN extra = 0 AND subject_id IN ('1000', '2500') THEN NULL ELSE now() - interval '1 day' END
    FROM (SELECT s.*, extra FROM subjects s
           CROSS JOIN LATERAL generate_series(CASE s.subject_id WHEN '1000' THEN -100 ELSE 0 END, 0) extra
           WHERE s.subject_type = 'entity' AND s.subject_key > :after::int AND s.subject_key <= :after::int + 500
           ORDER BY s.subject_key, extra) s`,
);
/** Adds revoked grants on one subject. */
const ADD_REVOKED = statement<{ count: number }>(
  'spec_add_revoked_grants',
  `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, revoked_at)
  SELECT gen_random_uuid(), 'acme', 'beta', s.subject_key, '{read_latest}', now()
    FROM subjects s, generate_series(1, :count::int)
   WHERE s.subject_type = 'entity' AND s.subject_id = '1'`,
);

let world: World;
const ALLOW_READERS = statement(
  'test_allow_readers',
  `UPDATE memberships SET allow_counterparty_access = true WHERE principal_id = 'tenant_reader'`,
);

let store: GrantStore;
let subjects: AccessibleSubjectStore;

const grantor = { tenantId: 'acme', principalId: 'tenant_admin', requestId: 'r' };
/** Adds a tenant with subjects, each with a snapshot, and its grant to beta on all of them. */
const ADD_OWNER = statement<{ tenantId: string; count: number }>(
  'spec_add_owner_of_all',
  `WITH added AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
  SELECT 'entity', :tenantId || '-' || lpad(number::text, 5, '0'), :tenantId FROM generate_series(1, :count::int) series(number)
  RETURNING subject_key
), written AS (
  INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
  SELECT subject_key, 1, gen_random_uuid(), :tenantId, '2026-01-15T09:30:00Z', sha256('{}'), '{}' FROM added
)
INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, accepted_at)
VALUES (gen_random_uuid(), :tenantId, 'delta', 0, '{read_latest}', now())`,
);
/** Adds grants on one subject to the grants on all subjects. */
const ADD_SINGLE = statement(
  'spec_add_single',
  `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, purpose)
  SELECT gen_random_uuid(), owner_tenant_id, 'delta', subject_key, '{read_diff}', 'this one' FROM subjects
   WHERE subject_type = 'entity' AND subject_id = 'all-1-00501'`,
);
/** Adds expired grants of a tenant to delta on all of its subjects, and live ones of tenants without subjects. */
const ADD_EXPIRED_TO_ALL = statement<{ tenantId: string; after: number; count: number }>(
  'spec_add_expired_to_all',
  `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, accepted_at, expires_at)
  SELECT gen_random_uuid(), :tenantId, 'delta', 0, '{read_latest}'::text[], now(), now() - interval '1 day' FROM generate_series(1, :count::int)
   UNION ALL
  SELECT gen_random_uuid(), :tenantId || '-' || lpad(number::text, 5, '0'), 'delta', 0, '{read_latest}', now(), NULL
    FROM generate_series(:after::int + 1, :after::int + :count::int) series(number)`,
);

const FIRST_TEN = before({ limit: 10, after: null });

beforeAll(async () => {
  world = await openWorld();
  store = new GrantStore(world.database.sql);
  subjects = new AccessibleSubjectStore(world.database.sql);
  await addTenant(world, 'acme');
  await addTenant(world, 'beta');
  await world.database.sql.run(ALLOW_READERS, {});
  // The audit record of each grant takes some milliseconds, and a statement has a deadline.
  for (let after = 0; after < GRANTS; after += 500) {
    await world.database.sql.run(ADD, { after, count: 500 });
    await world.database.sql.run(ADD_REVOKED, { count: 500 });
  }
});

afterAll(() => world?.close());

describe('AccessibleSubjectStore.list', () => {
  it('fills its pages despite many expired grants', async () => {
    const seen: string[] = [];
    const pages: number[] = [];
    for (let after: PagePosition | null = null; ;) {
      const { page } = await subjects.list({ tenantId: 'beta', principalId: 'tenant_reader' }, { limit: 7, after });
      seen.push(...page.items.map(({ grant }) => grant.subjectId));
      pages.push(page.items.length);
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen).toEqual(Array.from({ length: EVERY_HUNDREDTH }, (_, index) => String((index + 1) * 100)));
    expect(pages).toEqual([7, 7, 7, 7, 2]);
  });

  // gamma did not ask for any of them.
  it('examines a limited number of expired grants per page, and continues after them', async () => {
    await addTenant(world, 'gamma');
    await world.database.sql.run(ALLOW_READERS, {});
    for (let after = 0; after < 2 * GRANTS; after += 500) await world.database.sql.run(ADD_EXPIRED, { after });
    const reader = { tenantId: 'gamma', principalId: 'tenant_reader' };
    const seen: string[] = [];
    let pages = 0;
    for (let after: PagePosition | null = null; ; pages++) {
      const [afterGrantId = null] = after ?? [];
      const from = { afterGrantId, fromOwner: null, afterType: '', afterId: '' };
      const read = await rowsRead(world, 'subjects_accessible', { ...reader, ...from, rows: 8 });
      expect(read).toBeLessThan(1_200);
      const { page } = await subjects.list(reader, { limit: 7, after });
      seen.push(...page.items.map(({ grant }) => grant.subjectId));
      if (page.next === null) break;
      after = page.next;
    }
    // The first page ends among the grants on one subject. Their live one comes after the examined ones.
    expect(seen).toEqual(['1000', '2500']);
    // Then an empty page, because the third one examined the maximum.
    expect(pages).toBe(3);
  });

  it('lists all subjects of owners with a grant on all, and reads only the page', async () => {
    await addTenant(world, 'delta');
    await world.database.sql.run(ALLOW_READERS, {});
    for (const tenantId of ['all-1', 'all-2']) await world.database.sql.run(ADD_OWNER, { tenantId, count: 1_000 });
    for (let after = 0; after < 1_200; after += 200)
      await world.database.sql.run(ADD_EXPIRED_TO_ALL, { tenantId: 'all-1', after, count: 200 });
    const reader = { tenantId: 'delta', principalId: 'tenant_reader' };
    const seen: string[] = [];
    for (let after: PagePosition | null = null; ;) {
      const { page } = await subjects.list(reader, { limit: 300, after });
      seen.push(...page.items.map(({ grant }) => grant.subjectId));
      if (page.next === null) break;
      after = page.next;
    }
    // Most of the 1,200 owners without subjects are skipped on a page of their own.
    expect(seen).toHaveLength(2_000);
    expect(seen).toEqual([...seen].sort());
    const from = { ...reader, afterGrantId: null, fromOwner: 'all-1', afterType: 'entity', afterId: 'all-1-00500' };
    // The member, the found and the live grant, and the subjects, each with its snapshot, twice.
    expect(await rowsRead(world, 'subjects_accessible', { ...from, rows: 11 })).toBeLessThan(60);
    const onOne = { tenantId: 'delta', principalId: 'tenant_reader' };
    await world.database.sql.run(ADD_SINGLE, {});
    const { page } = await subjects.list(onOne, { limit: 1, after: ['all-1', 'entity', 'all-1-00500'] });
    expect(page.items).toMatchObject([
      { grant: { subjectId: 'all-1-00501', scopes: ['read_diff', 'read_latest'], purpose: 'this one' }, latest: {} },
    ]);
  });

  it('searches only the grants that a page examines', async () => {
    const reader = { tenantId: 'beta', principalId: 'tenant_reader' };
    const place = {
      ...reader,
      afterGrantId: null,
      fromOwner: null,
      afterType: '',
      afterId: '',
      afterName: '',
      rows: 8,
    };
    const byName = { ...place, prefix: 'x', upTo: 'y' };
    const byIdentifier = { ...place, scheme: 'lei', value: 'X' };
    // A thousand grants, and the subject of each live one.
    expect(await rowsRead(world, 'subjects_accessible_by_name', byName)).toBeLessThan(1_100);
    expect(await rowsRead(world, 'subjects_accessible_by_identifier', byIdentifier)).toBeLessThan(1_100);
    expect(await rowsRead(world, 'subjects_accessible_by_bare_identifier', byIdentifier)).toBeLessThan(1_100);
    // No subject of an owner with a thousand subjects, nor of the 1,200 owners without any.
    const all = { tenantId: 'delta', principalId: 'tenant_reader', fromOwner: 'all-2' };
    expect(await rowsRead(world, 'subjects_accessible_by_name', { ...byName, ...all })).toBeLessThan(10);
    expect(await rowsRead(world, 'subjects_accessible_by_identifier', { ...byIdentifier, ...all })).toBeLessThan(10);
    expect(await rowsRead(world, 'subjects_accessible_by_bare_identifier', { ...byIdentifier, ...all })).toBeLessThan(
      10,
    );
  });

  it('reads no grant for callers without the right to use grants', async () => {
    for (const principal of ['tenant_admin', 'nobody']) {
      const { page } = await subjects.list({ tenantId: 'beta', principalId: principal }, { limit: 7, after: null });
      expect(page).toEqual({ items: [], next: null });
      // At most the member.
      const read = await rowsRead(world, 'subjects_accessible', {
        tenantId: 'beta',
        principalId: principal,
        afterGrantId: null,
        fromOwner: null,
        afterType: '',
        afterId: '',
        rows: 8,
      });
      expect(read).toBe(principal === 'nobody' ? 0 : 1);
    }
  });
});

describe('lists of grants', () => {
  it('read only the rows of one page, for a tenant and for a subject', async () => {
    const reader = { tenantId: 'acme', principalId: 'tenant_reader' };
    const anyGrant = { status: null, granteeTenantId: null, grantorTenantId: null, subjectType: null, subjectId: null };
    const page = { ...anyGrant, ...recordPage(ANY_TIME, { limit: 10, after: null }, FIRST_UUID) };
    const ofTenant = await rowsRead(world, 'grants_issued', { ...reader, ...page });
    // The member, the grants, and the subject of each.
    expect(ofTenant).toBe(1 + 11 + 11);
    // With the named subject.
    const named = { ...reader, ...page, subjectType: 'entity', subjectId: '1' };
    expect(await rowsRead(world, 'grants_issued_on', named)).toBe(1 + 1 + 11 + 11);
    // 1,001 of the pair's 6,000 grants are examined, once for the page and once for its end.
    const toBeta = {
      ...reader,
      ...page,
      granteeTenantId: 'beta',
      status: 'expired',
      subjectType: 'entity',
      subjectId: '1',
    };
    expect(await rowsRead(world, 'grants_issued_to', toBeta)).toBeLessThan(2 * 1001 + 5);
    const ofSubject = { ...grantor, ...FIRST_TEN, subjectType: 'entity', subjectId: '1' };
    expect(await rowsRead(world, 'grants_of_subject', ofSubject)).toBe(1 + 1 + 11);
    expect(await rowsRead(world, 'access_history', ofSubject)).toBe(1 + 1 + 11 + 11);
    const ofOthers = { ...ofSubject, tenantId: 'beta' };
    // The rows that decide a refusal: the subject, the member, and the tenant's own grants on the subject.
    expect(await rowsRead(world, 'grants_of_subject', ofOthers)).toBeLessThanOrEqual(3);
  });
});

describe('GrantStore.revoke', () => {
  it('reads only the grant and the caller, and refuses callers without the role', async () => {
    const { page } = await subjects.list({ tenantId: 'beta', principalId: 'tenant_reader' }, { limit: 1, after: null });
    const grantId = page.items[0]?.grant.grantId ?? '';
    for (const principalId of ['tenant_editor', 'nobody']) {
      const refused = await store.revoke({ tenantId: 'acme', principalId, requestId: 'r' }, grantId);
      expect(refused).toMatchObject({ isRevoked: false, grant: { status: 'active', revokedAt: null } });
    }
    expect(await store.revoke(grantor, randomUUID())).toMatchObject({ isRevoked: false, grant: null });
    const byEditor = { tenantId: 'acme', principalId: 'tenant_editor', requestId: 'r', grantId };
    expect(await rowsRead(world, 'grant_revoke', byEditor)).toBeLessThanOrEqual(4);
    const revoked = await store.revoke(grantor, grantId);
    expect(revoked).toMatchObject({ isRevoked: true, grant: { grantId, status: 'revoked' } });
    expect(await store.revoke(grantor, grantId)).toMatchObject({
      isRevoked: false,
      grant: { status: 'revoked', revokedAt: revoked.grant?.revokedAt },
    });
  });
});
