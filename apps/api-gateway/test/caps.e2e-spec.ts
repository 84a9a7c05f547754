import { randomUUID } from 'node:crypto';
import { EXAMPLE_CREDENTIAL, PRE_AUTHORIZED_GRANT } from '@iss/contract';
import type { CapName } from '@iss/platform';
import { Client } from 'pg';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;
let database: Client;

beforeAll(async () => {
  gateway = await startGateway();
  database = new Client({ connectionString: gateway.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database?.end();
  await gateway?.close();
});

const principalOf = (user: User): string => `oidc:test#${user}`;

/** Sets a limit of a tenant or principal as `iss admin limits` does, or removes it. */
async function limit(name: CapName, scopeId: string, value: number | null): Promise<void> {
  const key = [scopeId.startsWith('oidc:') ? 'principal' : 'tenant', scopeId, name];
  await database.query('DELETE FROM limit_overrides WHERE (scope, scope_id, limit_name) = ($1, $2, $3)', key);
  if (value === null) return;
  const add = 'INSERT INTO limit_overrides (scope, scope_id, limit_name, value) VALUES ($1, $2, $3, $4)';
  await database.query(add, [...key, value]);
}

async function addTenant(user: User = 'alice'): Promise<string> {
  const tenantId = `t-${randomUUID()}`;
  await gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: tenantId, name: 'T' }).expect(201);
  return tenantId;
}

async function addSubject(tenantId: string): Promise<string> {
  const sent = envelope();
  await gateway.as('alice', 'post', `/v1/tenants/${tenantId}/entity-states`).send(sent).expect(201);
  return String(Object(sent['subject']).subject_id);
}

const rowsOf = async (from: string, ...values: unknown[]): Promise<number> =>
  Number((await database.query(`SELECT count(*) FROM ${from}`, values)).rows[0].count);

type AnswerTo = Promise<{ status: number; body: { error: { code: string; message: string } } }>;

/** Something that a cap counts. */
interface Holding {
  /** Requests one more of them, each time another one. */
  add: () => AnswerTo;
  /** The tenant or principal to which the cap applies. */
  scopeId: string;
  /** The current number of them. */
  count: () => Promise<number>;
  /** The ways in which one ends: as the message advises, and as time passes. */
  ends: readonly (() => Promise<unknown>)[];
}

/** Changes the first of the rows, although a trigger may refuse that to everybody. */
async function changeFirst(table: string, key: string, change: string, where: string, scopeId: string): Promise<void> {
  await database.query('SET session_replication_role = replica');
  await database.query(
    `UPDATE ${table} SET ${change} WHERE ${key} = (SELECT ${key} FROM ${table} WHERE ${where} ORDER BY ${key} LIMIT 1)`,
    [scopeId],
  );
  await database.query('RESET session_replication_role');
}

/** Grants of a tenant end when they are revoked or expire. */
const endsOfGrants = (tenantId: string): Holding['ends'] =>
  ['expires_at', 'revoked_at'].map(
    (column) => () =>
      changeFirst(
        'grants',
        'grant_id',
        `${column} = now()`,
        `grantor_tenant_id = $1 AND revoked_at IS NULL AND coalesce(expires_at, 'infinity') > now()`,
        tenantId,
      ),
  );

const HOLDINGS: Partial<Record<CapName, () => Promise<Holding>>> = {
  members_per_tenant: async () => {
    const tenantId = await addTenant();
    const path = (id: string) => `/v1/tenants/${tenantId}/members/${encodeURIComponent(`oidc:test#${id}`)}`;
    const added: string[] = [];
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        const id = randomUUID();
        const answer = await gateway.as('alice', 'put', path(id)).send({ role: 'tenant_reader' });
        if (answer.status === 200) added.push(id);
        return answer;
      },
      count: () => rowsOf(`memberships WHERE tenant_id = $1 AND status = 'active'`, tenantId),
      ends: [() => gateway.as('alice', 'delete', path(added.shift() ?? '')).expect(204)],
    };
  },
  subscriptions_per_tenant: async () => {
    const tenantId = await addTenant();
    const added: string[] = [];
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        const body = {
          tenant_id: tenantId,
          target_url: 'http://127.0.0.1:9/x',
          event_types: ['identity.snapshot.created'],
        };
        const answer = await gateway.as('alice', 'post', '/v1/webhook-subscriptions').send(body);
        if (answer.status === 201) added.push(String(answer.body.webhook_subscription.subscription_id));
        return answer;
      },
      count: () => rowsOf('webhook_subscriptions WHERE tenant_id = $1 AND deleted_at IS NULL', tenantId),
      ends: [() => gateway.as('alice', 'delete', `/v1/webhook-subscriptions/${added.shift() ?? ''}`).expect(204)],
    };
  },
  trusted_issuers_per_tenant: async () => {
    const tenantId = await addTenant();
    const path = (issuer: string) => `/v1/tenants/${tenantId}/trusted-issuers/${encodeURIComponent(issuer)}`;
    const body = { vcts: [EXAMPLE_CREDENTIAL.vct], keys: [EXAMPLE_CREDENTIAL.key] };
    const added: string[] = [];
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        const issuer = `https://${randomUUID()}.example`;
        const answer = await gateway.as('alice', 'put', path(issuer)).send(body);
        if (answer.status === 200) added.push(issuer);
        return answer;
      },
      count: () => rowsOf('trusted_issuers WHERE tenant_id = $1', tenantId),
      ends: [() => gateway.as('alice', 'delete', path(added.shift() ?? '')).expect(204)],
    };
  },
  attestations_per_tenant: async () => {
    const tenantId = await addTenant();
    const { issuer, vct, key, text } = EXAMPLE_CREDENTIAL;
    const trusted = `/v1/tenants/${tenantId}/trusted-issuers/${encodeURIComponent(issuer)}`;
    await gateway
      .as('alice', 'put', trusted)
      .send({ vcts: [vct], keys: [key] })
      .expect(200);
    const path = `/v1/tenants/${tenantId}/attestations`;
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => gateway.as('alice', 'post', path).send({ credential: text }),
      count: () => rowsOf(`attestations WHERE tenant_id = $1 AND coalesce(expires_at, 'infinity') > now()`, tenantId),
      ends: ['expires_at = now()', `status = 'revoked', status_uri = 'https://a.example', status_idx = 1`].map(
        (change) => () => {
          const isLive = `tenant_id = $1 AND status = 'none' AND coalesce(expires_at, 'infinity') > now()`;
          return changeFirst('attestations', 'attestation_id', change, isLive, tenantId);
        },
      ),
    };
  },
  pending_presentation_requests: async () => {
    const tenantId = await addTenant();
    const path = `/v1/tenants/${tenantId}/presentation-requests`;
    const added: string[] = [];
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        const answer = await gateway.as('alice', 'post', path).send({ vcts: ['vct'] });
        if (answer.status === 201) added.push(new URL(answer.body.link).searchParams.get('response_uri') ?? '');
        return answer;
      },
      count: () =>
        rowsOf(`presentation_requests WHERE tenant_id = $1 AND status = 'pending' AND expires_at > now()`, tenantId),
      ends: [
        () =>
          gateway
            .as(null, 'post', new URL(added.shift() ?? '').pathname)
            .type('form')
            .send({ error: 'access_denied' })
            .expect(200),
        () => {
          const isPending = `tenant_id = $1 AND status = 'pending'`;
          return changeFirst(
            'presentation_requests',
            'presentation_request_id',
            'expires_at = now()',
            isPending,
            tenantId,
          );
        },
      ],
    };
  },
  issuing_keys_per_tenant: async () => {
    const tenantId = await addTenant();
    const path = `/v1/tenants/${tenantId}/issuing-keys`;
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => gateway.as('alice', 'post', path),
      count: () => rowsOf('issuing_keys WHERE tenant_id = $1 AND retired_at IS NULL', tenantId),
      ends: [
        async () => {
          const { body } = await gateway.as('alice', 'get', path).expect(200);
          await gateway.as('alice', 'post', `${path}/${body.items.at(-1).kid}/retire`).expect(200);
        },
      ],
    };
  },
  credentials_per_tenant: async () => {
    const tenantId = await addTenant();
    await gateway.as('alice', 'post', `/v1/tenants/${tenantId}/issuing-keys`).expect(201);
    const states = gateway.as('alice', 'post', `/v1/tenants/${tenantId}/entity-states`);
    const { body } = await states.send(envelope()).expect(201);
    const added: string[] = [];
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        const path = `/v1/tenants/${tenantId}/snapshots/${body.snapshot_id}/credentials`;
        const answer = await gateway.as('alice', 'post', path);
        if (answer.status === 201) added.push(answer.body.credential_id);
        return answer;
      },
      count: () => rowsOf(`credentials WHERE tenant_id = $1 AND status <> 'invalid' AND expires_at > now()`, tenantId),
      ends: [
        () =>
          gateway
            .as('alice', 'post', `/v1/tenants/${tenantId}/credentials/${added.shift() ?? ''}/withdraw`)
            .expect(200),
        () => {
          const isLive = `tenant_id = $1 AND status <> 'invalid'`;
          return changeFirst('credentials', 'credential_id', 'expires_at = now()', isLive, tenantId);
        },
      ],
    };
  },
  open_offers_per_tenant: async () => {
    const tenantId = await addTenant();
    await gateway.as('alice', 'post', `/v1/tenants/${tenantId}/issuing-keys`).expect(201);
    const states = gateway.as('alice', 'post', `/v1/tenants/${tenantId}/entity-states`);
    const { body } = await states.send(envelope()).expect(201);
    const codes: string[] = [];
    const isOpen = 'wrong_tx_codes < 5 AND taken_at IS NULL AND coalesce(token_expires_at, expires_at) > now()';
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        // An offer of a former key counts too.
        await gateway.as('alice', 'post', `/v1/tenants/${tenantId}/issuing-keys`).expect(201);
        const path = `/v1/tenants/${tenantId}/snapshots/${body.snapshot_id}/credential-offers`;
        const answer = await gateway.as('alice', 'post', path);
        if (answer.status === 201)
          codes.push(answer.body.credential_offer.grants[PRE_AUTHORIZED_GRANT]['pre-authorized_code']);
        return answer;
      },
      count: () => rowsOf(`credential_offers WHERE tenant_id = $1 AND ${isOpen}`, tenantId),
      ends: [
        async () => {
          const code = codes.shift() ?? '';
          for (let sent = 0; sent < 5; sent++) {
            const form = { grant_type: PRE_AUTHORIZED_GRANT, 'pre-authorized_code': code, tx_code: 'x' };
            await gateway.as(null, 'post', `/tenants/${tenantId}/token`).type('form').send(form).expect(400);
          }
        },
        ...[
          'expires_at = now()',
          `token_hash = '1', token_expires_at = now()`,
          `token_hash = '2', token_expires_at = now() + interval '1 minute', taken_at = now()`,
        ].map(
          (change) => () =>
            changeFirst('credential_offers', 'offer_id', change, `tenant_id = $1 AND ${isOpen}`, tenantId),
        ),
      ],
    };
  },
  pending_updates_per_subject: async () => {
    const tenantId = await addTenant();
    const path = `/v1/tenants/${tenantId}/subjects/organization/${await addSubject(tenantId)}/updates`;
    return proposals(tenantId, async () => path);
  },
  pending_updates_per_tenant: async () => {
    const tenantId = await addTenant();
    return proposals(
      tenantId,
      async () => `/v1/tenants/${tenantId}/subjects/organization/${await addSubject(tenantId)}/updates`,
    );
  },
  pending_refresh_requests: async () => {
    const tenantId = await addTenant();
    const subjectId = await addSubject(tenantId);
    const path = `/v1/subjects/organization/${subjectId}/refresh-requests`;
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => gateway.as('alice', 'post', path).send({ requesting_tenant_id: tenantId }),
      count: () =>
        rowsOf(
          `refresh_requests WHERE requesting_tenant_id = $1 AND status = 'pending' AND coalesce(expires_at, 'infinity') > now()`,
          tenantId,
        ),
      ends: ['expires_at = now()', `status = 'cancelled', closed_at = now()`].map((change) => () => {
        const isPending = `requesting_tenant_id = $1 AND status = 'pending' AND coalesce(expires_at, 'infinity') > now()`;
        return changeFirst('refresh_requests', 'refresh_request_id', change, isPending, tenantId);
      }),
    };
  },
  live_grants_per_tenant_to_all: async () => {
    const tenantId = await addTenant();
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        const body = { grantee_tenant_id: await addTenant(), subject_type: '*', scopes: ['read_latest'] };
        return gateway.as('alice', 'post', `/v1/tenants/${tenantId}/grants`).send(body);
      },
      count: () =>
        rowsOf(
          `grants WHERE grantor_tenant_id = $1 AND revoked_at IS NULL AND coalesce(expires_at, 'infinity') > now()`,
          tenantId,
        ),
      ends: endsOfGrants(tenantId),
    };
  },
  live_grants_per_subject: async () => {
    const tenantId = await addTenant();
    const subjectId = await addSubject(tenantId);
    return {
      scopeId: tenantId,
      add: async (): AnswerTo => {
        const body = { grantee_tenant_id: await addTenant(), subject_type: 'organization', subject_id: subjectId };
        return gateway.as('alice', 'post', `/v1/tenants/${tenantId}/grants`).send({ ...body, scopes: ['read_latest'] });
      },
      count: () =>
        rowsOf(
          `grants WHERE grantor_tenant_id = $1 AND revoked_at IS NULL AND coalesce(expires_at, 'infinity') > now()`,
          tenantId,
        ),
      ends: endsOfGrants(tenantId),
    };
  },
};

function proposals(tenantId: string, nextPath: () => Promise<string>): Holding {
  const added: string[] = [];
  const patch_ops = [{ op: 'add', path: '/attributes/x', value: 1 }];
  return {
    scopeId: tenantId,
    add: async (): AnswerTo => {
      const path = await nextPath();
      const subject_id = path.split('/').at(-2);
      const answer = await gateway.as('alice', 'post', path).send({ subject_id, base_snapshot_version: 1, patch_ops });
      if (answer.status === 201) added.push(`${path}/${String(answer.body.update_id)}`);
      return answer;
    },
    count: () => rowsOf(`updates WHERE tenant_id = $1 AND status = 'proposed'`, tenantId),
    ends: [() => gateway.as('alice', 'post', `${added.shift() ?? ''}/withdraw`).expect(200)],
  };
}

const isDone = ({ status }: { status: number }): boolean => status === 200 || status === 201;
const isHeld = (name: string): name is CapName => name in HOLDINGS;
const CASES = Object.entries(HOLDINGS).flatMap(([name, make]) => (isHeld(name) ? [[name, make] as const] : []));

describe.each(CASES)('%s', (name, make) => {
  it('refuses further additions until an existing one ends; a changed limit applies immediately', async () => {
    const holding = await make();
    expect(isDone(await holding.add())).toBe(true);
    const before = await holding.count();
    await limit(name, holding.scopeId, before + 1);
    expect(isDone(await holding.add())).toBe(true);
    const refused = await holding.add();
    expect(refused.status).toBe(403);
    expect(refused.body.error).toMatchObject({ code: 'limit_reached' });
    expect(refused.body.error.message).toContain(`The limit ${name} is reached: ${before + 1} `);
    expect(refused.body.error.message).toContain('ask the operator');
    expect(await holding.count()).toBe(before + 1);
    for (const end of holding.ends) {
      await end();
      expect(isDone(await holding.add())).toBe(true);
      expect((await holding.add()).status).toBe(403);
    }
    await limit(name, holding.scopeId, null);
    expect(isDone(await holding.add())).toBe(true);
  });
});

// A shared statement on a hot route counts its own rows together, but not those of another statement that runs at the
// same time.
const STRICT = CASES.filter(([name]) => !name.startsWith('pending_updates'));

it.each(STRICT)('%s is not exceeded by concurrent requests', async (name, make) => {
  const holding = await make();
  await limit(name, holding.scopeId, (await holding.count()) + 3);
  const most = (await holding.count()) + 3;
  const answers = await Promise.all(Array.from({ length: 12 }, () => holding.add()));
  expect(answers.filter(isDone)).toHaveLength(3);
  expect(await holding.count()).toBe(most);
});

describe('tenants_per_principal', () => {
  const found = (user: User) =>
    gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: `t-${randomUUID()}`, name: 'T' });
  const foundedBy = (user: User) => rowsOf('tenants WHERE founded_by = $1', principalOf(user));

  it('counts tenants by founder, not by membership', async () => {
    const tenantId = await addTenant('bob');
    expect((await database.query('SELECT founded_by FROM tenants WHERE tenant_id = $1', [tenantId])).rows).toEqual([
      { founded_by: principalOf('bob') },
    ]);
    await limit('tenants_per_principal', principalOf('bob'), 2);
    await found('bob').expect(201);
    const { body } = await found('bob').expect(403);
    expect(body.error.code).toBe('limit_reached');
    expect(body.error.message).toContain('The limit tenants_per_principal is reached: 2 ');
    await found('zoe').expect(201);
    expect(await foundedBy('bob')).toBe(2);
    expect(await rowsOf('memberships WHERE principal_id = $1', principalOf('bob'))).toBe(2);
  });

  it('is not exceeded by concurrent requests', async () => {
    await limit('tenants_per_principal', principalOf('editor'), 3);
    const answers = await Promise.all(Array.from({ length: 12 }, () => found('editor')));
    expect(answers.filter(isDone)).toHaveLength(3);
    expect(await foundedBy('editor')).toBe(3);
  });
});

describe('members_per_tenant', () => {
  it('lets existing members change at the limit, and refuses a new owner by transfer', async () => {
    const tenantId = await addTenant();
    const reader = `/v1/tenants/${tenantId}/members/${encodeURIComponent(principalOf('reader'))}`;
    await gateway.as('alice', 'put', reader).send({ role: 'tenant_reader' }).expect(200);
    await limit('members_per_tenant', tenantId, 2);
    await gateway.as('alice', 'put', reader).send({ role: 'tenant_editor' }).expect(200);
    const offers = `/v1/tenants/${tenantId}/transfer-offers`;
    const { body } = await gateway
      .as('alice', 'post', offers)
      .send({ to_principal_id: principalOf('o1') })
      .expect(201);
    const accept = `${offers}/${String(body.transfer_offer.offer_id)}/accept`;
    expect((await gateway.as('o1', 'post', accept).expect(403)).body.error.code).toBe('limit_reached');
    await gateway.as('alice', 'delete', reader).expect(204);
    await gateway.as('o1', 'post', accept).expect(200);
    expect((await gateway.as('alice', 'put', reader).send({ role: 'tenant_reader' }).expect(403)).body.error.code).toBe(
      'limit_reached',
    );
  });
});

describe('idempotency_keys_per_day', () => {
  const post = (key: string) => {
    const body = { tenant_id: `t-${key}`, name: 'T' };
    return gateway.as('stranger', 'post', '/v1/tenants').set('Idempotency-Key', key).send(body);
  };

  it('refuses new keys at the limit, and still replays existing keys without counting them again', async () => {
    await limit('idempotency_keys_per_day', principalOf('stranger'), 2);
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    await post(first).expect(201);
    for (let times = 0; times < 3; times += 1) await post(first).expect(201).expect('Idempotency-Replayed', 'true');
    await post(second).expect(201);
    const { body } = await post(third).expect(403);
    expect(body.error.code).toBe('limit_reached');
    expect(body.error.message).toContain('The limit idempotency_keys_per_day is reached: 2 ');
    await post(first).expect(201).expect('Idempotency-Replayed', 'true');
    expect(await rowsOf('tenants WHERE tenant_id = $1', `t-${third}`)).toBe(0);
  });

  it('is not exceeded by concurrent requests', async () => {
    await limit('idempotency_keys_per_day', principalOf('o2'), 3);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        gateway
          .as('o2', 'post', '/v1/tenants')
          .set('Idempotency-Key', randomUUID())
          .send({ tenant_id: `t-${randomUUID()}`, name: 'T' }),
      ),
    );
    expect(answers.filter(isDone)).toHaveLength(3);
  });
});

describe('concurrent proposals', () => {
  const ops = [{ op: 'add', path: '/attributes/x', value: 1 }];

  it('exceed the cap by at most one per statement; a known request_id is answered again at the cap', async () => {
    const tenantId = await addTenant();
    const paths = await Promise.all(
      Array.from(
        { length: 8 },
        async () => `/v1/tenants/${tenantId}/subjects/organization/${await addSubject(tenantId)}/updates`,
      ),
    );
    await limit('pending_updates_per_tenant', tenantId, 1);
    const propose = (path: string, request_id?: string) =>
      gateway
        .as('alice', 'post', path)
        .send({ subject_id: path.split('/').at(-2), base_snapshot_version: 1, patch_ops: ops, request_id });
    const answers = await Promise.all(paths.map((path) => propose(path)));
    expect(answers.filter(isDone).length).toBeGreaterThanOrEqual(1);
    // Each of the concurrent statements adds at most one.
    expect(answers.filter(isDone).length).toBeLessThanOrEqual(3);
    await limit('pending_updates_per_tenant', tenantId, 20);
    await propose(paths[0] ?? '', 'again').expect(201);
    await limit('pending_updates_per_tenant', tenantId, 1);
    await propose(paths[0] ?? '', 'again').expect(200);
    await propose(paths[0] ?? '', 'other').expect(403);
  });
});
