import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier, decodeBase64, leafHash, openNote, parseCheckpoint, verifyInclusion } from '@iss/tlog';
import { Client } from 'pg';
import type { Response } from 'supertest';
import { iss } from '../../cli/test/testing/run-iss';
import type { Method } from '../../../tools/testing/conformance';
import { startGateway, type TestGateway, type User } from './gateway';
import { publishLog } from './publish-log';

const ACME = '/v1/tenants/acme';
const TYPE = 'organization';
/** A text that only an erased version contains. */
const SECRET = 'Zacharias Geheim';

let gateway: TestGateway;
let superuser: Client;
let application: Client;

beforeAll(async () => {
  gateway = await startGateway();
  superuser = new Client({ connectionString: gateway.databaseUrl });
  application = new Client({ connectionString: gateway.databaseUrl, options: '-c role=iss_app' });
  await Promise.all([superuser.connect(), application.connect()]);
  await send('alice', 'post', '/v1/tenants', { tenant_id: 'acme', name: 'Acme' }, 201);
  await send('bob', 'post', '/v1/tenants', { tenant_id: 'beta', name: 'Beta' }, 201);
  await send('bob', 'put', `/v1/tenants/beta/principals/${idOf('bob')}`, { allow_counterparty_access: true });
  for (const [user, role] of Object.entries({ admin: 'tenant_admin', zoe: 'tenant_admin', editor: 'tenant_editor' })) {
    await send('alice', 'put', `${ACME}/members/${idOf(user)}`, { role });
  }
  await Subject.prepare([4, 3, 3, 3, 3, ...Array.from({ length: 9 }, () => 2), ...Array.from({ length: 18 }, () => 1)]);
});
afterAll(async () => {
  await Promise.all([superuser?.end(), application?.end()]);
  await gateway?.close();
});

const idOf = (user: string): string => encodeURIComponent(`oidc:test#${user}`);

async function send(user: User, method: Method, path: string, body?: object, status = 200): Promise<Response> {
  const request = gateway.as(user, method, path);
  const answer = await (body === undefined ? request : request.send(body));
  expect([path, answer.status, answer.text]).toEqual([path, status, answer.text]);
  return answer;
}

const get = (path: string, status = 200, user: User = 'alice'): Promise<Response> =>
  send(user, 'get', path, undefined, status);
const post = (user: User, path: string, body?: object, status = 200): Promise<Response> =>
  send(user, 'post', path, body, status);

/** A subject of acme. `write` adds the next version, and returns its id. */
class Subject {
  private static readonly prepared: Subject[] = [];
  readonly id = `person-${randomUUID()}`;
  /** A part of all its content, and of nothing else. */
  readonly word = `Geheim${randomUUID().slice(0, 8)}`;
  readonly ids: string[] = [];
  readonly path = `${ACME}/subjects/${TYPE}/${this.id}`;

  /** Writes subjects with this number of versions each in one request, and publishes the log. */
  static async prepare(counts: readonly number[]): Promise<void> {
    const lines: string[] = [];
    for (const count of counts) {
      const subject = new Subject();
      for (let version = 1; version <= count; version++) {
        const sent = subject.envelope();
        subject.ids.push(String(sent['snapshot_id']));
        lines.push(`${JSON.stringify(sent)}\n`);
      }
      Subject.prepared.push(subject);
    }
    const batch = gateway.as('editor', 'post', `${ACME}/entity-states/batch`).type('application/x-ndjson');
    expect((await batch.send(lines.join('')).expect(200)).text.match(/"status":201/g)).toHaveLength(lines.length);
    await publishLog(gateway.databaseUrl);
  }

  /** Returns a prepared subject with this number of versions, another one at each call. */
  static of(versions: number): Subject {
    const at = Subject.prepared.findIndex(({ ids }) => ids.length === versions);
    const [subject] = at === -1 ? [] : Subject.prepared.splice(at, 1);
    if (subject === undefined) throw new Error(`No subject of ${versions} versions is left.`);
    return subject;
  }

  envelope(): Record<string, unknown> {
    return {
      envelope_version: 'entity_state_envelope_v1',
      snapshot_id: randomUUID(),
      snapshot_version: this.ids.length + 1,
      generated_at: '2026-01-15T09:30:00Z',
      subject: { subject_type: TYPE, subject_id: this.id },
      attributes: { legal: { legal_name: `${SECRET} ${this.word} ${this.ids.length + 1}` } },
      evidence: [],
      audit: { created_by: 'importer', created_at: '2026-01-15T09:30:00Z', source: 'test' },
    };
  }

  async write(): Promise<string> {
    const sent = this.envelope();
    await post('editor', `${ACME}/entity-states`, sent, 201);
    this.ids.push(String(sent['snapshot_id']));
    return String(sent['snapshot_id']);
  }

  async propose(status = 201): Promise<Response> {
    const patch_ops = [
      { op: 'replace', path: '/attributes/legal/legal_name', value: `${SECRET} ${this.word} proposed` },
    ];
    const body = { subject_id: this.id, base_snapshot_version: this.ids.length, patch_ops };
    return post('editor', `${this.path}/updates`, body, status);
  }

  async request(versions: unknown = 'all', status = 201): Promise<Response> {
    return post('alice', `${this.path}/erasure`, { versions, reason: `Letter of ${SECRET}`, reference: 'R-1' }, status);
  }

  async erase(versions: unknown = 'all'): Promise<Response> {
    const { body } = await this.request(versions);
    return post('admin', `${this.path}/erasures/${body.erasure_id}/confirm`);
  }

  async grant(...scopes: string[]): Promise<void> {
    const body = { grantee_tenant_id: 'beta', subject_type: TYPE, subject_id: this.id, scopes };
    await post('alice', `${ACME}/grants`, body, 201);
  }
}

const errorOf = ({ body }: Response) => body.error;
const headerOf = ({
  snapshot_id,
  snapshot_version,
  envelope_hash,
  prev_hash,
  created_at,
}: Record<string, unknown>) => ({
  ...{ snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at },
});

it('an erasure changes nothing until another human confirms it, and then removes only the content', async () => {
  const subject = Subject.of(3);
  const { body: pending } = await subject.request([2, 1, 2]);
  expect(pending).toMatchObject({ status: 'pending', versions: [1, 2], confirmation: 'required', erased_versions: [] });
  expect(Date.parse(pending.confirm_by) - Date.parse(pending.requested_at)).toBe(86_400_000);
  await get(`${subject.path}/snapshots/1`);

  const { body: receipt } = await post('admin', `${subject.path}/erasures/${pending.erasure_id}/confirm`);
  expect(receipt).toMatchObject({
    status: 'erased',
    reason: null,
    reference: 'R-1',
    requested_by: 'oidc:test#alice',
    confirmed_by: 'oidc:test#admin',
  });
  const left = receipt.erased_versions.map((one: { snapshot_id: string }) => one.snapshot_id);
  expect(left).toEqual(subject.ids.slice(0, 2));

  const erased = { erasure_id: pending.erasure_id, erased_at: receipt.erased_at };
  for (const path of [
    `${subject.path}/snapshots/1`,
    `${subject.path}/snapshots/1?view=header`,
    `${subject.path}/snapshots/2?verify=chain&depth=all`,
    `${ACME}/snapshots/${subject.ids[0]}`,
    `/v1/snapshots/${subject.ids[1]}`,
    `/v1/entity-states/${subject.ids[1]}`,
    `${subject.path}/diff?from_version=2&to_version=3`,
    `${subject.path}/diff?from_version=3&to_version=1`,
    `${ACME}/snapshots/${subject.ids[0]}/diff/${subject.ids[2]}`,
  ]) {
    const error = errorOf(await get(path, 410));
    expect([path, error.code, error.erased]).toEqual([path, 'erased', expect.objectContaining(erased)]);
    expect(JSON.stringify(error)).not.toContain(SECRET);
  }
  const { body: proof } = await get(`${ACME}/snapshots/${subject.ids[0]}/proof`);
  expect(proof).toMatchObject({ envelope_hash: receipt.erased_versions[0].envelope_hash, erased });
  await get(subject.path);
  await get(`${subject.path}/snapshots/3`);
});

it('lists mark an erased version, and chains stay valid through its hash', async () => {
  const subject = Subject.of(4);
  await subject.erase([2]);
  const { body: history } = await get(`${subject.path}/history?view=full&verify=chain&depth=all&order=asc`);
  expect(history.items.map((item: object) => ['envelope' in item, 'erased' in item])).toEqual([
    [true, false],
    [false, true],
    [true, false],
    [true, false],
  ]);
  const verdicts = history.items.map(({ verification: { hash, chain } }: never) => [hash, chain]);
  expect(
    verdicts.map(([hash, chain]: [{ valid: unknown }, { valid: unknown; erased: unknown }]) => [
      hash.valid,
      chain.valid,
      chain.erased,
    ]),
  ).toEqual([
    [true, true, undefined],
    [null, true, [2]],
    [true, true, [2]],
    [true, true, [2]],
  ]);
  const { body: latest } = await get(`${subject.path}/snapshots/latest?verify=chain&depth=all`);
  expect(latest.verification).toMatchObject({
    hash: { valid: true },
    chain: { valid: true, complete: true, erased: [2] },
  });
  const { body: proof } = await get(`${subject.path}/chain-proof`);
  expect([proof.chain_valid, proof.complete]).toEqual([true, true]);
  expect(proof.chain.map((item: object) => 'erased' in item)).toEqual([false, false, true, false]);
  const { body: document } = await get(`${subject.path}/export`);
  expect(document.snapshots.map((one: object) => ['envelope' in one, 'erased' in one])).toEqual([
    [true, false],
    [false, true],
    [true, false],
    [true, false],
  ]);
  const lines = (await get(`${subject.path}/export.ndjson`)).text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toEqual(document.snapshots);
});

it('a subject that is erased completely continues its chain with a direct write', async () => {
  const subject = Subject.of(2);
  await subject.erase();
  for (const path of [subject.path, `${subject.path}/snapshots/latest`]) await get(path, 410);
  expect(errorOf(await subject.propose(410)).erased.snapshot_version).toBe(2);
  const { body: subjects } = await get(`${ACME}/subjects?subject_id_prefix=${subject.id}`);
  expect(subjects.items[0].latest_snapshot.erased).toBeDefined();
  const id = await subject.write();
  const { body } = await get(`${ACME}/snapshots/${id}?verify=chain&depth=all`);
  expect(body.verification.chain).toEqual(expect.objectContaining({ valid: true, complete: true, erased: [2, 1] }));
  // `all` means all remaining versions, once.
  expect((await subject.request('all', 404)).body.error.code).toBe('not_logged_yet');
  await publishLog(gateway.databaseUrl);
  expect((await subject.erase()).body.versions).toEqual([3]);
  await subject.request('all', 409);
});

it('an erasure removes the provenance of its versions, and later provenance restarts after them', async () => {
  const subject = Subject.of(3);
  const known = async (): Promise<unknown[]> => {
    const { rows } = await superuser.query(
      `SELECT p.snapshot_version AS version, p.changed_paths IS NULL AS "isUnknown"
         FROM snapshot_provenance p JOIN subjects USING (subject_key) WHERE subject_id = $1 ORDER BY 1`,
      [subject.id],
    );
    return rows;
  };
  const [one, three] = [1, 3].map((version) => ({ version, isUnknown: version === 1 }));
  expect(await known()).toEqual([one, { version: 2, isUnknown: false }, three]);
  await subject.erase([2]);
  // The next version could name what the erased version had.
  expect(await known()).toEqual([one, { ...three, isUnknown: true }]);
  // Nothing else removes or changes it, even as the owner of the tables.
  for (const change of [
    `UPDATE snapshot_provenance SET changed_paths = '[]'`,
    `UPDATE snapshot_provenance SET changed_paths = NULL WHERE changed_paths IS NOT NULL`,
    `UPDATE snapshot_provenance SET changed_by = '"mallory"'`,
    'DELETE FROM snapshot_provenance',
    'TRUNCATE snapshot_provenance',
  ]) {
    await expect(superuser.query(change)).rejects.toThrow(/is refused|stays/);
  }
  await get(`${subject.path}/provenance?version=2`, 410);
  const { body: third } = await get(`${subject.path}/provenance?version=3`);
  expect(third.items).toMatchObject([{ since_version: 3, changed_by: 'importer' }]);
  await subject.erase([1, 3]);
  await subject.write();
  const { body: fourth } = await get(`${subject.path}/provenance`);
  expect(fourth.items).toMatchObject([{ since_version: 4 }]);
  expect(await known()).toEqual([{ version: 4, isUnknown: false }]);
});

/** Returns the names of the tables that contain a word, as text in any case or as bytes. */
async function tablesWith(word: string): Promise<string[]> {
  const { rows } = await superuser.query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  const forms = [word, Buffer.from(word).toString('hex')].map((text) => `%${text}%`);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await superuser.query(`SELECT FROM ${name} t WHERE t::text ILIKE ANY ($1)`, [forms]);
    if (rowCount !== 0) found.push(name);
  }
  return found;
}

it('an erasure leaves no content in the database', async () => {
  const subject = Subject.of(1);
  const update = (await subject.propose()).body.update_id;
  await post('editor', `${subject.path}/updates/${update}/apply`);
  subject.ids.push('applied');
  const open = (await subject.propose()).body.update_id;
  const key = { 'Idempotency-Key': randomUUID() };
  await publishLog(gateway.databaseUrl);
  const others = new Subject().envelope();
  await gateway.as('editor', 'post', `${ACME}/entity-states`).set(key).send(others).expect(201);
  const own = subject.envelope();
  await gateway.as('editor', 'post', `${ACME}/entity-states`).set(key).send(own).expect(409);
  await gateway.as('editor', 'post', `${ACME}/entity-states`).set({ 'Idempotency-Key': 'own' }).send(own).expect(201);
  await publishLog(gateway.databaseUrl);
  const replay = () =>
    gateway.as('editor', 'post', `${ACME}/entity-states`).set({ 'Idempotency-Key': 'own' }).send(own);
  await replay().expect(201);
  expect(await tablesWith(subject.word)).toEqual(expect.arrayContaining(['snapshots', 'subjects', 'updates']));
  await subject.erase();
  expect((await replay().expect(409)).text).not.toContain(SECRET);
  const again = await gateway.as('editor', 'post', `${ACME}/entity-states`).set(key).send(others).expect(201);
  expect(again.headers['idempotency-replayed']).toBe('true');

  const { body: applied } = await get(`${subject.path}/updates/${update}`);
  expect([applied.status, applied.patch_ops]).toEqual(['applied', null]);
  const { body: withdrawn } = await get(`${subject.path}/updates/${open}`);
  expect([withdrawn.status, withdrawn.patch_ops]).toEqual(['withdrawn', null]);
  await post('editor', `${subject.path}/updates/${open}/apply`, undefined, 410);

  expect(await tablesWith(subject.word)).toEqual([]);
  const { rows: salts } = await superuser.query(
    `SELECT salt FROM log_entries JOIN subjects USING (subject_key) WHERE subject_id = $1 AND salt IS NOT NULL`,
    [subject.id],
  );
  expect(salts).toEqual([]);
});

it('no gateway returns an erased version from its cache or for its former ETag', async () => {
  const subject = Subject.of(2);
  const other = await startGateway({}, gateway);
  try {
    const path = `${subject.path}/snapshots/1`;
    for (const one of [gateway, other]) {
      const token = await one.issuer.mint('alice');
      for (let time = 0; time < 3; time++) await one.withToken(token, 'get', path).expect(200);
    }
    const { headers } = await get(path);
    await subject.erase([1]);
    await get(path, 410);
    await get(path, 410);
    await gateway.as('alice', 'get', path).set('If-None-Match', String(headers['etag'])).expect(410);
    await other.withToken(await other.issuer.mint('alice'), 'get', path).expect(410);
  } finally {
    await other.close();
  }
});

it('no gateway returns the author of an erased version in the provenance of a later one', async () => {
  const subject = Subject.of(1);
  const patch_ops = [{ op: 'add', path: '/attributes/note', value: 'later' }];
  const proposal = { subject_id: subject.id, base_snapshot_version: 1, patch_ops };
  const { body: update } = await post('editor', `${subject.path}/updates`, proposal, 201);
  await post('editor', `${subject.path}/updates/${update.update_id}/apply`);
  const other = await startGateway({}, gateway);
  try {
    const gateways = [gateway, other];
    const authors = async (one: TestGateway): Promise<unknown[]> => {
      const token = await one.issuer.mint('alice');
      const { body } = await one.withToken(token, 'get', `${subject.path}/provenance`).expect(200);
      return body.items.map((leaf: { changed_by: unknown }) => leaf.changed_by);
    };
    for (const one of [...gateways, ...gateways]) expect(await authors(one)).toEqual(['importer', 'oidc:test#editor']);
    await subject.erase([1]);
    for (const one of [...gateways, ...gateways]) expect(await authors(one)).toEqual([null, 'oidc:test#editor']);
  } finally {
    await other.close();
  }
});

it('grantees learn of an erasure; callers without access do not', async () => {
  const subject = Subject.of(1);
  await subject.grant('read_latest');
  await subject.erase();
  const beta = `/v1/tenants/beta/subjects/${TYPE}/${subject.id}`;
  expect(errorOf(await get(`${beta}/snapshots/latest`, 410, 'bob')).erased.snapshot_version).toBe(1);
  await get(`/v1/subjects/${TYPE}/${subject.id}/snapshots/latest`, 410, 'bob');
  await get(`${beta}/snapshots/1`, 403, 'bob');
  await get(`/v1/subjects/${TYPE}/${subject.id}/snapshots/latest`, 404, 'stranger');
  await get(`${beta}/erasures`, 403, 'bob');
  await get(`${subject.path}/erasures`, 403, 'editor');
  await post('bob', `${beta}/erasure`, { versions: 'all', reason: 'none' }, 403);
});

it.each([
  ['without versions', { reason: 'x' }, '/versions'],
  ['with an empty list of versions', { versions: [], reason: 'x' }, '/versions'],
  ['with versions that are an unknown word', { versions: 'some', reason: 'x' }, '/versions'],
  ['with the version 0', { versions: [1, 0], reason: 'x' }, '/versions/1'],
  ['with too many versions', { versions: Array.from({ length: 1001 }, (_, at) => at + 1), reason: 'x' }, '/versions'],
  ['without a reason', { versions: 'all' }, '/reason'],
  ['with an empty reason', { versions: 'all', reason: '' }, '/reason'],
  ['with a blank reason', { versions: 'all', reason: ' \n\t' }, '/reason'],
  ['with a too long reason', { versions: 'all', reason: 'x'.repeat(501) }, '/reason'],
  ['with a too long reference', { versions: 'all', reason: 'x', reference: 'x'.repeat(201) }, '/reference'],
  ['with an unknown member', { versions: 'all', reason: 'x', force: true }, '/force'],
])('a request %s is refused with its path', async (_, body, path) => {
  const answer = await post('alice', `${ACME}/subjects/${TYPE}/nobody/erasure`, body, 400);
  expect(errorOf(answer).details[0].path).toBe(path);
});

it('a request may name a thousand versions', async () => {
  const versions = Array.from({ length: 1000 }, (_, at) => at + 1);
  await post('alice', `${Subject.of(1).path}/erasure`, { versions, reason: 'x' }, 404);
});

it('an erasure needs a human owner who requests it and another human who confirms it once', async () => {
  const subject = Subject.of(1);
  const machine = await gateway.issuer.mint('alice', { principal_type: 'ai_agent' });
  const asked = { versions: 'all', reason: 'x' };
  await gateway.withToken(machine, 'post', `${subject.path}/erasure`).send(asked).expect(422);
  await post('admin', `${subject.path}/erasure`, asked, 403);
  await subject.request([2], 404);
  const { body } = await subject.request();
  await subject.request('all', 409);
  const confirm = `${subject.path}/erasures/${body.erasure_id}/confirm`;
  await post('alice', confirm, undefined, 403);
  await post('editor', confirm, undefined, 403);
  const robot = await gateway.issuer.mint('admin', { principal_type: 'service_account' });
  await gateway.withToken(robot, 'post', confirm).expect(422);
  await post('admin', `${subject.path}/erasures/${randomUUID()}/confirm`, undefined, 404);
  // Of many concurrent requests, one succeeds.
  const users: User[] = ['admin', 'zoe', 'admin', 'zoe'];
  const statuses = await Promise.all(users.map(async (user) => (await gateway.as(user, 'post', confirm)).status));
  expect(statuses.sort()).toEqual([200, 409, 409, 409]);
  await post('admin', `${subject.path}/erasures/${body.erasure_id}/cancel`, undefined, 409);
});

it('a cancelled or expired erasure loses its reason and erases nothing', async () => {
  const subject = Subject.of(1);
  const { body: first } = await subject.request();
  const { body: cancelled } = await post('admin', `${subject.path}/erasures/${first.erasure_id}/cancel`);
  expect([cancelled.status, cancelled.reason]).toEqual(['cancelled', null]);
  await post('admin', `${subject.path}/erasures/${first.erasure_id}/confirm`, undefined, 409);
  const { body: second } = await subject.request();
  await expire(second);
  await post('admin', `${subject.path}/erasures/${second.erasure_id}/confirm`, undefined, 409);
  expect((await get(`${subject.path}/erasures/${second.erasure_id}`)).body).toMatchObject({
    status: 'expired',
    reason: null,
  });
  // The row is still stored as pending.
  const newest = async (status: string): Promise<string | undefined> =>
    (await get(`${ACME}/erasures?limit=1&status=${status}`)).body.items[0]?.erasure_id;
  expect(await newest('expired')).toBe(second.erasure_id);
  expect(await newest('pending')).not.toBe(second.erasure_id);
  const { body: third } = await subject.request();
  const { body: list } = await get(`${subject.path}/erasures?limit=2`);
  expect(list.items.map(({ erasure_id: id, status }: Record<string, string>) => [id, status])).toEqual([
    [third.erasure_id, 'pending'],
    [second.erasure_id, 'expired'],
  ]);
  const { body: rest } = await get(`${subject.path}/erasures?limit=2&cursor=${list.next_cursor}`);
  expect(rest.items).toMatchObject([{ erasure_id: first.erasure_id }]);
  const { rows } = await superuser.query(`SELECT status, reason FROM erasures WHERE public_id = $1`, [
    second.erasure_id,
  ]);
  expect(rows).toEqual([{ status: 'expired', reason: null }]);
  await expire(third);
  const { body: ended } = await post('admin', `${subject.path}/erasures/${third.erasure_id}/cancel`);
  expect(ended.status).toBe('cancelled');
  await get(`${subject.path}/snapshots/1`);
});

/** Ends the time in which an erasure can be confirmed. */
async function expire({ erasure_id: id }: { erasure_id: string }): Promise<void> {
  await superuser.query(`SET session_replication_role = replica`);
  await superuser.query(`UPDATE erasures SET confirm_by = now() WHERE public_id = $1`, [id]);
  await superuser.query(`RESET session_replication_role`);
}

/** Moves the requests of the tenant into the past. */
async function age(tenantId: string, by: string): Promise<void> {
  await superuser.query(`SET session_replication_role = replica`);
  await superuser.query(
    `UPDATE tenants t SET pending_changes = (
       SELECT jsonb_object_agg(p.key, p.value || jsonb_build_object('effective_at', (p.value ->> 'effective_at')::timestamptz - $2::interval))
         FROM jsonb_each(t.pending_changes) p) WHERE tenant_id = $1`,
    [tenantId, by],
  );
  await superuser.query(`RESET session_replication_role`);
}

const OFF = { erasure_confirmation: 'off' };
const REQUIRED = { erasure_confirmation: 'required' };
/** The setting that is in effect, and the principal that requested another one. */
async function confirmationOf(user: User, tenantId = 'acme'): Promise<[string, string[]]> {
  const { body } = await get(`/v1/tenants/${tenantId}`, 200, user);
  const pending: Record<string, string>[] = body.pending_changes;
  return [body.erasure_confirmation, pending.map(({ requested_by: by = '' }) => by)];
}

it('two humans are needed to switch the confirmation off, and one to switch it on', async () => {
  const byMachine = { principal_type: 'service_account' };
  await send('admin', 'patch', ACME, OFF, 403);
  await send('alice', 'patch', ACME, OFF);
  const { body } = await send('alice', 'patch', ACME, OFF);
  expect(body.erasure_confirmation).toBe('required');
  const [pending] = body.pending_changes;
  expect(pending).toMatchObject({ setting: 'erasure_confirmation', requested_by: 'oidc:test#alice' });
  expect(Date.parse(pending.effective_at) - Date.parse(pending.requested_at)).toBe(86_400_000);
  await send('editor', 'patch', ACME, OFF, 403);
  const machine = await gateway.issuer.mint('zoe', byMachine);
  await gateway.withToken(machine, 'patch', ACME).send(OFF).expect(403);
  // The record of zoe decides too, whatever the token says.
  await send('alice', 'put', `${ACME}/principals/${idOf('zoe')}`, byMachine);
  expect(errorOf(await send('zoe', 'patch', ACME, REQUIRED, 422)).code).toBe('human_principal_required');
  await send('alice', 'put', `${ACME}/principals/${idOf('zoe')}`, { principal_type: 'human' });
  await send('zoe', 'patch', ACME, REQUIRED);
  expect(await confirmationOf('alice')).toEqual(['required', []]);

  await send('alice', 'patch', ACME, OFF);
  await send('zoe', 'patch', ACME, { name: 'Acme' });
  expect(await confirmationOf('alice')).toEqual(['required', ['oidc:test#alice']]);
  await send('zoe', 'patch', ACME, OFF);
  expect(await confirmationOf('alice')).toEqual(['off', []]);
  await send('admin', 'patch', ACME, REQUIRED);
  expect(await confirmationOf('alice')).toEqual(['required', []]);
});

it('a request to switch the confirmation off ends if its requester is no longer an owner', async () => {
  const other = (role: string) => send('alice', 'put', `${ACME}/members/${idOf('o2')}`, { role });
  await other('tenant_owner');
  await send('o2', 'patch', ACME, OFF);
  await other('tenant_admin');
  expect(await confirmationOf('alice')).toEqual(['required', []]);
});

it('PostgreSQL refuses applications that switch the confirmation off without a second human', async () => {
  await application.query(`SET iss.acting_principal = 'oidc:test#alice'`);
  const early = { erasure_confirmation: { requested_by: 'oidc:test#bob', effective_at: '2000-01-01T00:00:00Z' } };
  await application.query(`UPDATE tenants SET pending_changes = $1 WHERE tenant_id = 'acme'`, [JSON.stringify(early)]);
  for (const by of ['alice', 'alice', 'bob', 'editor', 'nobody']) {
    await application.query(`SELECT set_config('iss.acting_principal', $1, false)`, [`oidc:test#${by}`]);
    await application.query(`UPDATE tenants SET erasure_confirmation = 'off' WHERE tenant_id = 'acme'`);
  }
  expect(await confirmationOf('alice')).toEqual(['required', ['oidc:test#alice']]);
  const subject = new Subject();
  await subject.write();
  await publishLog(gateway.databaseUrl);
  expect((await subject.request()).body.status).toBe('pending');
  await send('alice', 'patch', ACME, REQUIRED);
});

it('the only owner of a tenant can switch the confirmation off with a delay of a day', async () => {
  const machine = await gateway.issuer.mint('o1', { principal_type: 'service_account' });
  await send('o1', 'post', '/v1/tenants', { tenant_id: 'solo', name: 'Solo' }, 201);
  await gateway.withToken(machine, 'patch', '/v1/tenants/solo').send(OFF).expect(422);
  await send('o1', 'patch', '/v1/tenants/solo', { erasure_confirmation: 'never' }, 400);
  await send('o1', 'patch', '/v1/tenants/solo', OFF);
  await age('solo', '23 hours 59 minutes');
  await send('o1', 'patch', '/v1/tenants/solo', OFF);
  expect(await confirmationOf('o1', 'solo')).toEqual(['required', ['oidc:test#o1']]);
  await age('solo', '1 minute');
  expect(await confirmationOf('o1', 'solo')).toEqual(['off', []]);
  const subject = new Subject();
  await post('o1', '/v1/tenants/solo/entity-states', subject.envelope(), 201);
  await publishLog(gateway.databaseUrl);
  const path = `/v1/tenants/solo/subjects/${TYPE}/${subject.id}`;
  const { body } = await post('o1', `${path}/erasure`, { versions: 'all', reason: 'x' }, 201);
  expect(body).toMatchObject({ status: 'erased', confirmation: 'off', confirmed_by: null, reason: null });
  await get(path, 410, 'o1');
  await send('o1', 'patch', '/v1/tenants/solo', REQUIRED);
  expect(await confirmationOf('o1', 'solo')).toEqual(['required', []]);
});

it('the log proves an erasure to the owner and to grantees of the version', async () => {
  const subject = Subject.of(2);
  await subject.grant('read_snapshot_by_id');
  const { body: before } = await get(`${ACME}/snapshots/${subject.ids[0]}/log-proof`);
  const { body: receipt } = await subject.erase([1]);
  expect(errorOf(await get(`${ACME}/snapshots/${subject.ids[0]}/log-proof`, 404)).code).toBe('not_logged_yet');
  const { vkey } = await publishLog(gateway.databaseUrl);
  const open = async (note: string) => parseCheckpoint((await openNote(note, [createVerifier(vkey)])).text);
  const hashes = (inclusion: string[]): Uint8Array[] => inclusion.map((hash) => decodeBase64(hash, 'hash'));

  const proofPath = `${subject.path}/erasures/${receipt.erasure_id}/log-proof`;
  const { body: proof } = await get(`${proofPath}?wait=10`);
  verifyInclusion(leafHash(proof.entry), proof.log_index, await open(proof.checkpoint), hashes(proof.inclusion));
  expect(JSON.parse(proof.entry)).toMatchObject({
    type: 'subject.erased',
    tenant_id: 'acme',
    subject_id: subject.id,
    erased_indexes: [before.log_index],
    erased_at: receipt.erased_at,
    erased_versions: [headerOf(JSON.parse(before.entry))],
  });
  expect((await get(`${subject.path}/erasures/${receipt.erasure_id}`)).body.log_index).toBe(proof.log_index);
  await get(proofPath, 403, 'editor');

  const { erased } = errorOf(await get(`/v1/tenants/beta/snapshots/${subject.ids[0]}/log-proof?wait=10`, 410, 'bob'));
  expect(erased.proof).toMatchObject({ log_index: before.log_index, leaf_hash: before.leaf_hash, erasure: proof });
  const leaf = leafHash(before.entry);
  verifyInclusion(leaf, erased.proof.log_index, await open(proof.checkpoint), hashes(erased.proof.inclusion));
  await get(`${ACME}/snapshots/${subject.ids[1]}/log-proof`);
});

it('a bundle with erased versions verifies and names them', async () => {
  const subject = Subject.of(3);
  const { body: receipt } = await subject.erase([1, 2]);
  const { vkey } = await publishLog(gateway.databaseUrl);
  const bundle = gateway.as('alice', 'get', `${subject.path}/export?proofs=log`).set('Accept', 'application/x-ndjson');
  const { text } = await bundle.expect(200);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => ['entry' in line, 'erased' in line])).toEqual([
    [false, false],
    [false, true],
    [false, true],
    [true, false],
  ]);
  expect(lines[2].erased).toEqual({ log_index: lines[1].erased.log_index });
  expect(lines[1].snapshot.erased).toEqual({ erasure_id: receipt.erasure_id, erased_at: receipt.erased_at });
  const folder = mkdtempSync(join(tmpdir(), 'erasure-'));
  try {
    const file = join(folder, 'bundle');
    writeFileSync(file, text);
    expect(await iss(['verify', file, '--vkey', vkey])).toMatchObject({
      exitCode: 0,
      complaint: '',
      printed: expect.stringMatching(/Erased +1, 2: log entries prove/),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('a bundle waits until the last erasure is in the published log', async () => {
  const subject = Subject.of(2);
  await subject.erase([1]);
  const bundle = gateway.as('alice', 'get', `${subject.path}/export?proofs=log`).set('Accept', 'application/x-ndjson');
  const [{ status, text }] = await Promise.all([bundle, publishLog(gateway.databaseUrl)]);
  expect([
    status,
    text
      .trimEnd()
      .split('\n')
      .map((line) => 'erased' in JSON.parse(line)),
  ]).toEqual([200, [false, true, false]]);
});

it('the change feed shows an erasure to the owner and to current and later grantees', async () => {
  const subject = Subject.of(1);
  await subject.grant('read_latest');
  const { body: receipt } = await subject.erase();
  await publishLog(gateway.databaseUrl);
  for (const [tenant, user] of [
    ['acme', 'alice'],
    ['beta', 'bob'],
  ] as const) {
    const { body } = await get(`/v1/tenants/${tenant}/changes?type=subject.erased&limit=1000`, 200, user);
    expect([tenant, body.items.at(-1)]).toEqual([
      tenant,
      expect.objectContaining({
        subject_id: subject.id,
        erased_indexes: receipt.erased_versions.map((one: { log_index: number }) => one.log_index),
        erased_at: receipt.erased_at,
      }),
    ]);
  }
  const before = Subject.of(1);
  await before.erase();
  await publishLog(gateway.databaseUrl);
  await before.grant('read_lineage');
  await publishLog(gateway.databaseUrl);
  const { body } = await get('/v1/tenants/beta/changes?type=subject.erased&limit=1000', 200, 'bob');
  expect(body.items.at(-1)).toMatchObject({ subject_id: before.id });
});

it('subscriptions of the owner and of grantees receive an event without content', async () => {
  const subject = Subject.of(1);
  await subject.grant('read_latest');
  for (const [user, tenant_id] of [
    ['alice', 'acme'],
    ['bob', 'beta'],
  ] as const) {
    const body = { tenant_id, target_url: 'https://hooks.example.com/', event_types: ['subject.erased'] };
    await post(user, '/v1/webhook-subscriptions', body, 201);
  }
  const { body: receipt } = await subject.erase();
  const { rows } = await superuser.query<{ tenant_id: string; body: string }>(
    `SELECT tenant_id, body FROM outbox_events WHERE event_type = 'subject.erased' ORDER BY tenant_id`,
  );
  expect(rows.map(({ tenant_id, body }) => [tenant_id, JSON.parse(body).tenant_id, JSON.parse(body).data])).toEqual(
    ['acme', 'beta'].map((tenant) => [
      tenant,
      tenant,
      {
        subject: { subject_type: TYPE, subject_id: subject.id },
        erasure_id: receipt.erasure_id,
        versions: [1],
        erased_at: receipt.erased_at,
      },
    ]),
  );
});

it('former grantees that read an erased version are notified and listed as recipients', async () => {
  const subject = Subject.of(2);
  const { body: grant } = await post(
    'alice',
    `${ACME}/grants`,
    { grantee_tenant_id: 'beta', subject_type: TYPE, subject_id: subject.id, scopes: ['read_lineage'] },
    201,
  );
  const asBeta = subject.path.replace('acme', 'beta');
  await get(`${asBeta}/snapshots/1`, 200, 'bob');
  await post('alice', `${ACME}/grants/${grant.grant_id}/revoke`);
  const hook = { tenant_id: 'beta', target_url: 'https://hooks.example.com/', event_types: ['subject.erased'] };
  await post('bob', '/v1/webhook-subscriptions', hook, 201);
  const told = async (erasureId: string): Promise<string[]> => {
    const { rows } = await superuser.query<{ tenant_id: string }>(
      `SELECT tenant_id FROM outbox_events WHERE event_type = 'subject.erased' AND body LIKE $1`,
      [`%${erasureId}%`],
    );
    return rows.map(({ tenant_id }) => tenant_id).filter((tenant) => tenant === 'beta');
  };
  // Nobody else was shown the second version.
  const { body: second } = await subject.erase([2]);
  expect([second.recipients, await told(second.erasure_id)]).toEqual([[], []]);
  const { body: first } = await subject.erase([1]);
  expect(first.recipients).toEqual([{ tenant_id: 'beta', first_at: expect.any(String), last_at: expect.any(String) }]);
  expect(await told(first.erasure_id)).toEqual(['beta']);
  expect((await get(`${subject.path}/erasures/${first.erasure_id}`)).body).toEqual(first);
});

it('a grantee that read a range of versions is a recipient for each version in it', async () => {
  const subject = Subject.of(3);
  const shared = { grantee_tenant_id: 'beta', subject_type: TYPE, subject_id: subject.id, scopes: ['read_lineage'] };
  await post('alice', `${ACME}/grants`, shared, 201);
  await get(`${subject.path.replace('acme', 'beta')}/history`, 200, 'bob');
  const { body } = await subject.erase([2]);
  expect(body.recipients).toMatchObject([{ tenant_id: 'beta' }]);
  // A later reader is shown no content of the erased version.
  const count = async () => (await superuser.query('SELECT count(*)::int AS count FROM disclosures')).rows[0].count;
  const before: number = await count();
  await get(`${subject.path.replace('acme', 'beta')}/export`, 200, 'bob');
  expect(await count()).toBeGreaterThan(before);
  expect((await get(`${subject.path}/erasures/${body.erasure_id}`)).body).toEqual(body);
});

it('a reader that gets 410 for an erased version is recorded as a reader of its header', async () => {
  const subject = Subject.of(2);
  await subject.grant('read_lineage', 'read_diff');
  await subject.erase([2]);
  const asBeta = subject.path.replace('acme', 'beta');
  await get(`${asBeta}/diff?from_version=1&to_version=2`, 410, 'bob');
  const disclosed = async (): Promise<string[]> =>
    (await get(`${subject.path}/disclosures`, 200, 'admin')).body.items.map(
      ({ from_version: from, to_version: to, via }: Record<string, unknown>) => `${from}-${to} ${via}`,
    );
  expect(await disclosed()).toEqual(['2-2 headers']);
  await get(`${asBeta}/provenance`, 410, 'bob');
  expect(await disclosed()).toEqual(['2-2 headers']);
});

it('the owner is notified of a pending erasure, and lists the erasures of all its subjects', async () => {
  const subject = Subject.of(1);
  const hook = { tenant_id: 'acme', target_url: 'https://hooks.example.com/', event_types: ['erasure.requested'] };
  await post('alice', '/v1/webhook-subscriptions', hook, 201);
  const { body: pending } = await subject.request();
  const { rows } = await superuser.query<{ body: string }>(
    `SELECT body FROM outbox_events WHERE event_type = 'erasure.requested' AND tenant_id = 'acme' AND body LIKE $1`,
    [`%${pending.erasure_id}%`],
  );
  expect(rows.map(({ body }) => JSON.parse(body).data)).toEqual([
    {
      subject: { subject_type: TYPE, subject_id: subject.id },
      erasure_id: pending.erasure_id,
      versions: [1],
      requested_by: 'oidc:test#alice',
      confirm_by: pending.confirm_by,
    },
  ]);
  const newest = async (query: string): Promise<object> =>
    (await get(`${ACME}/erasures?limit=1${query}`, 200, 'admin')).body.items[0];
  expect(pending).toMatchObject(await newest(''));
  expect(pending).toMatchObject(await newest('&status=pending'));
  expect(await newest('&status=erased')).toMatchObject({ status: 'erased' });
  await get(`${ACME}/erasures`, 403, 'editor');
});

it('a request with wait waits for versions that are not in the log yet', async () => {
  const subject = Subject.of(1);
  await subject.write();
  const body = { versions: 'all', reason: 'Asked for.' };
  expect((await post('alice', `${subject.path}/erasure?wait=0`, body, 404)).body.error.code).toBe('not_logged_yet');
  const waiting = post('alice', `${subject.path}/erasure?wait=10`, body, 201);
  await publishLog(gateway.databaseUrl);
  expect((await waiting).body.versions).toEqual([1, 2]);
  await post('alice', `${subject.path}/erasure?wait=11`, body, 400);
});

it('erasing the last content of a subject removes free text about it, also in the audit trail', async () => {
  const subject = Subject.of(2);
  const text = `Whispered of ${subject.id}`;
  const about = { subject_type: TYPE, subject_id: subject.id };
  const scopes = ['read_latest'];
  const grant = { grantee_tenant_id: 'beta', ...about, scopes, purpose: text };
  const { body: made } = await post('alice', `${ACME}/grants`, grant, 201);
  const changed = { scopes: ['read_latest', 'read_diff'], purpose: `${text} again`, reason: text };
  await send('alice', 'patch', `${ACME}/grants/${made.grant_id}`, changed);
  const request = { requesting_tenant_id: 'acme', message: text };
  const requests = `/v1/subjects/${TYPE}/${subject.id}/refresh-requests`;
  const { body: asked } = await post('alice', requests, request, 201);
  const { body: other } = await post('alice', requests, request, 201);
  await post('alice', `${requests}/${other.refresh_request.refresh_request_id}/decline`, { reason: text });
  const placesOf = async (): Promise<string[]> => {
    const { rows } = await superuser.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    const places: string[] = [];
    for (const { name } of rows) {
      const { rowCount } = await superuser.query(`SELECT 1 FROM ${name} t WHERE t::text LIKE $1`, [`%${text}%`]);
      if (rowCount !== 0) places.push(name);
    }
    return places;
  };
  const before = ['audit_records', 'grant_changes', 'grants', 'refresh_requests'];
  expect(await placesOf()).toEqual(before);
  await subject.erase([1]);
  expect(await placesOf()).toEqual(before);
  await subject.erase([2]);
  expect(await placesOf()).toEqual([]);
  const { body: left } = await get(`${requests}/${asked.refresh_request.refresh_request_id}`);
  expect(left.refresh_request).toMatchObject({ status: 'pending', message: null });
  const { body: audit } = await get(`${ACME}/audit?action=grant.created&limit=200`);
  const records = audit.items.filter(
    ({ target }: { target: { subject_id: string } }) => target.subject_id === subject.id,
  );
  expect(records).toEqual([expect.objectContaining({ principal_id: 'oidc:test#alice' })]);
  for (const attempt of [
    `UPDATE audit_records SET details = details - 'purpose'`,
    `UPDATE audit_records SET principal_id = 'x'`,
    `UPDATE grant_changes SET reason = NULL`,
    'DELETE FROM audit_records',
  ]) {
    await expect(superuser.query(attempt)).rejects.toMatchObject({ code: '42501' });
  }
});

it('an erased snapshot cannot fulfill a refresh request', async () => {
  const subject = Subject.of(2);
  const requests = `/v1/subjects/${TYPE}/${subject.id}/refresh-requests`;
  const { body } = await post('alice', requests, { requesting_tenant_id: 'acme' }, 201);
  await subject.erase([1]);
  const path = `${requests}/${body.refresh_request.refresh_request_id}/fulfill`;
  const refused = await post('alice', path, { resolved_snapshot_id: subject.ids[0] }, 409);
  expect(refused.body.error.message).toMatch(/was erased/);
  await post('alice', path, { resolved_snapshot_id: subject.ids[1] });
});

it('a version that is written after the request is not erased', async () => {
  const subject = Subject.of(1);
  const { body } = await subject.request('all');
  await subject.write();
  await post('admin', `${subject.path}/erasures/${body.erasure_id}/confirm`);
  await get(`${subject.path}/snapshots/1`, 410);
  await get(`${subject.path}/snapshots/2`);
});

it('the database lets applications erase only through erase_versions, after a confirmation', async () => {
  const subject = Subject.of(2);
  const { body } = await subject.request([1]);
  const key = `(SELECT subject_key FROM subjects WHERE subject_id = '${subject.id}')`;
  const erasure = `(SELECT erasure_id FROM erasures WHERE public_id = '${body.erasure_id}')`;
  for (const attempt of [
    `UPDATE snapshots SET envelope = NULL, erasure_id = ${erasure} WHERE subject_key = ${key}`,
    `UPDATE log_entries SET salt = NULL WHERE subject_key = ${key}`,
    `UPDATE erasures SET status = 'erased', erased_at = now(), erased_indexes = '{1}', reason = NULL WHERE erasure_id = ${erasure}`,
    `UPDATE erasures SET versions = '{1,2}' WHERE erasure_id = ${erasure}`,
    `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by, confirmation)
     VALUES (gen_random_uuid(), 'acme', ${key}, '{1}', 'x', 'off')`,
    `DELETE FROM erasures WHERE erasure_id = ${erasure}`,
    `SELECT erase_versions(${erasure})`,
    `SELECT erase_versions(NULL)`,
    `INSERT INTO snapshots SELECT subject_key, 9, gen_random_uuid(), tenant_id, generated_at, now(), envelope_hash, prev_hash, NULL
       FROM snapshots WHERE subject_key = ${key} LIMIT 1`,
  ]) {
    const refusal: unknown = await application.query(attempt).catch((error: unknown) => error);
    expect([attempt, refusal]).toEqual([attempt, expect.objectContaining({ code: '42501' })]);
  }
  const itself = `UPDATE erasures SET confirmed_by = requested_by, confirmed_at = now() WHERE erasure_id = ${erasure}`;
  await expect(application.query(itself)).rejects.toMatchObject({ constraint: 'erasures_two_people' });
  // Not even the owner of the tables can bypass it.
  for (const attempt of [
    `UPDATE snapshots SET envelope = NULL, erasure_id = ${erasure} WHERE subject_key = ${key}`,
    `UPDATE log_entries SET salt = NULL WHERE subject_key = ${key}`,
    `DELETE FROM erasures WHERE erasure_id = ${erasure}`,
  ]) {
    await expect(superuser.query(attempt)).rejects.toMatchObject({ code: '42501' });
  }
  await post('admin', `${subject.path}/erasures/${body.erasure_id}/confirm`);
  await get(`${subject.path}/snapshots/2`);
});

it('an update and the erasure of its base that run concurrently end in one of the two orders', async () => {
  for (let round = 0; round < 5; round++) {
    const subject = Subject.of(1);
    const update = (await subject.propose()).body.update_id;
    const { body } = await subject.request([1]);
    const [applied, confirmed] = await Promise.all([
      gateway.as('editor', 'post', `${subject.path}/updates/${update}/apply`),
      gateway.as('admin', 'post', `${subject.path}/erasures/${body.erasure_id}/confirm`),
    ]);
    expect(confirmed.status).toBe(200);
    const { status, patch_ops } = (await get(`${subject.path}/updates/${update}`)).body;
    expect([applied.status, status, patch_ops]).toEqual(
      applied.status === 200 ? [200, 'applied', null] : [expect.any(Number), 'withdrawn', null],
    );
    if (applied.status !== 200) expect([409, 410]).toContain(applied.status);
    await get(`${subject.path}/snapshots/latest`, applied.status === 200 ? 200 : 410);
  }
});
