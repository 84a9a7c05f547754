import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Response, Test } from 'supertest';
import { envelope, startGateway, type TestGateway, type User } from './gateway';
import type { Subject } from './read-world';

/** Limits that every list refuses. */
export const BAD_LIMITS = ['0', '-1', 'abc', '1e1', ''];

/** Returns the principal id of a user. */
export const principalOf = (user: User): string => `oidc:test#${user}`;

/** Returns the paths in the details of an error. */
export const places = (answer: Response): string[] =>
  answer.body.error.details.map(({ path }: { path: string }) => path);

/**
 * The tenants and members for tests of grants. Their names are the names of their roles.
 *
 * - `acme`: the founder is alice; admin, editor and reader are members.
 * - `beta`: the founder bob and proposer may use grants; reader and the admin zoe may not.
 * - `gamma`: the founder is o1.
 */
export class GrantWorld {
  private constructor(
    readonly gateway: TestGateway,
    readonly superuser: Client,
  ) {}

  static async open(): Promise<GrantWorld> {
    const gateway = await startGateway();
    const superuser = new Client({ connectionString: gateway.databaseUrl });
    await superuser.connect();
    const world = new GrantWorld(gateway, superuser);
    for (const [user, tenant] of [
      ['alice', 'acme'],
      ['bob', 'beta'],
      ['o1', 'gamma'],
    ] as const) {
      await gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: tenant, name: tenant }).expect(201);
    }
    for (const role of ['admin', 'editor', 'reader'] as const) {
      await world.setMember('alice', 'acme', role, { api_functional_role: `tenant_${role}` });
    }
    const mayUseGrants = { allow_counterparty_access: true };
    await world.setMember('bob', 'beta', 'bob', mayUseGrants);
    await world.setMember('bob', 'beta', 'proposer', { api_functional_role: 'tenant_reader', ...mayUseGrants });
    await world.setMember('bob', 'beta', 'zoe', { api_functional_role: 'tenant_admin' });
    return world;
  }

  async close(): Promise<void> {
    await this.superuser.end();
    await this.gateway.close();
  }

  setMember(owner: User, tenant: string, user: User, record: object): Test {
    const path = `/v1/tenants/${tenant}/principals/${encodeURIComponent(principalOf(user))}`;
    return this.gateway.as(owner, 'put', path).send(record).expect(200);
  }

  async addSubject(id = `subject-${randomUUID()}`, user: User = 'alice', tenant = 'acme'): Promise<Subject> {
    const subject = { subject_type: 'organization', subject_id: id };
    const path = `/v1/tenants/${tenant}/entity-states`;
    await this.gateway.as(user, 'post', path).send(envelope({ subject })).expect(201);
    return subject;
  }

  /** Adds subjects of acme in one request. */
  async addSubjects(count: number): Promise<Subject[]> {
    const subjects = Array.from({ length: count }, () => ({
      subject_type: 'organization',
      subject_id: `subject-${randomUUID()}`,
    }));
    const lines = subjects.map((subject) => `${JSON.stringify(envelope({ subject }))}\n`).join('');
    const batch = this.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states/batch');
    await batch.type('application/x-ndjson').send(lines).expect(200);
    return subjects;
  }

  /** Creates a grant of `read_latest` to beta, unless the body changes that. */
  create(body: object, user: User | null = 'alice', tenant = 'acme'): Test {
    return this.gateway
      .as(user, 'post', `/v1/tenants/${tenant}/grants`)
      .send({ grantee_tenant_id: 'beta', scopes: ['read_latest'], ...body });
  }

  /** Creates a grant and returns its id. */
  async grantOn(subject: Subject, change: object = {}): Promise<string> {
    return (await this.create({ ...subject, ...change }).expect(201)).body.grant_id;
  }

  /** Creates a grant on all subjects and returns its id. If the grant is to beta, beta accepts it. */
  async grantOnAll(change: object = {}): Promise<string> {
    const { body } = await this.create({ subject_type: '*', ...change }).expect(201);
    if (body.grantee_tenant_id === 'beta') await this.accept(body.grant_id).expect(200);
    return body.grant_id;
  }

  accept(grantId: string, user: User | null = 'zoe', tenant = 'beta'): Test {
    return this.gateway.as(user, 'post', `/v1/tenants/${tenant}/grants/${grantId}/accept`);
  }

  revoke(grantId: string, user: User | null = 'alice', tenant = 'acme'): Test {
    return this.gateway.as(user, 'post', `/v1/tenants/${tenant}/grants/${grantId}/revoke`);
  }

  createMany(grants: unknown, user: User | null = 'alice', tenant = 'acme'): Test {
    return this.gateway.as(user, 'post', `/v1/tenants/${tenant}/grants/batch`).send({ grants });
  }

  change(grantId: string, body: object, user: User | null = 'alice', tenant = 'acme'): Test {
    return this.gateway.as(user, 'patch', `/v1/tenants/${tenant}/grants/${grantId}`).send(body);
  }

  async expire(grantId: string): Promise<void> {
    await this.superuser.query('UPDATE grants SET expires_at = now() WHERE grant_id = $1', [grantId]);
  }

  async revokeAll(): Promise<void> {
    await this.superuser.query('UPDATE grants SET revoked_at = now() WHERE revoked_at IS NULL');
  }

  list(query = '', user: User | null = 'reader', tenant = 'acme'): Test {
    return this.gateway.as(user, 'get', `/v1/tenants/${tenant}/grants${query}`);
  }

  ofSubject({ subject_id }: Subject, user: User | null = 'admin', tenant = 'acme', query = ''): Test {
    const path = `/v1/tenants/${tenant}/subjects/organization/${encodeURIComponent(subject_id)}/grants`;
    return this.gateway.as(user, 'get', `${path}${query}`);
  }

  accessible(query = '', user: User | null = 'bob', tenant = 'beta'): Test {
    return this.gateway.as(user, 'get', `/v1/tenants/${tenant}/accessible-subjects${query}`);
  }

  readLatest({ subject_id }: Subject): Test {
    return this.gateway.as('bob', 'get', `/v1/tenants/beta/subjects/organization/${subject_id}/snapshots/latest`);
  }
}

/** Returns the ids of the grants of all pages. `between` runs before each page is read. */
export async function walk(
  read: (query: string) => Test,
  limit: number,
  between: (shown: string[]) => Promise<unknown> = async () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor = ''; ;) {
    if (pages.length > 0) await between(pages.flat());
    const { body }: Response = await read(`?limit=${limit}${cursor}`).expect(200);
    pages.push(body.items.map((item: { grant_id: string }) => item.grant_id));
    expect(body).toMatchObject({
      has_more: body.next_cursor !== null,
      page: { limit, next_cursor: body.next_cursor },
    });
    if (body.next_cursor === null) return pages;
    cursor = `&cursor=${body.next_cursor}`;
  }
}
