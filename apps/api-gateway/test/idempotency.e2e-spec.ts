import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { Client } from 'pg';
import request, { type Response, type Test } from 'supertest';
import { waitFor } from '../../../tools/testing/wait-for';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

const SECRETS_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

let gateway: TestGateway;
let database: Client;

beforeAll(async () => {
  gateway = await startGateway({ SECRETS_KEYS, BODY_LIMIT_BYTES: '4096' });
  database = new Client({ connectionString: gateway.databaseUrl });
  await database.connect();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
});

afterAll(async () => {
  await database?.end();
  await gateway?.close();
});

const post = (key: string, path = '/v1/tenants', user: User = 'alice'): Test =>
  gateway.as(user, 'post', path).set('Idempotency-Key', key);

/** For answers that no operation documents, because the service fails. */
const postInVain = async (key: string, body: object): Promise<Response> => {
  const test = request(gateway.url).post('/v1/tenants').set('Idempotency-Key', key);
  return test.set('Authorization', `Bearer ${await gateway.issuer.mint('alice')}`).send(body);
};

const newTenant = (): { tenant_id: string; name: string } => ({ tenant_id: `t-${randomUUID()}`, name: 'Tenant' });

const keysStored = async (): Promise<number> =>
  (await database.query('SELECT count(*)::int AS keys FROM idempotency_keys')).rows[0].keys;

describe('a repeated request with the same key', () => {
  it('runs once and gets the first answer byte for byte', async () => {
    const key = randomUUID();
    const body = newTenant();
    const first = await post(key).send(body).expect(201);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    const again = await post(key).set('X-Request-Id', 'again').send(body).expect(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['x-request-id']).toBe('again');
    expect(again.text).toBe(first.text);
    for (const name of ['content-type', 'cache-control', 'content-length']) {
      expect(again.headers[name]).toBe(first.headers[name]);
    }
  });

  it('gets the first 409 again, even if it would succeed now', async () => {
    const key = randomUUID();
    const body = newTenant();
    const taken = { ...newTenant(), slug: body.tenant_id };
    await gateway.as('bob', 'post', '/v1/tenants').send(taken).expect(201);
    const first = await post(key)
      .send({ ...body, slug: taken.slug })
      .expect(409);
    await database.query('UPDATE tenants SET slug = NULL WHERE tenant_id = $1', [taken.tenant_id]);
    const again = await post(key)
      .send({ ...body, slug: taken.slug })
      .expect(409);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['link']).toBe(first.headers['link']);
    expect(again.text).toBe(first.text);
  });

  it.each([
    ['another content type', (test: Test) => test.set('Content-Type', 'text/plain').send('x'), 415],
    ['invalid JSON', (test: Test) => test.set('Content-Type', 'application/json').send('{"a":1,"a":2}'), 400],
    ['a missing member', (test: Test) => test.send({ tenant_id: 'x' }), 400],
  ])('can succeed with its key after a request with %s was refused', async (_, send, status) => {
    const key = randomUUID();
    await send(post(key)).expect(status);
    const answer = await post(key).send(newTenant()).expect(201);
    expect(answer.headers).not.toHaveProperty('idempotency-replayed');
  });

  it('runs again after 403, 404 or 422', async () => {
    const members = `/v1/tenants/acme/members/${encodeURIComponent('oidc:test#editor')}`;
    const [key, sent] = [randomUUID(), envelope()];
    const path = '/v1/tenants/acme/entity-states';
    await post(key, path, 'editor').send(sent).expect(403);
    await gateway.as('alice', 'put', members).send({ role: 'tenant_editor' }).expect(200);
    const written = await post(key, path, 'editor').send(sent).expect(201);
    expect(written.headers).not.toHaveProperty('idempotency-replayed');

    const unknown = `/v1/tenants/acme/entity-state-updates/${randomUUID()}/apply`;
    for (let time = 0; time < 2; time += 1) {
      const answer = await post(key, unknown, 'editor').expect(404);
      expect(answer.headers).not.toHaveProperty('idempotency-replayed');
    }

    await gateway.as('alice', 'put', members).send({ role: 'tenant_owner', principal_type: 'ai_agent' }).expect(200);
    const offers = '/v1/tenants/acme/transfer-offers';
    const offer = { to_principal_id: 'oidc:test#zoe' };
    await post(key, offers, 'editor').send(offer).expect(422);
    await gateway.as('alice', 'put', members).send({ role: 'tenant_owner', principal_type: 'human' }).expect(200);
    const offered = await post(key, offers, 'editor').send(offer).expect(201);
    expect(offered.headers).not.toHaveProperty('idempotency-replayed');
    await gateway.as('alice', 'delete', members).expect(204);
  });

  it('can succeed with its key after one that was too large', async () => {
    const key = randomUUID();
    await post(key)
      .send({ ...newTenant(), name: 'x'.repeat(5000) })
      .expect(413);
    await post(key).send(newTenant()).expect(201);
  });

  it('is replayed without a body, and with the status of the first answer', async () => {
    const sent = envelope();
    await gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
    const patch_ops = [{ op: 'add', path: '/attributes/note', value: 'x' }];
    const { subject_type, subject_id } = Object.assign({ subject_type: '', subject_id: '' }, sent['subject']);
    const updates = `/v1/tenants/acme/subjects/${subject_type}/${subject_id}/updates`;
    const proposal = { subject_id, base_snapshot_version: 1, patch_ops, request_id: randomUUID() };
    await gateway.as('alice', 'post', updates).send(proposal).expect(201);
    const key = randomUUID();
    const proposed = await post(key, updates).send(proposal).expect(200);
    expect((await post(key, updates).send(proposal).expect(200)).text).toBe(proposed.text);

    const apply = `${updates}/${proposed.body.update_id}/apply`;
    const applied = await post(key, apply).expect(200);
    const again = await post(key, apply).expect(200);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.text).toBe(applied.text);
  });

  it('runs once for fifty concurrent requests', async () => {
    const key = randomUUID();
    const body = newTenant();
    const answers = await Promise.all(Array.from({ length: 50 }, async () => post(key).send(body)));
    const created = answers.filter((answer) => answer.status === 201);
    const fresh = created.filter((answer) => answer.headers['idempotency-replayed'] === undefined);
    expect(fresh).toHaveLength(1);
    expect(new Set(created.map((answer) => answer.text)).size).toBe(1);
    for (const { status, headers, body: refusal } of answers.filter((answer) => answer.status !== 201)) {
      expect(status).toBe(409);
      expect(headers['retry-after']).toBe('1');
      expect(refusal.error).toMatchObject({
        code: 'conflict',
        details: [{ path: '/headers/idempotency-key', code: 'running' }],
      });
    }
    await post(key).send(body).expect(201, fresh[0]?.body);
  });

  it('gets the first answer from every gateway', async () => {
    const other = await startGateway({ SECRETS_KEYS }, gateway);
    const key = randomUUID();
    const body = newTenant();
    const first = await post(key).send(body).expect(201);
    const again = await other.as('alice', 'post', '/v1/tenants').set('Idempotency-Key', key).send(body).expect(201);
    await other.close();
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
  });
});

describe('a key', () => {
  it('is refused with another body', async () => {
    const key = randomUUID();
    await post(key).send(newTenant()).expect(201);
    const answer = await post(key).send(newTenant()).expect(409);
    expect(answer.body.error).toMatchObject({
      code: 'conflict',
      details: [{ path: '/headers/idempotency-key', code: 'mismatch' }],
    });
    expect(answer.headers).not.toHaveProperty('idempotency-replayed');
  });

  it('is scoped to its principal and its path', async () => {
    const key = randomUUID();
    await post(key).send(newTenant()).expect(201);
    await post(key, '/v1/tenants', 'bob').send(newTenant()).expect(201);
    await post(key, '/v1/tenants/acme/entity-states').send(envelope()).expect(201);
    await post(`${key}x`).send(newTenant()).expect(201);
  });

  it('is ignored on GET', async () => {
    const path = '/v1/tenants/acme/principals';
    await gateway.as('alice', 'get', path).set('Idempotency-Key', 'not a key').expect(200);
  });

  it('is the same for each encoding of its path', async () => {
    const key = randomUUID();
    const sent = envelope();
    await post(key, '/v1/tenants/acme/entity-states').send(sent).expect(201);
    const again = await post(key, '/v1/tenants/%61cme/entity-states').send(sent).expect(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    await post(key, '/v1/tenants/acme/entity-states').send(envelope()).expect(409);
  });

  it('is different on the path of another tenant', async () => {
    const [key, { tenant_id: other, ...rest }] = [randomUUID(), newTenant()];
    await gateway
      .as('alice', 'post', '/v1/tenants')
      .send({ tenant_id: other, ...rest })
      .expect(201);
    const sent = envelope();
    await post(key, '/v1/tenants/acme/entity-states').send(sent).expect(201);
    const refused = await post(key, `/v1/tenants/${other}/entity-states`).send(sent);
    expect([refused.status, refused.headers['idempotency-replayed']]).toEqual([409, undefined]);
    expect(refused.body.error.message).not.toContain('Idempotency-Key');
  });

  it.each([[''], ['a b'], ['ä'], ['x'.repeat(256)], ['a, b']])('cannot be %j', async (key) => {
    const answer = await post(key).send(newTenant()).expect(400);
    expect(answer.body.error).toMatchObject({
      code: 'validation_error',
      details: [{ path: '/headers/idempotency-key', code: 'invalid_format' }],
    });
  });

  it.each([['x'], ['~!"{}'], ['x'.repeat(255)]])('can be %j', async (key) => {
    await post(key).send(newTenant()).expect(201);
  });

  it('can be reused after 24 hours', async () => {
    const key = randomUUID();
    await post(key).send(newTenant()).expect(201);
    await database.query(`UPDATE idempotency_keys SET started_at = started_at - interval '24 hours'`);
    const answer = await post(key).send(newTenant()).expect(201);
    expect(answer.headers).not.toHaveProperty('idempotency-replayed');
  });
});

describe('a caller', () => {
  const subscriptions = '/v1/webhook-subscriptions';
  const wanted = { tenant_id: 'acme', target_url: 'https://example.com/', event_types: ['identity.snapshot.created'] };
  const member = (user: string): string => `/v1/tenants/acme/members/${encodeURIComponent(`oidc:test#${user}`)}`;

  it('that was removed gets no secret replayed until it is a member again', async () => {
    await gateway.as('alice', 'put', member('reader')).send({ role: 'tenant_reader' }).expect(200);
    const [key, rotation] = [randomUUID(), randomUUID()];
    const first = await post(key, subscriptions, 'reader').send(wanted).expect(201);
    const id = `${subscriptions}/${first.body.webhook_subscription.subscription_id}`;
    const rotate = `${id}/rotate-secret`;
    const second = await post(rotation, rotate, 'reader').expect(200);
    await gateway.as('alice', 'delete', member('reader')).expect(204);
    for (const test of [post(key, subscriptions, 'reader').send(wanted), post(rotation, rotate, 'reader')]) {
      const answer = await test.expect(403);
      expect(answer.text).not.toContain('whsec_');
      expect(answer.headers).not.toHaveProperty('idempotency-replayed');
    }
    await gateway.as('alice', 'put', member('reader')).send({ role: 'tenant_reader' }).expect(200);
    expect((await post(key, subscriptions, 'reader').send(wanted).expect(201)).text).toBe(first.text);
    expect((await post(rotation, rotate, 'reader').expect(200)).text).toBe(second.text);

    await gateway.as('alice', 'delete', id).expect(204);
    await post(rotation, rotate, 'reader').expect(404);
  });

  it('with a changed role gets only replays that the new role allows', async () => {
    await gateway.as('alice', 'put', member('proposer')).send({ role: 'tenant_editor' }).expect(200);
    const [key, sent] = [randomUUID(), envelope()];
    const path = '/v1/tenants/acme/entity-states';
    await post(key, path, 'proposer').send(sent).expect(201);
    await gateway.as('alice', 'put', member('proposer')).send({ role: 'tenant_proposer' }).expect(200);
    await post(key, path, 'proposer').send(sent).expect(403);
    await gateway.as('alice', 'put', member('proposer')).send({ role: 'tenant_admin' }).expect(200);
    const again = await post(key, path, 'proposer').send(sent).expect(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });
});

describe('a stored answer', () => {
  it('with a secret is replayed, and is not stored in plain text', async () => {
    const key = randomUUID();
    const body = { tenant_id: 'acme', target_url: 'https://example.com/', event_types: ['identity.snapshot.created'] };
    const path = '/v1/webhook-subscriptions';
    const first = await post(key, path).send(body).expect(201);
    expect((await post(key, path).send(body).expect(201)).text).toBe(first.text);
    const { rows } = await database.query<{ row: string }>('SELECT k::text AS row FROM idempotency_keys k');
    for (const { row } of rows) {
      expect(row).not.toContain('whsec_');
      expect(row).not.toContain(key);
    }
    const listed = await gateway.as('alice', 'get', `${path}?tenant_id=acme`).expect(200);
    expect(listed.body.items).toHaveLength(1);
  });

  it('can be decrypted only in its own row', async () => {
    const [keyA, keyB] = [randomUUID(), randomUUID()];
    const body = newTenant();
    await database.query('DELETE FROM idempotency_keys');
    await post(keyA).send(body).expect(201);
    await post(keyB).send(body).expect(409);
    await database.query(
      `UPDATE idempotency_keys a SET answer = b.answer FROM idempotency_keys b WHERE a.key_hash <> b.key_hash`,
    );
    const answer = await postInVain(keyB, body);
    expect(answer.status).toBe(409);
    expect(answer.text).not.toContain(body.name);
  });

  it('is not created if the service failed, so the next request runs', async () => {
    const key = randomUUID();
    const body = newTenant();
    await database.query(`ALTER TABLE tenants ADD CONSTRAINT broken CHECK (name <> 'Tenant') NOT VALID`);
    const before = await keysStored();
    expect((await postInVain(key, body)).status).toBe(500);
    expect(await keysStored()).toBe(before);
    await database.query('ALTER TABLE tenants DROP CONSTRAINT broken');
    const answer = await post(key).send(body).expect(201);
    expect(answer.headers).not.toHaveProperty('idempotency-replayed');
  });

  it('is sent even if it cannot be stored', async () => {
    await database.query(`ALTER TABLE idempotency_keys ADD CONSTRAINT broken CHECK (answer IS NULL) NOT VALID`);
    const key = randomUUID();
    const body = newTenant();
    await post(key).send(body).expect(201);
    await database.query('ALTER TABLE idempotency_keys DROP CONSTRAINT broken');
    await waitFor(async () => (await post(key).send(body)).body.error?.message.includes('tenant_id'), {
      what: 'the key to be free again',
    });
  });

  it('is stored for a client that disconnected before the answer', async () => {
    const key = randomUUID();
    const body = newTenant();
    const before = await keysStored();
    await database.query('BEGIN');
    await database.query('LOCK TABLE memberships IN ACCESS EXCLUSIVE MODE');
    const token = await gateway.issuer.mint('alice');
    const gone = httpRequest(`${gateway.url}/v1/tenants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    });
    const isGone = new Promise((resolve) => gone.on('error', resolve));
    gone.end(JSON.stringify(body));
    await waitFor(async () => (await keysStored()) > before, { what: 'the first request to run' });
    const running = await post(key).send(body).expect(409);
    expect(running.headers['retry-after']).toBe('1');
    await post(key).send(newTenant()).expect(409);
    gone.destroy();
    await isGone;
    await database.query('COMMIT');
    const answer = await waitFor(
      async () => {
        const again = await post(key).send(body);
        return again.status === 201 ? again : null;
      },
      { what: 'the first answer' },
    );
    expect(answer.headers['idempotency-replayed']).toBe('true');
    expect(answer.body.tenant_id).toBe(body.tenant_id);
  });
});

describe('a first request whose gateway died before it stored the answer', () => {
  it('holds the key for a minute, then one retry runs and gets 409 for what was written', async () => {
    const key = randomUUID();
    const body = newTenant();
    await database.query('DELETE FROM idempotency_keys');
    await post(key).send(body).expect(201);
    await database.query(`UPDATE idempotency_keys SET answer = NULL, started_at = now() - interval '50 seconds'`);
    await post(key).send(body).expect(409);
    await database.query(`UPDATE idempotency_keys SET started_at = now() - interval '61 seconds'`);
    const other = await post(key).send(newTenant()).expect(409);
    expect(other.body.error.details[0].code).toBe('mismatch');
    const answers = await Promise.all(Array.from({ length: 10 }, async () => post(key).send(body)));
    const ran = answers.filter(({ body: refusal }) => refusal.error.message.includes('tenant_id'));
    expect(ran.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect(answers.every(({ status }) => status === 409)).toBe(true);
  });
});
