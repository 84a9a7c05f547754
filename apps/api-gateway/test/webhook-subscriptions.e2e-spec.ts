import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { SecretBox } from '@iss/platform';
import { startGateway, type TestGateway } from './gateway';

const PATH = '/v1/webhook-subscriptions';
const KEY_RING = `own:${Buffer.alloc(32, 7).toString('base64')}`;
const TYPES = ['identity.snapshot.created', 'refresh_request.created'];

let gateway: TestGateway;
let superuser: Client;

beforeAll(async () => {
  gateway = await startGateway({ SECRETS_KEYS: KEY_RING, EVENT_TYPES_MAX: '2' });
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
  for (const [user, tenantId] of [
    ['alice', 'acme'],
    ['bob', 'beta'],
  ] as const) {
    await gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: tenantId, name: tenantId }).expect(201);
  }
  await putMember('reader', 'tenant_reader');
});

afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

const putMember = (user: 'reader' | 'zoe', role: string) =>
  gateway
    .as('alice', 'put', `/v1/tenants/acme/members/${encodeURIComponent(`oidc:${gateway.issuer.projectId}#${user}`)}`)
    .send({ role })
    .expect(200);

interface Subscribed {
  id: string;
  uuid: string;
  secret: string;
  path: string;
}

async function subscribe(change: Record<string, unknown> = {}): Promise<Subscribed> {
  const body = { tenant_id: 'acme', target_url: 'https://hooks.example.com/iss', event_types: TYPES, ...change };
  const answer = await gateway.as('reader', 'post', PATH).send(body).expect(201);
  const id: string = answer.body.webhook_subscription.subscription_id;
  return { id, uuid: id.slice('wsub_'.length), secret: answer.body.secret, path: `${PATH}/${id}` };
}

const get = async (path: string) => (await gateway.as('reader', 'get', path).expect(200)).body.webhook_subscription;
const patch = (path: string, body: object) => gateway.as('reader', 'patch', path).send(body);

async function rowOf(uuid: string): Promise<Record<string, string | Date | null>> {
  const { rows } = await superuser.query('SELECT * FROM webhook_subscriptions WHERE subscription_id = $1', [uuid]);
  return rows[0];
}

describe('PATCH of a webhook subscription', () => {
  it('changes the given fields and keeps the others', async () => {
    const { path } = await subscribe();
    const before = await get(path);
    const changed = await patch(path, { target_url: ' https://other.example.com/x ' }).expect(200);
    expect(changed.body).toEqual({
      webhook_subscription: { ...before, target_url: 'https://other.example.com/x' },
    });
    const types = { event_types: ['refresh_request.fulfilled'], subscribed_event_types: ['refresh_request.fulfilled'] };
    expect((await patch(path, types).expect(200)).body.webhook_subscription).toMatchObject(types);
    const [alias] = [{ subscribed_event_types: ['refresh_request.created'] }];
    expect((await patch(path, alias).expect(200)).body.webhook_subscription).toMatchObject({
      ...alias,
      event_types: ['refresh_request.created'],
    });
    const after = await get(path);
    expect((await patch(path, {}).expect(200)).body.webhook_subscription).toEqual(after);
    expect((await patch(`${PATH}/${path.slice(-36)}`, {}).expect(200)).body.webhook_subscription).toEqual(after);
  });

  it('sorts paths, keeps them if they are absent, and treats null as all paths', async () => {
    const [name, legal, lei] = ['/attributes/legal/legal_name', '/attributes/legal', '/attributes/identifiers/lei'];
    const { path } = await subscribe({ paths: [name, lei] });
    expect((await get(path)).paths).toEqual([lei, name]);
    expect((await patch(path, { status: 'active' }).expect(200)).body.webhook_subscription.paths).toEqual([lei, name]);
    const changed = await patch(path, { paths: [name, legal] }).expect(200);
    expect(changed.body.webhook_subscription.paths).toEqual([legal]);
    expect((await patch(path, { paths: null }).expect(200)).body.webhook_subscription.paths).toBeNull();
  });

  it('disables once, and clears the failure state when it enables', async () => {
    const { path, uuid } = await subscribe();
    await superuser.query('UPDATE webhook_subscriptions SET failing_since = now() WHERE subscription_id = $1', [uuid]);
    const disabled = (await patch(path, { status: 'disabled' }).expect(200)).body.webhook_subscription;
    expect(disabled).toMatchObject({
      status: 'disabled',
      disabled_reason: 'requested',
      disabled_at: expect.stringMatching(/Z$/),
    });
    expect((await patch(path, { status: 'disabled' }).expect(200)).body.webhook_subscription).toEqual(disabled);
    expect((await patch(path, { status: 'active' }).expect(200)).body.webhook_subscription).toMatchObject({
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
    });
    expect(await rowOf(uuid)).toMatchObject({ failing_since: null, status: 'active' });
  });

  it('keeps the reason for which the service disabled it', async () => {
    const { path, uuid } = await subscribe();
    await superuser.query(
      `UPDATE webhook_subscriptions SET status = 'disabled', disabled_reason = 'gone', disabled_at = '2026-01-01'
        WHERE subscription_id = $1`,
      [uuid],
    );
    const before = await get(path);
    expect((await patch(path, { status: 'disabled' }).expect(200)).body.webhook_subscription).toEqual(before);
  });

  it.each([
    [{ target_url: 'http://example.com/' }, '/target_url'],
    [{ paths: [] }, '/paths'],
    [{ paths: ['/legal'] }, '/paths/0'],
    [{ paths: Array.from({ length: 101 }, (_, at) => `/attributes/${at}`) }, '/paths'],
    [{ target_url: 'https://a:b@example.com/' }, '/target_url'],
    [{ target_url: 'https://example.com/\r\nX: y' }, '/target_url'],
    [{ target_url: '   ' }, '/target_url'],
    [{ target_url: '' }, '/target_url'],
    [{ target_url: `https://example.com/${'x'.repeat(2048)}` }, '/target_url'],
    [{ target_url: ['https://example.com/'] }, '/target_url'],
    [{ event_types: ['webhook.test'] }, '/event_types'],
    [{ event_types: ['refresh_request.created', 'refresh_request.created'] }, '/event_types'],
    [{ event_types: [...TYPES, 'refresh_request.fulfilled'] }, '/event_types'],
    [{ event_types: TYPES, subscribed_event_types: [TYPES[0]] }, '/subscribed_event_types'],
    [{ subscribed_event_types: [] }, '/subscribed_event_types'],
    [{ status: 'paused' }, '/status'],
    [{ secret: 'whsec_x' }, '/secret'],
    [{ tenant_id: 'beta' }, '/tenant_id'],
    [{ disabled_at: null }, '/disabled_at'],
  ])('refuses %j', async (change, path) => {
    const subscription = await subscribe();
    const before = await rowOf(subscription.uuid);
    const answer = await patch(subscription.path, change).expect(400);
    expect(answer.body.error.code).toBe('validation_error');
    expect(answer.body.error.details[0].path).toBe(path);
    expect(await rowOf(subscription.uuid)).toEqual(before);
  });

  it('refuses a body that is not a JSON object', async () => {
    const { path } = await subscribe();
    await patch(path, []).expect(400);
    await gateway.as('reader', 'patch', path).expect(415);
  });
});

describe('POST of a webhook subscription', () => {
  it.each([
    [{ event_types: [...TYPES, 'refresh_request.fulfilled'] }, '/event_types'],
    [{ target_url: 'http://example.com/hook' }, '/target_url'],
  ])('refuses %j', async (change, path) => {
    const body = { tenant_id: 'acme', target_url: 'https://hooks.example.com/', event_types: TYPES, ...change };
    const answer = await gateway.as('reader', 'post', PATH).send(body).expect(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });
});

describe('rotate-secret', () => {
  const open = (sealed: string | Date | null | undefined, uuid: string) =>
    SecretBox.fromKeyRing(KEY_RING).open(String(sealed), uuid);

  it('returns a new secret without a body, and drops the previous one', async () => {
    const { path, uuid, secret } = await subscribe();
    const before = await get(path);
    const answer = await gateway.as('reader', 'post', `${path}/rotate-secret`).expect(200);
    expect(answer.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(answer.body.secret).not.toBe(secret);
    const { secret_last_rotated_at: rotatedAt, ...others } = answer.body.webhook_subscription;
    expect({ ...others, secret_last_rotated_at: before.secret_last_rotated_at }).toEqual(before);
    expect(Date.parse(rotatedAt)).toBeGreaterThan(Date.parse(before.secret_last_rotated_at));
    const row = await rowOf(uuid);
    expect(open(row['secret_sealed'], uuid)).toBe(answer.body.secret);
    expect(row).toMatchObject({ previous_secret_sealed: null, previous_secret_until: null });
  });

  it('keeps the previous secret for grace_seconds, or until the next rotation', async () => {
    const { path, uuid, secret } = await subscribe();
    const rotate = async (body: object) =>
      (await gateway.as('reader', 'post', `${path}/rotate-secret`).send(body).expect(200)).body.secret;
    const second = await rotate({ grace_seconds: 604_800 });
    const row = await rowOf(uuid);
    expect(open(row['previous_secret_sealed'], uuid)).toBe(secret);
    expect(open(row['secret_sealed'], uuid)).toBe(second);
    const { rows } = await superuser.query(
      `SELECT previous_secret_until - secret_last_rotated_at = interval '7 days' AS fits FROM webhook_subscriptions
        WHERE subscription_id = $1`,
      [uuid],
    );
    expect(rows).toEqual([{ fits: true }]);
    await rotate({ grace_seconds: 0 });
    expect(await rowOf(uuid)).toMatchObject({ previous_secret_sealed: null, previous_secret_until: null });
  });

  it('treats null as an absent field, as PATCH does', async () => {
    const subscription = await subscribe();
    const before = await rowOf(subscription.uuid);
    const nothing = { target_url: null, event_types: null, subscribed_event_types: null, status: null };
    await patch(subscription.path, nothing).expect(200);
    expect(await rowOf(subscription.uuid)).toEqual(before);
    await gateway.as('reader', 'post', `${subscription.path}/rotate-secret`).send({ grace_seconds: null }).expect(200);
    expect(await rowOf(subscription.uuid)).toMatchObject({ previous_secret_sealed: null });
  });

  it.each([
    [{ secret: 'mine' }, '/secret'],
    [[], ''],
  ])('refuses %j', async (body, path) => {
    const { path: subscription } = await subscribe();
    const answer = await gateway.as('reader', 'post', `${subscription}/rotate-secret`).send(body).expect(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });

  it('refuses a body of another content type', async () => {
    const { path } = await subscribe();
    await gateway.as('reader', 'post', `${path}/rotate-secret`).type('text/plain').send('{}').expect(415);
  });

  it('stores the secret of one of the responses when requests race', async () => {
    const { path, uuid } = await subscribe();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => gateway.as('reader', 'post', `${path}/rotate-secret`).expect(200)),
    );
    const secrets = answers.map((answer) => answer.body.secret);
    expect(new Set(secrets).size).toBe(10);
    expect(secrets).toContain(open((await rowOf(uuid))['secret_sealed'], uuid));
  });
});

describe('DELETE of a webhook subscription', () => {
  it('makes every operation return 404, except the delivery log', async () => {
    const { path, id } = await subscribe();
    const answer = await gateway.as('reader', 'delete', path).expect(204);
    expect(answer.text).toBe('');
    for (const test of [
      gateway.as('reader', 'get', path),
      gateway.as('reader', 'delete', path),
      patch(path, { status: 'active' }),
      gateway.as('reader', 'post', `${path}/rotate-secret`),
      gateway.as('reader', 'post', `${path}/test`),
    ]) {
      expect((await test.expect(404)).body.error.code).toBe('not_found');
    }
    const listed = await gateway.as('reader', 'get', `${PATH}?tenant_id=acme&limit=200`).expect(200);
    expect(listed.body.items.map((item: { subscription_id: string }) => item.subscription_id)).not.toContain(id);
    await gateway.as('reader', 'get', `${path}/deliveries`).expect(200);
  });

  it('succeeds once when requests race', async () => {
    const { path } = await subscribe();
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await gateway.as('reader', 'delete', path)).status),
    );
    expect(statuses.sort()).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
  });
});

describe('the list of webhook subscriptions', () => {
  it('is paged to its end while subscriptions are added and deleted', async () => {
    await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'pages', name: 'Pages' }).expect(201);
    const add = async (): Promise<string> => {
      const body = { tenant_id: 'pages', target_url: 'https://hooks.example.com/', event_types: TYPES };
      return (await gateway.as('zoe', 'post', PATH).send(body).expect(201)).body.webhook_subscription.subscription_id;
    };
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) ids.push(await add());
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await gateway.as('zoe', 'get', `${PATH}?tenant_id=pages&limit=2${query}`).expect(200);
      seen.push(...page.body.items.map((item: { subscription_id: string }) => item.subscription_id));
      cursor = page.body.next_cursor;
      expect(page.body).toMatchObject({ has_more: cursor !== null, page: { limit: 2, next_cursor: cursor } });
      // The row at the cursor disappears, and another row appears.
      if (seen.length === 2) {
        await gateway.as('zoe', 'delete', `${PATH}/${seen[1]}`).expect(204);
        ids.push(await add());
      }
    } while (cursor !== null);
    expect(seen).toEqual(ids);
  });

  it('refuses invalid limits and foreign cursors', async () => {
    for (const limit of ['0', '-1', '1001', 'abc', '1.5', '']) {
      const answer = await gateway.as('reader', 'get', `${PATH}?tenant_id=acme&limit=${limit}`).expect(400);
      expect(answer.body.error.details[0].path).toBe('/query/limit');
    }
    await subscribe();
    await subscribe();
    const { body } = await gateway.as('reader', 'get', `${PATH}?tenant_id=acme&limit=1`).expect(200);
    for (const [tenantId, cursor] of [
      ['acme', `${body.next_cursor}x`],
      ['acme', 'abc'],
      ['beta', body.next_cursor],
    ] as const) {
      const user = tenantId === 'beta' ? 'bob' : 'reader';
      const answer = await gateway
        .as(user, 'get', `${PATH}?tenant_id=${tenantId}&cursor=${encodeURIComponent(cursor)}`)
        .expect(400);
      expect(answer.body.error.details[0].path).toBe('/query/cursor');
    }
    expect((await gateway.as('reader', 'get', PATH).expect(400)).body.error.details[0].path).toBe('/query/tenant_id');
  });
});

describe('a subscription id', () => {
  it('returns 404 if it is unknown, and 400 if it is malformed', async () => {
    for (const id of [`wsub_${randomUUID()}`, randomUUID()]) {
      await gateway.as('reader', 'get', `${PATH}/${id}`).expect(404);
      await patch(`${PATH}/${id}`, {}).expect(404);
      await gateway.as('reader', 'post', `${PATH}/${id}/rotate-secret`).expect(404);
      await gateway.as('reader', 'delete', `${PATH}/${id}`).expect(404);
    }
    for (const id of ['wsub_1', 'evt_5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', 'x']) {
      const answer = await gateway.as('reader', 'get', `${PATH}/${id}`).expect(400);
      expect(answer.body.error.details[0].path).toBe('/path/subscription_id');
    }
  });
});

it('a secret is returned once, and never stored in plain text', async () => {
  const { path, secret } = await subscribe();
  const rotated = await gateway.as('reader', 'post', `${path}/rotate-secret`).send({ grace_seconds: 60 }).expect(200);
  const secrets = [secret, rotated.body.secret];
  const answers = [
    await gateway.as('reader', 'get', path),
    await gateway.as('reader', 'get', `${PATH}?tenant_id=acme`),
    await patch(path, { status: 'active' }),
    await gateway.as('reader', 'post', `${path}/test`),
    await gateway.as('reader', 'get', `${path}/deliveries`),
  ];
  const { rows: tables } = await superuser.query<{ name: string }>(
    `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const dump: string[] = [];
  for (const { name } of tables) {
    const { rows } = await superuser.query(`SELECT t::text AS row FROM ${name} t`);
    dump.push(...rows.map(({ row }) => row));
  }
  const everything = [...answers.map((answer) => answer.text), ...dump].join('\n');
  expect(everything).toContain(path.slice(-36));
  for (const one of secrets) {
    expect(everything).not.toContain(one);
    expect(everything).not.toContain(one.slice('whsec_'.length));
    expect(everything).not.toContain(Buffer.from(one.slice('whsec_'.length), 'base64').toString('hex'));
  }
});
