import { randomUUID } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { attestationIdOf, canonicalize, seal } from '@iss/domain';
import { SnapshotWriteStore } from '@iss/persistence';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Client } from 'pg';
import { addTenant, snapshot } from '../../../libs/persistence/src/testing/world';
import { type Receiver, startReceiver } from '../../../tools/testing/receiver';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

const ISSUER = 'https://registry.example';
const NOW = Math.floor(Date.now() / 1000);

let workers: TestWorkers;
let superuser: Client;
let receiver: Receiver;
let sign: (payload: object) => Promise<string>;

beforeAll(async () => {
  [workers, receiver] = await Promise.all([startWorkers(), startReceiver()]);
  superuser = new Client({ connectionString: workers.env['DATABASE_URL'] });
  await superuser.connect();
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  sign = (payload) =>
    new SignJWT({ ...payload }).setProtectedHeader({ alg: 'ES256', typ: 'statuslist+jwt' }).sign(privateKey);
  for (const tenant of ['owner', 'bank', 'hidden', 'stranger']) await addTenant(workers, tenant);
  await superuser.query(`UPDATE tenants SET founded_by = 'founder of ' || tenant_id`);
  await superuser.query(
    `INSERT INTO trusted_issuers (tenant_id, issuer, vcts, keys, roots)
     SELECT unnest('{owner,stranger}'::text[]), $1, '{v}', $2, '{}'`,
    [ISSUER, JSON.stringify([await exportJWK(publicKey)])],
  );
});
afterAll(async () => {
  await superuser?.end();
  await Promise.all([workers?.close(), receiver?.stop()]);
});

/** Publishes a list with these statuses of two bits. */
async function publish(statuses: readonly number[], issuedAt: number, uri: string): Promise<void> {
  const bytes = Buffer.from([statuses.reduce((byte, status, index) => byte | (status << (2 * index)), 0)]);
  const status_list = { bits: 2, lst: deflateSync(bytes).toString('base64url') };
  receiver.always({ status: 200, body: await sign({ iss: ISSUER, sub: uri, iat: issuedAt, status_list }) });
}

async function createAttestation(uri: string, idx: number, tenantId = 'owner', expiresAt?: Date): Promise<string> {
  const id = randomUUID();
  await superuser.query(
    `INSERT INTO attestations (attestation_id, tenant_id, issuer, vct, digest, has_key_binding, added_by, status, status_uri, status_idx, expires_at)
     VALUES ($1, $5, $2, 'v', sha256('x'), false, 'p', 'pending', $3, $4, $6)`,
    [id, ISSUER, uri, idx, tenantId, expiresAt],
  );
  await superuser.query(
    `INSERT INTO attestation_lists (tenant_id, issuer, uri, due_at) VALUES ($3, $1, $2, now())
     ON CONFLICT (tenant_id, issuer, uri) DO UPDATE SET due_at = now()`,
    [ISSUER, uri, tenantId],
  );
  return id;
}

const ask = () => superuser.query('UPDATE attestation_lists SET due_at = now()');

/** Waits until the attestation has this status and its list this problem. */
const settled = (id: string, status: string, problem: RegExp | null = null) =>
  waitFor(
    async () => {
      const { rows } = await superuser.query<{ status: string; problem: string | null }>(
        `SELECT a.status, l.problem FROM attestations a
           JOIN attestation_lists l ON (l.tenant_id, l.issuer, l.uri) = (a.tenant_id, a.issuer, a.status_uri)
          WHERE a.attestation_id = $1`,
        [id],
      );
      const [row] = rows;
      if (row?.status !== status) return null;
      return problem === null ? row.problem === null || null : problem.test(row.problem ?? '') || null;
    },
    { what: `the status ${status}` },
  );

/** Writes a subject whose legal name and form an attestation backs, and whose email it does not. */
async function addSubject(attestationId: string): Promise<string> {
  const locator = attestationIdOf(attestationId);
  const snapshotId = randomUUID();
  const ref = [{ evidence_id: locator, evidence_type: 'attestation' }];
  const { text, hash } = seal({
    snapshot_id: snapshotId,
    attributes: { contact: { email: 'x@acme.example' }, legal: { form: 'AG', legal_name: 'Acme' } },
    evidence: [
      {
        evidence_id: locator,
        evidence_type: 'attestation',
        source: ISSUER,
        captured_at: '2026-01-01T00:00:00Z',
        locator,
      },
    ],
    attribute_paths: { '/attributes/legal': ref },
  });
  const subject = snapshot({ tenantId: 'owner', snapshotId, envelope: text, envelopeHash: hash });
  await new SnapshotWriteStore(workers.database.sql).create(subject);
  expect(text).toBe(canonicalize(JSON.parse(text)));
  return subject.subjectId;
}

const grant = (grantee: string, paths: string[] | null, scope = 'read_lineage') =>
  superuser.query(
    `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, paths, granted_by)
     SELECT gen_random_uuid(), 'owner', $1, subject_key, ARRAY[$3], $2, 'p' FROM subjects ORDER BY subject_key DESC LIMIT 1`,
    [grantee, paths, scope],
  );

const eventsOf = async (type: string): Promise<{ tenant: string; body: { data: Record<string, unknown> } }[]> => {
  const { rows } = await superuser.query(
    `SELECT tenant_id AS tenant, body::jsonb AS body FROM outbox_events WHERE event_type = $1 ORDER BY tenant_id COLLATE "C"`,
    [type],
  );
  return rows;
};

it('announces revoked evidence to the owner and to grantees who may read it', async () => {
  const worker = await workers.start();
  const uri = `${receiver.url}/list`;
  await publish([0, 2, 0, 0], NOW, uri);
  const [first, second] = [await createAttestation(uri, 0), await createAttestation(uri, 1)];
  await settled(first, 'valid');
  await settled(second, 'suspended');

  const subjectId = await addSubject(first);
  await grant('bank', ['/attributes/legal/form']);
  await grant('hidden', ['/attributes/contact']);
  await grant('stranger', null, 'read_diff');
  await superuser.query(
    `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint, created_at)
     SELECT gen_random_uuid(), tenant_id, 'http://127.0.0.1:9', '{evidence.revoked}', 'sealed', 'f', now() - interval '1 year' FROM tenants`,
  );
  await superuser.query(`UPDATE webhook_subscription_types SET created_at = now() - interval '1 year'`);

  // A list that was rolled back would hide a revocation.
  await publish([0, 0, 0, 0], NOW - 60, uri);
  await ask();
  await settled(second, 'suspended', /older than a list/);

  await publish([1, 0, 0, 0], NOW + 1, uri);
  await ask();
  await settled(first, 'revoked');
  await settled(second, 'valid');

  const events = await waitFor(async () => {
    const found = await eventsOf('evidence.revoked');
    return found.length > 0 ? found : null;
  });
  expect(events.map(({ tenant }) => tenant)).toEqual(['bank', 'owner']);
  expect(events[0]?.body.data).toMatchObject({
    owner_tenant_id: 'owner',
    subject: { subject_type: 'organization', subject_id: subjectId },
    snapshot_version: 1,
    attestation_id: attestationIdOf(first),
  });
  const { rows } = await superuser.query(
    'SELECT requesting_tenant_id, origin_type, reason_code, requested_paths, status FROM refresh_requests',
  );
  expect(rows).toEqual([
    {
      requesting_tenant_id: 'owner',
      origin_type: 'owner',
      reason_code: 'evidence_revoked',
      requested_paths: ['/attributes/legal/form', '/attributes/legal/legal_name'],
      status: 'pending',
    },
  ]);

  // Revoked is final, and later uses are announced too.
  await publish([0, 0, 0, 0], NOW + 2, uri);
  await ask();
  await settled(second, 'valid');
  await settled(first, 'revoked');
  await addSubject(first);
  await waitFor(async () => (await eventsOf('evidence.revoked')).length === 3 || null);
  await worker.stop();
});

it('reads the other statuses of a list that is too short for one attestation', async () => {
  const worker = await workers.start();
  const uri = `${receiver.url}/short`;
  await publish([2, 0, 0, 0], NOW, uri);
  const beyond = await createAttestation(uri, 4);
  const within = await createAttestation(uri, 0);
  await settled(beyond, 'pending', /too short/);
  await settled(within, 'suspended', /too short/);
  await worker.stop();
});

it('never reads a list from a private address, and records the reason', async () => {
  const worker = await workers.start({ WEBHOOK_ALLOW_PRIVATE_TARGETS: 'false' });
  const before = receiver.requests.length;
  const { port } = new URL(receiver.url);
  const plain = await createAttestation(`http://registry.example/list`, 0);
  await settled(plain, 'pending', /not an https URL/);
  for (const host of ['127.0.0.1', '169.254.169.254', '[::1]']) {
    const id = await createAttestation(`https://${host}:${port}/list`, 0);
    await settled(id, 'pending', /not public/);
  }
  expect(receiver.requests).toHaveLength(before);
  await worker.stop();
});

it('refuses a list that is too long or redirects, and retries hourly', async () => {
  const worker = await workers.start();
  receiver.always({ status: 200, body: Buffer.alloc(4 * 1024 * 1024 + 1) });
  const large = await createAttestation(`${receiver.url}/large`, 0);
  await settled(large, 'pending', /longer than/);
  receiver.always({ status: 302, headers: { location: `${receiver.url}/list` } });
  const moved = await createAttestation(`${receiver.url}/moved`, 0);
  await settled(moved, 'pending', /status of the response is 302/);
  // However often the read failed, it is repeated after an hour.
  await superuser.query('UPDATE attestation_lists SET failures = 20, due_at = now() WHERE uri LIKE $1', ['%/moved']);
  const hourly = `SELECT FROM attestation_lists WHERE failures = 21 AND due_at - asked_at BETWEEN '59 minutes' AND '61 minutes'`;
  await waitFor(async () => (await superuser.query(hourly)).rowCount === 1 || null, { what: 'the hourly read' });
  await worker.stop();
});

it('reads other lists while those of one founder hang, and stops reading lists of expired attestations', async () => {
  const slow = await startReceiver();
  slow.always('hang');
  const expired = new Date();
  for (let list = 0; list < 20; list++) await createAttestation(`${slow.url}/${list}`, 0, 'stranger', expired);
  const worker = await workers.start({ WEBHOOK_HEADERS_TIMEOUT_MS: '25000', WEBHOOK_TOTAL_TIMEOUT_MS: '25000' });
  await slow.waitForRequests(2);
  const uri = `${receiver.url}/prompt`;
  await publish([0, 2, 0, 0], NOW + 3, uri);
  await settled(await createAttestation(uri, 0), 'valid');
  expect(slow.requests).toHaveLength(2);
  await slow.stop();
  const left = `SELECT count(*)::int AS left FROM attestation_lists WHERE tenant_id = 'stranger' AND due_at IS NOT NULL`;
  await waitFor(async () => (await superuser.query(left)).rows[0].left === 0 || null);
  await worker.stop();
});

it('does not let an attestation of another tenant back evidence', async () => {
  const foreign = await createAttestation(`${receiver.url}/foreign`, 0, 'stranger');
  await addSubject(foreign);
  const uses = await superuser.query('SELECT FROM attestation_uses WHERE attestation_id = $1', [foreign]);
  expect(uses.rowCount).toBe(0);
});
