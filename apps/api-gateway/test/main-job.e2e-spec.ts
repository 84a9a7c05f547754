import { createHash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Client } from 'pg';
import { envelope, itInDatabase, startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beta', name: 'Beta' }).expect(201);
  for (const [user, role] of [
    ['reader', 'tenant_reader'],
    ['proposer', 'tenant_proposer'],
    ['editor', 'tenant_editor'],
  ]) {
    const principal = encodeURIComponent(`oidc:test#${user}`);
    await gateway.as('alice', 'put', `/v1/tenants/acme/members/${principal}`).send({ role }).expect(200);
  }
});

afterAll(() => gateway?.close());

const sha256 = (value: unknown): string =>
  createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex');

interface Subject {
  subject_type: string;
  subject_id: string;
}

async function writeFirst(
  change: Record<string, unknown> = {},
): Promise<{ sent: Record<string, unknown>; subject: Subject }> {
  const sent = envelope(change);
  await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
  const subject: Subject = Object.assign({ subject_type: '', subject_id: '' }, sent['subject']);
  return { sent, subject };
}

const pathOf = ({ subject_type, subject_id }: Subject): string =>
  `/v1/tenants/acme/subjects/${subject_type}/${encodeURIComponent(subject_id)}`;

describe('a first snapshot', () => {
  it('is stored with the hash that its writer computes, and returned as sent', async () => {
    const { sent, subject } = await writeFirst();
    const answer = await gateway.as('reader', 'get', `${pathOf(subject)}/snapshots/latest`).expect(200);
    expect(answer.body.envelope).toEqual(sent);
    expect(answer.body.envelope_hash).toBe(sha256(sent));
    expect(answer.body).toMatchObject({ snapshot_version: 1, prev_hash: null, subject });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('keeps unusual keys: __proto__, constructor, empty, NUL, both normal forms', async () => {
    const attributes = JSON.parse(
      '{"__proto__":{"a":1},"constructor":{"prototype":{}},"":0,"nul":"\\u0000","caf\\u00e9":1,"cafe\\u0301":2,"n":333333333.33333329,"toJSON":1}',
    );
    const { sent, subject } = await writeFirst({ attributes });
    const answer = await gateway.as('reader', 'get', `${pathOf(subject)}/snapshots/latest`).expect(200);
    expect(Object.keys(answer.body.envelope.attributes)).toEqual(expect.arrayContaining(Object.keys(attributes)));
    expect(answer.body.envelope_hash).toBe(sha256(sent));
  });

  it('is refused with all its faults in one response', async () => {
    const bad = envelope({ snapshot_version: 0, generated_at: 'yesterday', evidence: [{}] });
    const answer = await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(bad).expect(400);
    expect(answer.body.error.code).toBe('validation_error');
    expect(answer.body.error.request_id).toBe(answer.headers['x-request-id']);
    const paths = answer.body.error.details.map((detail: { path: string }) => detail.path);
    expect(paths).toEqual(expect.arrayContaining(['/snapshot_version', '/generated_at', '/evidence/0/evidence_id']));
  });

  it.each([
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"a":{"b":"\\ud800"}}', '/a/b'],
    ['{"a":[9007199254740993]}', '/a/0'],
  ])('is refused if its JSON is ambiguous: %s', async (body, path) => {
    const answer = await gateway
      .as('editor', 'post', '/v1/tenants/acme/entity-states')
      .set('Content-Type', 'application/json')
      .send(body)
      .expect(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });

  it('conflicts with an existing snapshot id or subject', async () => {
    const { sent, subject } = await writeFirst();
    const sameId = envelope({ snapshot_id: String(sent['snapshot_id']).toUpperCase() });
    const sameSubject = envelope({ subject });
    for (const [user, tenant, body] of [
      ['editor', 'acme', sameId],
      ['editor', 'acme', sameSubject],
      ['bob', 'beta', sameSubject],
    ] as const) {
      const answer = await gateway.as(user, 'post', `/v1/tenants/${tenant}/entity-states`).send(body).expect(409);
      expect(answer.body.error.code).toBe('conflict');
    }
  });

  it('can be followed by a direct write only by its owner and in order', async () => {
    const { subject } = await writeFirst();
    const write = async (user: User, tenant: string, change: Record<string, unknown>): Promise<number> => {
      const test = gateway.as(user, 'post', `/v1/tenants/${tenant}/entity-states`);
      return (await test.send(envelope({ subject, ...change }))).status;
    };
    expect(await write('editor', 'acme', { snapshot_version: 3 })).toBe(409);
    expect(await write('bob', 'beta', { snapshot_version: 2 })).toBe(403);
    expect(await write('editor', 'acme', { snapshot_version: 2 })).toBe(201);
    expect(
      await write('editor', 'acme', { snapshot_version: 2, subject: { subject_type: 'entity', subject_id: 'none' } }),
    ).toBe(403);
  });
});

describe('an update', () => {
  const ops = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Neu AG' }];

  it('is proposed and applied on the tenant-level paths', async () => {
    const { sent, subject } = await writeFirst();
    const proposal = await gateway
      .as('proposer', 'post', '/v1/tenants/acme/entity-state-updates')
      .send({
        ...subject,
        base_snapshot_id: sent['snapshot_id'],
        base_snapshot_version: 1,
        operations: ops,
        initiator: 'x',
      })
      .expect(201);
    expect(proposal.body).toMatchObject({ status: 'proposed', patch_ops: ops, initiated_by: 'x', ...subject });

    const path = `/v1/tenants/acme/entity-state-updates/${proposal.body.update_id}/apply`;
    const applied = await gateway.as('editor', 'post', path).set('X-Request-Id', 'my-request').expect(201);
    expect(applied.body).toMatchObject({
      snapshot_version: 2,
      attributes: { legal: { legal_name: 'Neu AG' } },
      audit: { created_by: 'oidc:test#editor', source: 'entity_state_update', request_id: 'my-request' },
      diff: { format: 'rfc6902', ops },
    });
    const again = await gateway.as('editor', 'post', path).expect(409);
    expect(again.body.error.message).toContain('applied');

    const second = await gateway.as('reader', 'get', `${pathOf(subject)}/snapshots/2?verify=chain`).expect(200);
    expect(second.body.envelope).toEqual(applied.body);
    expect(second.body).toMatchObject({ envelope_hash: sha256(applied.body), prev_hash: sha256(sent) });
    expect(second.body.verification).toMatchObject({ mode: 'chain', hash: { valid: true }, chain: { valid: true } });
    const byId = await gateway
      .as('reader', 'get', `/v1/tenants/acme/snapshots/${second.body.snapshot_id}?view=header`)
      .expect(200);
    expect(byId.body).not.toHaveProperty('envelope');
    expect(byId.headers['cache-control']).toBe('private, immutable');
    const etag = byId.headers['etag'] ?? '';
    await gateway
      .as('reader', 'get', `/v1/snapshots/${second.body.snapshot_id}?view=header`)
      .set('If-None-Match', etag)
      .expect(304);
  });

  it('is proposed and applied on the subject-level paths', async () => {
    const { sent, subject } = await writeFirst();
    const body = { subject_id: subject.subject_id, base_snapshot_version: 1, patch_ops: ops, request_id: randomUUID() };
    const path = `${pathOf(subject)}/updates`;
    const proposal = await gateway.as('proposer', 'post', path).send(body).expect(201);
    const replay = await gateway.as('proposer', 'post', path).send(body).expect(200);
    expect(replay.body).toEqual(proposal.body);
    const applied = await gateway.as('editor', 'post', `${path}/${proposal.body.update_id}/apply`).expect(200);
    expect(applied.body).toEqual({
      snapshot_id: expect.any(String),
      snapshot_version: 2,
      envelope_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      prev_hash: sha256(sent),
    });
    await gateway.as('proposer', 'post', path).send(body).expect(200);
    const other = { ...body, patch_ops: [{ op: 'remove', path: '/attributes/contact' }] };
    await gateway.as('proposer', 'post', path).send(other).expect(409);
    const stale = await gateway
      .as('proposer', 'post', path)
      .send({ ...body, request_id: randomUUID() })
      .expect(409);
    expect(stale.body.error.message).toContain('latest version is 2');
  });

  it.each([
    [[{ op: 'remove', path: '/attributes/none' }], '/patch_ops/0'],
    [[ops[0], { op: 'add', path: '/subject/subject_id', value: 'x' }], '/patch_ops/1'],
    [[{ op: 'replace', path: '/attributes/legal/legal_name', value: '' }], '/patch_ops/0'],
    [[{ op: 'move', path: '/attributes/a', from: '/attributes/legal' }], '/patch_ops/0/op'],
    [[{ op: 'add', path: '/__proto__/x', value: 1 }], '/patch_ops/0'],
    ['text', '/patch_ops'],
  ])('is refused with the place of the wrong operation: %j', async (patchOps, path) => {
    const { subject } = await writeFirst();
    const answer = await gateway
      .as('proposer', 'post', `${pathOf(subject)}/updates`)
      .send({ subject_id: subject.subject_id, base_snapshot_version: 1, patch_ops: patchOps })
      .expect(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });
});

describe('tampering with a stored snapshot', () => {
  itInDatabase('makes verification fail', async () => {
    const { sent, subject } = await writeFirst();
    await gateway
      .as('editor', 'post', '/v1/tenants/acme/entity-states')
      .send(envelope({ subject, snapshot_version: 2 }))
      .expect(201);
    const superuser = new Client({ connectionString: gateway.databaseUrl });
    await superuser.connect();
    const tamper = async (change: string): Promise<void> => {
      await superuser.query('ALTER TABLE snapshots DISABLE TRIGGER USER');
      await superuser.query(`UPDATE snapshots SET ${change} WHERE snapshot_id = $1`, [sent['snapshot_id']]);
      await superuser.query('ALTER TABLE snapshots ENABLE TRIGGER USER');
    };
    const verify = async (
      version: number,
      mode: string,
    ): Promise<{ hash: { valid: boolean }; chain: { valid: boolean } }> =>
      (await gateway.as('reader', 'get', `${pathOf(subject)}/snapshots/${version}?verify=${mode}`).expect(200)).body
        .verification;

    expect((await verify(2, 'chain')).chain.valid).toBe(true);
    await tamper(`envelope = replace(envelope, 'Zürich', 'Basel')`);
    expect((await verify(1, 'hash')).hash.valid).toBe(false);
    expect((await verify(2, 'chain')).chain.valid).toBe(false);
    await tamper(`envelope_hash = sha256(convert_to(envelope, 'UTF8'))`);
    expect((await verify(1, 'hash')).hash.valid).toBe(true);
    expect((await verify(2, 'chain')).chain.valid).toBe(false);
    await superuser.end();
  });
});

describe('grants and the access of other tenants', () => {
  it('an outsider cannot learn whether a subject exists', async () => {
    const { subject } = await writeFirst();
    const under = (id: string): string => `/v1/tenants/beta/subjects/organization/${id}/snapshots/latest`;
    const there = await gateway.as('bob', 'get', under(subject.subject_id)).expect(403);
    const notThere = await gateway.as('bob', 'get', under('none')).expect(403);
    expect(there.body.error.message).toBe(notThere.body.error.message);
    await gateway.as('bob', 'get', `/v1/tenants/beta/snapshots/${randomUUID()}`).expect(404);
    await gateway.as('reader', 'get', `${pathOf(subject)}/snapshots/9`).expect(404);
  });

  it('a grantee can read while its grant is live and allow_counterparty_access is on', async () => {
    const { subject } = await writeFirst();
    const grant = { grantee_tenant_id: 'beta', ...subject, scopes: ['read_latest'] };
    const made = await gateway.as('alice', 'post', '/v1/tenants/acme/grants').send(grant).expect(201);
    expect(made.body).toMatchObject({ ...grant, status: 'active', grantor_tenant_id: 'acme', expires_at: null });
    expect(made.body.grant.grant_id).toBe(made.body.grant_id);

    const latest = `/v1/tenants/beta/subjects/organization/${subject.subject_id}/snapshots/latest`;
    const status = async (path: string): Promise<number> => (await gateway.as('bob', 'get', path)).status;
    expect(await status(latest)).toBe(403);
    const bob = `/v1/tenants/beta/principals/${encodeURIComponent('oidc:test#bob')}`;
    await gateway.as('bob', 'put', bob).send({ allow_counterparty_access: true }).expect(200);
    expect(await status(latest)).toBe(200);
    expect(await status(`/v1/subjects/organization/${subject.subject_id}/snapshots/latest`)).toBe(200);

    const revoke = `/v1/tenants/acme/grants/${made.body.grant_id}/revoke`;
    const revoked = await gateway.as('alice', 'post', revoke).expect(200);
    expect(revoked.body).toMatchObject({ status: 'revoked', revoked_at: expect.any(String) });
    expect(await status(latest)).toBe(403);
    await gateway.as('alice', 'post', revoke).expect(409);
    await gateway.as('alice', 'post', `/v1/tenants/acme/grants/${randomUUID()}/revoke`).expect(404);
    const listed = await gateway.as('alice', 'get', `${pathOf(subject)}/grants`).expect(200);
    expect(listed.body.items).toEqual([{ ...revoked.body, name: 'Zürich Öl AG' }]);
  });

  it('a grant ends at its expires_at', async () => {
    const { subject } = await writeFirst();
    const grant = {
      grantee_tenant_id: 'beta',
      ...subject,
      scopes: ['read_latest'],
      expires_at: '2999-01-01T00:00:00+02:00',
    };
    const made = await gateway.as('alice', 'post', '/v1/tenants/acme/grants').send(grant).expect(201);
    expect(made.body.expires_at).toBe('2998-12-31T22:00:00.000Z');
    const latest = `/v1/tenants/beta/subjects/organization/${subject.subject_id}/snapshots/latest`;
    await gateway.as('bob', 'get', latest).expect(200);
    const clock = new Client({ connectionString: gateway.databaseUrl });
    await clock.connect();
    await clock.query('UPDATE grants SET expires_at = now() WHERE grant_id = $1', [made.body.grant_id]);
    await clock.end();
    await gateway.as('bob', 'get', latest).expect(403);
    await gateway.as('alice', 'post', `/v1/tenants/acme/grants/${made.body.grant_id}/revoke`).expect(409);
  });

  it('concurrent requests create one live grant, and invalid requests none', async () => {
    const { subject } = await writeFirst();
    const grant = { grantee_tenant_id: 'beta', ...subject, scopes: ['read_latest'] };
    const post = (user: User, tenant: string, change: Record<string, unknown>) =>
      gateway.as(user, 'post', `/v1/tenants/${tenant}/grants`).send({ ...grant, ...change });
    const raced = await Promise.all(Array.from({ length: 20 }, async () => (await post('alice', 'acme', {})).status));
    expect(raced.filter((status) => status === 201)).toHaveLength(1);
    expect(raced.filter((status) => status === 409)).toHaveLength(19);
    await post('alice', 'acme', { grantee_tenant_id: 'nobody' }).expect(409);
    await post('alice', 'acme', { subject_id: 'none' }).expect(403);
    for (const [change, path] of [
      [{ scopes: [] }, '/scopes'],
      [{ scopes: ['read_all'] }, '/scopes'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
      [{ expires_at: 'soon' }, '/expires_at'],
      [{ grantee_tenant_id: 'acme' }, '/grantee_tenant_id'],
    ] as const) {
      const answer = await post('alice', 'acme', change).expect(400);
      expect(answer.body.error.details[0].path).toBe(path);
    }
  });
});
