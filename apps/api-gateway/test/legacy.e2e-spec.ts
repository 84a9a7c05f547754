import { createHash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Client } from 'pg';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

const PATH = '/v1/entity-states';

const hashOf = (sent: unknown): string =>
  createHash('sha256')
    .update(canonicalize(sent) ?? '')
    .digest('hex');

const paths = (answer: { body: { error: { details?: { path: string }[] } } }): string[] =>
  (answer.body.error.details ?? []).map((detail) => detail.path);

const write = (gateway: TestGateway, user: User | null, sent: object, path = PATH) =>
  gateway.as(user, 'post', path).send(sent);

const read = (gateway: TestGateway, user: User | null, snapshotId: unknown) =>
  gateway.as(user, 'get', `${PATH}/${String(snapshotId)}`);

async function makeTenants(gateway: TestGateway): Promise<void> {
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beta', name: 'Beta' }).expect(201);
  const bob = `/v1/tenants/beta/principals/${encodeURIComponent('oidc:test#bob')}`;
  await gateway.as('bob', 'put', bob).send({ allow_counterparty_access: true }).expect(200);
}

/** Returns a snapshot of acme. */
async function writeForAcme(gateway: TestGateway): Promise<Record<string, unknown>> {
  const sent = envelope();
  await write(gateway, 'alice', sent, '/v1/tenants/acme/entity-states').expect(201);
  return sent;
}

describe('the legacy paths in local and development', () => {
  let gateway: TestGateway;
  let database: Client;

  beforeAll(async () => {
    gateway = await startGateway({ BODY_LIMIT_BYTES: '65536' });
    database = new Client({ connectionString: gateway.databaseUrl });
    await database.connect();
    await makeTenants(gateway);
  });

  afterAll(async () => {
    await database?.end();
    await gateway?.close();
  });

  it('let anyone write for the legacy tenant and read the bare envelope', async () => {
    const sent = envelope({ attributes: JSON.parse('{"__proto__":{"a":1},"n":1e21,"":"\\u0000"}') });
    const made = await write(gateway, null, sent).expect(201);
    expect(made.body).toMatchObject({
      snapshot_id: sent['snapshot_id'],
      snapshot_version: 1,
      envelope_hash: hashOf(sent),
      prev_hash: null,
    });
    const got = await read(gateway, null, String(sent['snapshot_id']).toUpperCase()).expect(200);
    expect(got.text).toBe(canonicalize(sent));
    const { rows } = await database.query(
      `SELECT n.tenant_id, s.owner_tenant_id FROM snapshots n JOIN subjects s USING (subject_key) WHERE n.snapshot_id = $1`,
      [sent['snapshot_id']],
    );
    expect(rows).toEqual([{ tenant_id: 'legacy', owner_tenant_id: 'legacy' }]);
    const second = await write(gateway, null, envelope({ subject: sent['subject'], snapshot_version: 2 })).expect(201);
    expect(second.body.prev_hash).toBe(hashOf(sent));
    // A caller with a token can also write and read there.
    const third = envelope({ subject: sent['subject'], snapshot_version: 3 });
    await write(gateway, 'stranger', third).expect(201);
    await read(gateway, 'stranger', third['snapshot_id']).expect(200);
  });

  it('refuse the same requests as the tenant-level path', async () => {
    const sent = envelope();
    await write(gateway, null, sent).expect(201);
    const theirs = await writeForAcme(gateway);
    const cases: [Record<string, unknown>, number, string[]][] = [
      [{ snapshot_id: sent['snapshot_id'] }, 409, ['/snapshot_id']],
      [{ snapshot_id: String(theirs['snapshot_id']).toUpperCase() }, 409, ['/snapshot_id']],
      [{ subject: sent['subject'] }, 409, ['/snapshot_version']],
      [{ subject: sent['subject'], snapshot_version: 3 }, 409, ['/snapshot_version']],
      [{ subject: theirs['subject'] }, 409, ['/subject/subject_id']],
      [{ subject: theirs['subject'], snapshot_version: 2 }, 403, []],
      [{ snapshot_version: 2 }, 403, []],
      [{ envelope_version: 'v2' }, 400, ['/envelope_version']],
      [{ evidence: undefined }, 400, ['/evidence']],
    ];
    for (const [change, status, expected] of cases) {
      expect(paths(await write(gateway, null, envelope(change)).expect(status))).toEqual(expected);
    }
    await write(gateway, null, envelope({ attributes: { a: 'x'.repeat(70_000) } })).expect(413);
    await gateway.as(null, 'post', PATH).set('Content-Type', 'text/plain').send('{}').expect(415);
    const malformed = await read(gateway, null, 'not-a-uuid').expect(400);
    expect(paths(malformed)).toEqual(['/path/snapshot_id']);
    expect((await read(gateway, null, randomUUID()).expect(404)).body.error.code).toBe('not_found');
  });

  it('return another tenant’s snapshot only to callers who may read it by id', async () => {
    const sent = await writeForAcme(gateway);
    const status = async (user: User | null): Promise<number> =>
      (await read(gateway, user, sent['snapshot_id'])).status;
    expect(await status(null)).toBe(404);
    expect(await status('alice')).toBe(200);
    expect(await status('bob')).toBe(404);
    const grant = { grantee_tenant_id: 'beta', ...Object(sent['subject']) };
    const grants = '/v1/tenants/acme/grants';
    const first = await gateway
      .as('alice', 'post', grants)
      .send({ ...grant, scopes: ['read_latest'] })
      .expect(201);
    expect(await status('bob')).toBe(404);
    await gateway.as('alice', 'post', `${grants}/${first.body.grant_id}/revoke`).expect(200);
    await gateway
      .as('alice', 'post', grants)
      .send({ ...grant, scopes: ['read_snapshot_by_id'] })
      .expect(201);
    expect(await status('bob')).toBe(200);
    expect(await status('stranger')).toBe(404);
    await gateway.withToken('not-a-token', 'get', `${PATH}/${String(sent['snapshot_id'])}`).expect(401);
  });

  it('are the only way into the legacy tenant', async () => {
    await gateway.as('stranger', 'post', '/v1/tenants').send({ tenant_id: 'legacy', name: 'Mine' }).expect(409);
    const sent = envelope();
    await write(gateway, null, sent).expect(201);
    await gateway.as('stranger', 'get', `/v1/tenants/legacy/snapshots/${String(sent['snapshot_id'])}`).expect(403);
    await gateway.as('stranger', 'get', `/v1/snapshots/${String(sent['snapshot_id'])}`).expect(404);
    await write(gateway, 'stranger', envelope(), '/v1/tenants/legacy/entity-states').expect(403);
    await write(gateway, null, envelope(), '/v1/tenants/legacy/entity-states').expect(401);
    const { rows } = await database.query(
      `SELECT principal_id, api_functional_role FROM memberships WHERE tenant_id = 'legacy'`,
    );
    expect(rows).toEqual([{ principal_id: 'legacy', api_functional_role: 'tenant_editor' }]);
  });

  it('share one legacy tenant when several gateways start concurrently', async () => {
    const others = await Promise.all([1, 2, 3].map(() => startGateway({ LEGACY_TENANT_ID: 'old.System-1' }, gateway)));
    const sent = envelope();
    const [first, second] = others;
    if (first === undefined || second === undefined) throw new Error('three were started');
    await write(first, null, sent).expect(201);
    await read(second, null, sent['snapshot_id']).expect(200);
    await read(gateway, null, sent['snapshot_id']).expect(404);
    await Promise.all(others.map((other) => other.close()));
    const { rows } = await database.query(`SELECT count(*)::int FROM memberships WHERE tenant_id = 'old.System-1'`);
    expect(rows).toEqual([{ count: 1 }]);
  });
});

it('LEGACY_TENANT_OWNER sets the legacy tenant’s owner once, and a restart keeps later changes', async () => {
  const gateway = await startGateway({ LEGACY_TENANT_OWNER: 'oidc:test#zoe' });
  await makeTenants(gateway);
  const sent = envelope();
  await write(gateway, null, sent).expect(201);
  const { subject_type, subject_id } = Object.assign({ subject_type: '', subject_id: '' }, sent['subject']);
  const subject = `/v1/tenants/legacy/subjects/${subject_type}/${subject_id}`;
  const listed = await gateway.as('zoe', 'get', '/v1/tenants').expect(200);
  expect(listed.body.items).toMatchObject([
    { tenant_id: 'legacy', api_functional_role: 'tenant_owner', tenancy_role: 'account_admin' },
  ]);
  await gateway.as('zoe', 'get', `${subject}/snapshots/latest`).expect(200);
  const patch_ops = [{ op: 'add', path: '/attributes/note', value: 'x' }];
  const proposed = await gateway
    .as('zoe', 'post', `${subject}/updates`)
    .send({ subject_id, base_snapshot_version: 1, patch_ops })
    .expect(201);
  await gateway.as('zoe', 'post', `${subject}/updates/${proposed.body.update_id}/apply`).expect(200);
  const grant = { grantee_tenant_id: 'beta', subject_type, subject_id, scopes: ['read_latest'] };
  await gateway.as('zoe', 'post', '/v1/tenants/legacy/grants').send(grant).expect(201);
  await gateway
    .as('bob', 'get', `/v1/tenants/beta/subjects/${subject_type}/${subject_id}/snapshots/latest`)
    .expect(200);

  // Later changes by people remain, however often a gateway starts.
  const member = (user: string): string => `/v1/tenants/legacy/members/${encodeURIComponent(`oidc:test#${user}`)}`;
  await gateway.as('zoe', 'put', member('alice')).send({ role: 'tenant_owner' }).expect(200);
  await gateway.as('alice', 'delete', member('zoe')).expect(204);
  const other = await startGateway({ LEGACY_TENANT_OWNER: 'oidc:test#zoe' }, gateway);
  await other.as('zoe', 'get', subject).expect(403);
  await other.close();
  await gateway.close();
});

it('disabled legacy paths return 404 before the token or body is checked', async () => {
  const gateway = await startGateway({ LEGACY_ENTITY_STATES: 'disabled' });
  const answers = await Promise.all([
    write(gateway, null, envelope()),
    write(gateway, 'alice', {}),
    gateway.as(null, 'post', PATH).set('Content-Type', 'text/plain').send('x'),
    read(gateway, null, randomUUID()),
    read(gateway, null, 'not-a-uuid'),
    gateway.as(null, 'delete', PATH),
  ]);
  for (const answer of answers) {
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({ code: 'not_found', message: expect.stringContaining('No such route') });
  }
  const document = await gateway.as(null, 'get', '/openapi.json').expect(200);
  expect(Object.keys(document.body.paths).filter((path) => path.startsWith(PATH))).toEqual([]);
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'legacy', name: 'Free' }).expect(201);
  await gateway.close();
});

it('without authentication, the developer can read own and legacy snapshots', async () => {
  const gateway = await startGateway({ AUTH_MODE: 'disabled' });
  await makeTenants(gateway);
  const [own, legacy] = [await writeForAcme(gateway), envelope()];
  await write(gateway, null, legacy).expect(201);
  await read(gateway, null, own['snapshot_id']).expect(200);
  await read(gateway, null, legacy['snapshot_id']).expect(200);
  await gateway.close();
});

describe('the legacy paths where a token is required', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startGateway({ LEGACY_ENTITY_STATES: 'enabled' }, undefined, (settings) => ({
      ...settings,
      auth: { ...settings.auth, legacyPathsArePublic: false },
    }));
    await makeTenants(gateway);
  });

  afterAll(() => gateway?.close());

  it('accept writes only from editors of the legacy tenant', async () => {
    await write(gateway, null, envelope()).expect(401);
    await gateway.as(null, 'post', PATH).set('Content-Type', 'text/plain').send('x').expect(401);
    await write(gateway, 'alice', envelope()).expect(403);
    await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'legacy', name: 'Legacy' }).expect(201);
    const members = (user: User): string => `/v1/tenants/legacy/members/${encodeURIComponent(`oidc:test#${user}`)}`;
    await gateway.as('zoe', 'put', members('proposer')).send({ role: 'tenant_proposer' }).expect(200);
    await gateway.as('zoe', 'put', members('editor')).send({ role: 'tenant_editor' }).expect(200);
    await gateway.as('zoe', 'put', members('reader')).send({ role: 'tenant_reader' }).expect(200);
    await write(gateway, 'alice', envelope()).expect(403);
    await write(gateway, 'proposer', envelope()).expect(403);
    const sent = envelope();
    await write(gateway, 'editor', sent).expect(201);

    await read(gateway, null, sent['snapshot_id']).expect(401);
    await read(gateway, 'reader', sent['snapshot_id']).expect(200, sent);
    await read(gateway, 'alice', sent['snapshot_id']).expect(404);
    const theirs = await writeForAcme(gateway);
    await read(gateway, 'alice', theirs['snapshot_id']).expect(200, theirs);
    await read(gateway, 'editor', theirs['snapshot_id']).expect(404);
  });

  it('replay a stored response only while the caller may still write', async () => {
    const members = `/v1/tenants/legacy/members/${encodeURIComponent('oidc:test#o1')}`;
    await gateway.as('zoe', 'put', members).send({ role: 'tenant_editor' }).expect(200);
    const sent = envelope();
    const send = () => gateway.as('o1', 'post', PATH).set('Idempotency-Key', 'k1').send(sent);
    await send().expect(201);
    expect((await send().expect(201)).headers['idempotency-replayed']).toBe('true');
    await gateway.as('zoe', 'delete', members).expect(204);
    await send().expect(403);
  });
});
