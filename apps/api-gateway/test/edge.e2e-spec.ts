import { Client } from 'pg';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ BODY_LIMIT_BYTES: '4096' });
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme', slug: 'acme' }).expect(201);
});

afterAll(() => gateway?.close());

const member = (name: string): string => `/v1/tenants/acme/members/${encodeURIComponent(`oidc:test#${name}`)}`;

describe('POST /v1/tenants', () => {
  it('returns both shapes, and makes the human founder the owner', async () => {
    const answer = await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'zed', name: 'Zed' }).expect(201);
    const settings = {
      chain_enforced: true,
      evidence_policy: 'open',
      erasure_confirmation: 'required',
      grant_confirmation: 'off',
      pending_changes: [],
    };
    const fields = { tenant_id: 'zed', name: 'Zed', slug: null, created_at: expect.any(String), ...settings };
    expect(answer.body).toEqual({ ...fields, tenant: fields });
    const database = new Client({ connectionString: gateway.databaseUrl });
    await database.connect();
    const { rows } = await database.query(`SELECT * FROM memberships WHERE tenant_id = 'zed'`);
    await database.end();
    expect(rows).toMatchObject([
      { api_functional_role: 'tenant_owner', tenancy_role: 'account_admin', allow_counterparty_access: false },
    ]);
  });

  it.each([
    [{ tenant_id: 'acme', name: 'x' }, 409, undefined],
    [{ tenant_id: 'other', name: 'x', slug: 'acme' }, 409, undefined],
    [{ name: 5 }, 400, ['/tenant_id', '/name']],
    [[], 400, ['']],
  ])('refuses %j with %i', async (body, status, paths) => {
    const answer = await gateway.as('alice', 'post', '/v1/tenants').send(body).expect(status);
    expect(answer.body.error.details?.map((detail: { path: string }) => detail.path)).toEqual(paths);
  });

  it('refuses the keys __proto__ and constructor', async () => {
    const answer = await gateway
      .as('alice', 'post', '/v1/tenants')
      .set('Content-Type', 'application/json')
      .send('{"tenant_id":"t","name":"n","__proto__":{"slug":"x"},"constructor":1}')
      .expect(400);
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toEqual([
      '/__proto__',
      '/constructor',
    ]);
  });
});

describe('members', () => {
  it('are added by admins, who cannot change an owner', async () => {
    await gateway.as('alice', 'put', member('admin')).send({ role: 'tenant_admin' }).expect(200, {
      tenant_id: 'acme',
      principal_id: 'oidc:test#admin',
      api_functional_role: 'tenant_admin',
      status: 'active',
    });
    await gateway.as('admin', 'put', member('reader')).send({ role: 'tenant_reader' }).expect(200);
    await gateway.as('admin', 'put', member('alice')).send({ role: 'tenant_reader' }).expect(403);
    await gateway.as('alice', 'put', member('alice')).send({ role: 'tenant_admin' }).expect(409);
    await gateway.as('alice', 'put', '/v1/tenants/acme/members/nobody').send({ role: 'tenant_reader' }).expect(400);
  });

  it('keep one owner if both owners step down concurrently', async () => {
    await gateway.as('o1', 'post', '/v1/tenants').send({ tenant_id: 'duo', name: 'Duo' }).expect(201);
    const path = (name: string): string => `/v1/tenants/duo/members/${encodeURIComponent(`oidc:test#${name}`)}`;
    await gateway.as('o1', 'put', path('o2')).send({ role: 'tenant_owner' }).expect(200);
    const statuses = await Promise.all(
      (['o1', 'o2'] as const).map(async (name) =>
        gateway
          .as(name, 'put', path(name))
          .send({ role: 'tenant_reader' })
          .then((a) => a.status),
      ),
    );
    expect(statuses.sort()).toEqual([200, 409]);
  });

  it('that are not human cannot assign tenant_owner', async () => {
    const token = await gateway.issuer.mint('bot', { principal_type: 'service_account' });
    const create = gateway.as(null, 'post', '/v1/tenants').set('Authorization', `Bearer ${token}`);
    await create.send({ tenant_id: 'bots', name: 'Bots' }).expect(201);
    const path = `/v1/tenants/bots/members/${encodeURIComponent('oidc:test#x')}`;
    const put = gateway.as(null, 'put', path).set('Authorization', `Bearer ${token}`);
    await put.send({ role: 'tenant_owner' }).expect(422);
  });
});

describe('principals', () => {
  const path = (tenant: string, name: string): string =>
    `/v1/tenants/${tenant}/principals/${encodeURIComponent(`oidc:test#${name}`)}`;

  it('change field by field, and only humans may set some fields', async () => {
    await gateway.as('o1', 'post', '/v1/tenants').send({ tenant_id: 'kin', name: 'Kin' }).expect(201);
    const put = (user: User, name: string, change: Record<string, unknown>) =>
      gateway.as(user, 'put', path('kin', name)).send(change);
    const made = await put('o1', 'admin', { api_functional_role: 'tenant_admin', principal_type: 'ai_agent' }).expect(
      200,
    );
    expect(made.body).toEqual({
      tenant_id: 'kin',
      principal_id: 'oidc:test#admin',
      tenancy_role: 'member',
      api_functional_role: 'tenant_admin',
      principal_type: 'ai_agent',
      allow_counterparty_access: false,
      status: 'active',
      created_at: expect.any(String),
    });
    // A member that is not an account_admin could not do this anyway. An account_admin that is not human must not do it.
    await put('admin', 'reader', { allow_counterparty_access: true }).expect(403);
    await put('o1', 'admin', { tenancy_role: 'account_admin' }).expect(200);
    const refused = await put('admin', 'reader', { allow_counterparty_access: true }).expect(422);
    expect(refused.body.error.code).toBe('human_principal_required');
    await put('admin', 'admin', { principal_type: 'human' }).expect(403);
    await put('admin', 'reader', { allow_counterparty_access: false }).expect(200);
    await put('o1', 'reader', { allow_counterparty_access: true }).expect(200);
    await put('o1', 'o1', { api_functional_role: 'tenant_reader' }).expect(409);

    const listed = await gateway.as('reader', 'get', '/v1/tenants/kin/principals').expect(200);
    expect(listed.body.items.map((item: { principal_id: string }) => item.principal_id)).toEqual([
      'oidc:test#admin',
      'oidc:test#o1',
      'oidc:test#reader',
    ]);
  });

  it('that are owners but not human cannot assign tenant_owner', async () => {
    await gateway.as('o1', 'put', path('kin', 'o2')).send({ api_functional_role: 'tenant_owner' }).expect(200);
    await gateway.as('o1', 'put', path('kin', 'o2')).send({ principal_type: 'service_account' }).expect(200);
    await gateway.as('o2', 'put', path('kin', 'zoe')).send({ api_functional_role: 'tenant_owner' }).expect(422);
  });
});

describe('webhook subscriptions', () => {
  const create = {
    tenant_id: 'acme',
    target_url: ' https://example.com/hook ',
    event_types: ['identity.snapshot.created'],
  };

  it('are created with a secret that is shown once', async () => {
    const made = await gateway.as('alice', 'post', '/v1/webhook-subscriptions').send(create).expect(201);
    expect(made.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const subscription = made.body.webhook_subscription;
    expect(subscription).toMatchObject({
      subscription_id: expect.stringMatching(/^wsub_/),
      target_url: 'https://example.com/hook',
      event_types: create.event_types,
      subscribed_event_types: create.event_types,
      status: 'active',
      disabled_at: null,
    });
    for (const id of [subscription.subscription_id, subscription.subscription_id.slice('wsub_'.length)]) {
      const got = await gateway.as('alice', 'get', `/v1/webhook-subscriptions/${id}`).expect(200);
      expect(got.body).toEqual({ webhook_subscription: subscription });
    }
    const listed = await gateway.as('alice', 'get', '/v1/webhook-subscriptions?tenant_id=acme').expect(200);
    expect(listed.body.items).toEqual([subscription]);
    expect(listed.text).not.toContain(made.body.secret);
  });

  it.each([
    [{ target_url: 'ftp://example.com' }, '/target_url'],
    [{ event_types: ['webhook.test'] }, '/event_types'],
    [{ subscribed_event_types: ['refresh_request.created'] }, '/subscribed_event_types'],
  ])('are refused with %j', async (change, path) => {
    const answer = await gateway
      .as('alice', 'post', '/v1/webhook-subscriptions')
      .send({ ...create, ...change })
      .expect(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });
});

describe('the gateway', () => {
  const raw = (path: string, headers: Record<string, string>): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      httpRequest(`${gateway.url}${path}`, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      })
        .on('error', reject)
        .end();
    });

  it.each([
    ['get', '/v1/nothing', 404, 'not_found'],
    ['delete', '/v1/tenants', 405, 'method_not_allowed'],
    ['get', '/v1/tenants/acme/subjects/organization/%E0%A4%A/snapshots/latest', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/subjects/organization/a%00b/snapshots/latest', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/subjects/planet/x/snapshots/latest', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/subjects/entity/x/snapshots/0', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/subjects/entity/x/snapshots/latest?verify=all', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/subjects/entity/x/snapshots/latest?depth=1001', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/subjects/entity/x/snapshots/latest?depth=1&depth=2', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/subjects/entity/x/snapshots/latest?color=red', 400, 'validation_error'],
    ['get', '/v1/tenants/acme/snapshots/not-a-uuid', 400, 'validation_error'],
    ['get', '/v1/tenants/..%2Fetc/snapshots/5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', 400, 'validation_error'],
  ] as const)('%s %s → %i %s', async (method, path, status, code) => {
    const answer = await gateway.as('alice', method, path).expect(status);
    expect(answer.body.error).toMatchObject({ code, request_id: answer.headers['x-request-id'] });
    if (status === 405) expect(answer.body.error.message).toBe('This path does not support DELETE. Use GET or POST.');
    expect(answer.headers['link']).toContain(`#${code}`);
  });

  it.each([
    ['get', '/v1/tenants/acme'],
    ['get', '/v1/meta'],
    ['get', '/health'],
    ['post', '/v1/tenants'],
    ['patch', '/v1/tenants/acme'],
    ['put', '/v1/tenants/acme/members/x'],
    ['delete', '/v1/tenants/acme/members/x'],
    ['post', '/v1/tenants/acme/entity-states'],
    ['post', '/v1/tenants/acme/entity-state-updates'],
  ] as const)('%s %s refuses query parameters', async (method, path) => {
    const answer = await gateway.as('alice', method, `${path}?colour=red`).expect(400);
    expect(answer.body.error.message).toBe('Unknown query parameter `colour`. This route takes none.');
    expect(answer.body.error.details).toEqual([
      {
        path: '/query/colour',
        message: 'Unknown query parameter `colour`. This route takes none.',
        code: 'unknown_field',
      },
    ]);
  });

  it.each(['/v1/tenants', '/v1/tenants/acme'])(
    '%s refuses parameters named like members of Object.prototype',
    async (path) => {
      for (const name of Object.getOwnPropertyNames(Object.prototype)) {
        const answer = await gateway.as('alice', 'get', `${path}?${name}=1`).expect(400);
        expect(answer.body.error.details).toMatchObject([{ path: `/query/${name}`, code: 'unknown_field' }]);
      }
    },
  );

  it('lists the methods of a path in Allow', async () => {
    const answer = await gateway.as('alice', 'delete', '/v1/tenants').expect(405);
    expect(answer.headers['allow']).toBe('GET, POST');
  });

  it('refuses bodies that are not UTF-8 JSON, are encoded, empty or too large', async () => {
    const post = () => gateway.as('alice', 'post', '/v1/tenants/acme/entity-states');
    await post().set('Content-Type', 'text/plain').send('{}').expect(415);
    await post().set('Content-Type', 'application/json; charset=latin1').send('{}').expect(415);
    await post().set('Content-Type', 'application/json').set('Content-Encoding', 'gzip').send('{}').expect(415);
    await post().set('Content-Type', 'application/json').send('').expect(400);
    const large = await post()
      .send(envelope({ attributes: { a: 'x'.repeat(5000) } }))
      .expect(413);
    expect(large.body.error.code).toBe('payload_too_large');
  });

  it('returns 401 before it reads a body', async () => {
    const answer = await gateway
      .as(null, 'post', '/v1/tenants')
      .set('Content-Type', 'text/plain')
      .send('x')
      .expect(401);
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource"$/,
    );
  });

  it('keeps a valid X-Request-Id and replaces an invalid one', async () => {
    const kept = await gateway.as(null, 'get', '/health').set('X-Request-Id', 'abc-1').expect(200, { status: 'ok' });
    expect(kept.headers['x-request-id']).toBe('abc-1');
    const replaced = await gateway.as(null, 'get', '/health').set('X-Request-Id', 'a b').expect(200);
    expect(replaced.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(replaced.headers).not.toHaveProperty('x-powered-by');
    expect(replaced.headers['x-content-type-options']).toBe('nosniff');
  });

  it('returns 431 in the error envelope for headers that are too large', async () => {
    const answer = await raw('/health', { 'x-large': 'x'.repeat(20_000) });
    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.body).error.code).toBe('request_header_fields_too_large');
  });

  it('returns 417 in the error envelope for an unknown expectation', async () => {
    const answer = await raw('/health', { expect: '200-ok' });
    expect(answer.status).toBe(417);
    expect(JSON.parse(answer.body).error).toMatchObject({ code: 'validation_error', request_id: expect.any(String) });
  });

  it('returns its version at /v1/meta and its state at /v1/ops/readiness', async () => {
    const meta = await gateway.as(null, 'get', '/v1/meta').expect(200);
    expect(Object.keys(meta.body).sort()).toEqual(['builtAt', 'env', 'gitSha', 'node', 'service', 'ts', 'version']);
    const ready = await gateway.as(null, 'get', '/v1/ops/readiness').expect(200);
    expect(ready.body).toMatchObject({
      status: 'ready',
      checks: { database: { status: 'ok' }, queue: { status: 'ok' } },
    });
  });

  it('returns its issuer as the metadata of a protected resource', async () => {
    const answer = await gateway.as(null, 'get', '/.well-known/oauth-protected-resource').expect(200);
    const port = new URL(gateway.url).port;
    expect(answer.body).toMatchObject({ resource: `http://127.0.0.1:${port}`, bearer_methods_supported: ['header'] });
    expect(answer.body.authorization_servers).toEqual([expect.stringMatching(/^http/)]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect((await raw('/.well-known/oauth-protected-resource', { host: 'a b' })).status).toBe(400);
  });

  it('does not serve /metrics to callers, and exports counters before the first event', async () => {
    await gateway.as(null, 'get', '/metrics').expect(404);
    const figures = await gateway.metrics.metrics();
    expect(figures).toContain('http_request_duration_seconds');
    // Counters for which there are alerts exist before the first event.
    for (const code of ['damaged', 'internal_error', 'unavailable'])
      expect(figures).toMatch(new RegExp(`http_errors_total\\{code="${code}"[^}]*\\} \\d`));
    for (const why of ['full', 'late']) expect(figures).toContain(`work_tasks_refused_total{why="${why}"`);
  });

  it('sends security headers, and refuses TRACE and repeated parameters', async () => {
    for (const path of ['/v1/meta', '/none', '/docs']) {
      const { headers } = await gateway.as(null, 'get', path);
      expect(headers).toMatchObject({
        'strict-transport-security': 'max-age=31536000; includeSubDomains',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'content-type': expect.stringMatching(/^(application\/json|text\/html); charset=utf-8$/),
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      });
    }
    const traced = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(`${gateway.url}/v1/meta`, { method: 'TRACE' }, resolve).on('error', reject).end();
    });
    expect(traced.resume().statusCode).toBeGreaterThanOrEqual(400);
    await gateway.as('alice', 'get', '/v1/tenants?limit=1&limit=2').expect(400);
  });

  it('describes every route in OpenAPI 3.1, and serves Swagger UI without unsafe content', async () => {
    const document = await gateway.as(null, 'get', '/openapi.json').expect(200);
    expect(document.body.openapi).toBe('3.1.0');
    for (const path of Object.values<Record<string, { summary?: string }>>(document.body.paths)) {
      for (const operation of Object.values(path)) expect(operation.summary).toEqual(expect.any(String));
    }
    const pages = await Promise.all([1, 2].map(() => gateway.as(null, 'get', '/docs').expect(200)));
    const nonces = pages.map(({ headers, text }) => {
      const policy = String(headers['content-security-policy']);
      expect(policy).not.toContain('unsafe');
      expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
      const [, nonce = ''] = /'nonce-([^']{22,})'/.exec(policy) ?? [];
      expect(text).toContain('swagger-ui');
      expect(text).toContain('label[for^="client_secret"]) { display: none; }');
      expect(text).not.toMatch(/(src|href)="https?:|<style>|<script(?![^>]*src=)| style="/);
      expect(text).toContain(`<style nonce="${nonce}">`);
      return nonce;
    });
    expect(new Set(nonces).size).toBe(2);
    const start = await gateway.as(null, 'get', '/docs/swagger-ui-init.js').expect(200);
    expect(start.text).not.toContain('persistAuthorization');
    for (const path of ['/oauth2-redirect.html', '/docs/oauth2-redirect.html'])
      expect((await gateway.as(null, 'get', path)).headers['cross-origin-opener-policy']).toBe('unsafe-none');
    expect(document.headers['cross-origin-opener-policy']).toBe('same-origin');
    const help = await gateway.as(null, 'get', '/docs/errors').expect(200);
    expect(help.text).toContain('<h2 id="conflict">');
  });

  it('serves the documents, their images and a search, and redirects from / to the console', async () => {
    expect((await gateway.as(null, 'get', '/').expect(302)).headers['location']).toBe('/console');
    const page = await gateway.as(null, 'get', '/docs/operations/install').expect(200);
    expect(page.text).toContain('<a href="/docs">API</a>');
    const image = await gateway.as(null, 'get', '/docs/images/console-attributes.png').expect(200);
    expect(image.headers['content-type']).toBe('image/png');
    const found = await gateway.as(null, 'get', '/docs/search?q=retry%20schedule').expect(200);
    expect(found.text).toContain('<a href="/docs/');
    for (const path of ['/docs/nothing', '/docs/../package.json', '/docs/images/nothing.png'])
      await gateway.as(null, 'get', path).expect(404);
  });
});

describe('settings', () => {
  it('DOCS=off removes OpenAPI and Swagger UI, and keeps the pages that errors link to', async () => {
    const other = await startGateway({ DOCS: 'off' }, gateway);
    for (const path of ['/docs', '/docs/swagger-ui-init.js', '/openapi.json', '/openapi.yaml', '/oauth2-redirect.html'])
      await other.as(null, 'get', path).expect(404);
    for (const path of ['/docs/errors', '/docs/README']) await other.as(null, 'get', path).expect(200);
    await other.close();
  });

  const body = envelope({ subject: { subject_type: 'entity', subject_id: 'e1' } });

  beforeAll(async () => {
    await gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
  });

  it.each([
    ['authorized', 401, 200, 404],
    ['public', 200, 200, 200],
    ['off', 401, 404, 404],
  ])(
    'GLOBAL_READS=%s decides global reads without a token, by the owner and by a stranger',
    async (mode, anyone, owner, stranger) => {
      const other = await startGateway({ GLOBAL_READS: mode }, gateway);
      for (const path of ['/v1/subjects/entity/e1/snapshots/latest', `/v1/snapshots/${String(body['snapshot_id'])}`]) {
        await other.as(null, 'get', path).expect(anyone);
        await other.as('alice', 'get', path).expect(owner);
        await other.as('stranger', 'get', path).expect(stranger);
      }
      await other.as(null, 'get', '/v1/tenants/acme/subjects/entity/e1/snapshots/latest').expect(401);
      await other.close();
    },
  );

  it('META_REQUIRES_AUTH=true requires a token for /v1/meta', async () => {
    const closed = await startGateway({ META_REQUIRES_AUTH: 'true' }, gateway);
    await closed.as(null, 'get', '/v1/meta').expect(401);
    await closed.as('alice', 'get', '/v1/meta').expect(200);
    await closed.close();
  });
});
