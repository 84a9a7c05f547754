import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;

const principalPath = (tenant: string, user: User): string =>
  `/v1/tenants/${tenant}/principals/${encodeURIComponent(`oidc:test#${user}`)}`;

async function write(user: User, tenant: string, type: string, id: string, change = {}): Promise<void> {
  const body = envelope({ subject: { subject_type: type, subject_id: id }, ...change });
  await gateway.as(user, 'post', `/v1/tenants/${tenant}/entity-states`).send(body).expect(201);
}

beforeAll(async () => {
  gateway = await startGateway();
  for (const [user, tenant] of [
    ['alice', 'acme'],
    ['bob', 'beta'],
    ['o1', 'many'],
  ] as const) {
    await gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: tenant, name: tenant }).expect(201);
  }
  await gateway
    .as('alice', 'put', principalPath('acme', 'reader'))
    .send({ api_functional_role: 'tenant_reader' })
    .expect(200);
  for (const [type, id] of [
    ['organization', 'b'],
    ['individual', 'a'],
    ['entity', 'z'],
    ['organization', 'a'],
    ['organization', 'A'],
  ] as const) {
    await write('alice', 'acme', type, id);
  }
  await write('alice', 'acme', 'organization', 'a', { snapshot_version: 2 });
  await write('bob', 'beta', 'organization', 'of-beta');
});

afterAll(() => gateway?.close());

interface Item {
  subject_type: string;
  subject_id: string;
}
const nameOf = (item: Item): string => `${item.subject_type}/${item.subject_id}`;
const namesOf = (answer: Response): string[] => answer.body.items.map(nameOf);

const list = (query: string, user: User | null = 'reader', tenant = 'acme') =>
  gateway.as(user, 'get', `/v1/tenants/${tenant}/subjects${query}`);

/** Returns the items of all pages. `between` runs before each page is read. */
async function walk(tenant: string, user: User, query: string, between?: (page: number) => Promise<void>) {
  const pages: string[][] = [];
  for (let next: string | null = ''; next !== null;) {
    if (pages.length > 0) await between?.(pages.length);
    const answer: Response = await list(`?${query}${next === '' ? '' : `&cursor=${next}`}`, user, tenant).expect(200);
    pages.push(namesOf(answer));
    next = answer.body.next_cursor;
    expect(answer.body.has_more).toBe(next !== null);
    expect(answer.body.page.next_cursor).toBe(next);
    expect(answer.headers['link']).toEqual(next === null ? undefined : expect.stringMatching(/; rel="next"$/));
  }
  return pages;
}

describe('the list of owned subjects', () => {
  it('returns the tenant’s subjects, each with the header of its newest snapshot', async () => {
    const answer = await list('').expect(200);
    expect(namesOf(answer)).toEqual(['entity/z', 'individual/a', 'organization/A', 'organization/a', 'organization/b']);
    expect(answer.body).toMatchObject({
      next_cursor: null,
      has_more: false,
      page: { limit: 1_000, next_cursor: null },
    });
    const { body: header } = await gateway
      .as('reader', 'get', '/v1/tenants/acme/subjects/organization/a/snapshots/latest?view=header')
      .expect(200);
    expect(header.snapshot_version).toBe(2);
    expect(answer.body.items[3]).toEqual({
      subject_type: 'organization',
      subject_id: 'a',
      name: 'Zürich Öl AG',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      latest_snapshot: header,
    });
  });

  it('is empty for a tenant that owns nothing', async () => {
    await gateway.as('o2', 'post', '/v1/tenants').send({ tenant_id: 'empty', name: 'Empty' }).expect(201);
    expect((await list('', 'o2', 'empty').expect(200)).body.items).toEqual([]);
  });

  it.each([
    ['subject_type=organization', ['organization/A', 'organization/a', 'organization/b']],
    ['subject_type=entity', ['entity/z']],
    ['subject_id_prefix=a', ['individual/a', 'organization/a']],
    ['subject_id_prefix=a&subject_type=organization', ['organization/a']],
    ['subject_id_prefix=of', []],
    ['subject_id_prefix=', ['entity/z', 'individual/a', 'organization/A', 'organization/a', 'organization/b']],
  ])('filters by %s', async (query, expected) => {
    expect(namesOf(await list(`?${query}`).expect(200))).toEqual(expected);
    expect((await walk('acme', 'reader', `${query}&limit=1`)).flat()).toEqual(expected);
  });

  it('matches prefixes and sorts by bytes', async () => {
    const beginning = ['é', 'é_', 'é%', 'é\uFFFD', 'é😀', 'é\u{10FFFF}', 'é\u{10FFFF}\u{10FFFF}'];
    const others = ['e\u0301', 'É', '\u00e8', 'ê', 'aé'];
    for (const id of [...others, ...beginning]) await write('o1', 'many', 'individual', id);
    const expected = beginning
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map((id) => `individual/${id}`);
    const prefix = `subject_id_prefix=${encodeURIComponent('é')}`;
    expect((await walk('many', 'o1', `${prefix}&limit=1`)).flat()).toEqual(expected);
    expect((await walk('many', 'o1', `${prefix}&limit=3`)).map(({ length }) => length)).toEqual([3, 3, 1]);
    const last = `subject_id_prefix=${encodeURIComponent('é\u{10FFFF}')}`;
    expect(namesOf(await list(`?${last}`, 'o1', 'many').expect(200))).toEqual(expected.slice(-2));
  });

  it('is paged to its end while subjects are added', async () => {
    await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'growing', name: 'Growing' }).expect(201);
    const first = Array.from({ length: 7 }, (_, index) => `m${index}`);
    for (const id of first) await write('zoe', 'growing', 'entity', id);
    const pages = await walk('growing', 'zoe', 'limit=2', async (page) => {
      await write('zoe', 'growing', 'entity', `a${page}`);
      if (page === 1) await write('zoe', 'growing', 'organization', 'z1');
    });
    expect(pages.flat()).toEqual([...first.map((id) => `entity/${id}`), 'organization/z1']);
  });

  it.each([
    ['limit=0', '/query/limit'],
    ['limit=-1', '/query/limit'],
    ['limit=1001', '/query/limit'],
    ['limit=abc', '/query/limit'],
    ['limit=1.5', '/query/limit'],
    ['limit=1&limit=2', '/query/limit'],
    ['cursor=abc', '/query/cursor'],
    ['subject_type=person', '/query/subject_type'],
    ['subject_type=', '/query/subject_type'],
    ['subject_id_prefix=%00', '/query/subject_id_prefix'],
    ['subject_id_prefix=a&subject_id_prefix=b', '/query/subject_id_prefix'],
    ['owner=beta', '/query/owner'],
  ])('refuses %s', async (query, path) => {
    const answer = await list(`?${query}`).expect(400);
    expect(answer.body.error.code).toBe('validation_error');
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  it('accepts a limit of 1,000 and a prefix of 512 characters', async () => {
    await list('?limit=1000').expect(200);
    await list(`?subject_id_prefix=${encodeURIComponent('😀'.repeat(512))}`).expect(200);
    const answer = await list(`?subject_id_prefix=${'a'.repeat(513)}`).expect(400);
    expect(answer.body.error.details[0].path).toBe('/query/subject_id_prefix');
  });

  it('refuses an edited cursor, and one of another list or other filters', async () => {
    const { next_cursor: cursor } = (await list('?limit=2').expect(200)).body;
    await list(`?limit=1&cursor=${cursor}`).expect(200);
    for (const request of [
      list(`?cursor=${cursor}&subject_type=organization`),
      list(`?cursor=${cursor}&subject_id_prefix=a`),
      list(`?cursor=${cursor}`, 'o1', 'many'),
      list(`?cursor=${String(cursor).replace(/^./, 'x')}`),
      gateway.as('reader', 'get', `/v1/tenants/acme/grants?cursor=${cursor}`),
    ]) {
      expect((await request.expect(400)).body.error.details[0].path).toBe('/query/cursor');
    }
  });

  it('refuses a malformed tenant id', async () => {
    const malformed = await list('', 'alice', '.acme').expect(400);
    expect(malformed.body.error.details[0].path).toBe('/path/tenant_id');
  });
});

describe('the search of owned subjects', () => {
  const LEI = '5493001KJTIIGC8Y1R12';
  const attributes = (legal_name: string, identifiers: object) => ({
    attributes: { legal: { legal_name }, identifiers },
  });
  const find = async (query: string, user: User = 'bob', tenant = 'beta'): Promise<string[]> =>
    namesOf(await list(`?${query}`, user, tenant).expect(200));

  it('finds subjects by name and identifier of the latest version, also after a patch', async () => {
    await write('bob', 'beta', 'organization', 'harbour', attributes('Harbour Works Ltd', { lei: LEI, vat: 'GB 123' }));
    await write('bob', 'beta', 'organization', 'mill', attributes('Mill Ltd', { lei: 'OTHER', vat: 'GB-123' }));
    const ada = { attributes: { biographic: { name: { given_name: 'Ada', family_name: 'Lovelace' } } } };
    await write('bob', 'beta', 'individual', 'ada', ada);
    expect(await find(`identifier=LEI:${LEI.toLowerCase()}`)).toEqual(['organization/harbour']);
    expect(await find('identifier=lei:5493 001K-JTII.GC8Y1R12')).toEqual(['organization/harbour']);
    expect(await find('identifier=vat:gb123')).toEqual(['organization/mill', 'organization/harbour']);
    expect(await find('identifier=GB-123')).toEqual(['organization/mill', 'organization/harbour']);
    expect(await find(`identifier=${LEI}`)).toEqual(['organization/harbour']);
    expect(await find('identifier=vat:gb123&subject_type=individual')).toEqual([]);
    expect(await find('identifier=lei:nobody')).toEqual([]);
    expect(await find('q=HARBOUR  w')).toEqual(['organization/harbour']);
    expect(await find('q=ada l')).toEqual(['individual/ada']);
    await write('bob', 'beta', 'organization', 'strasse', attributes('Straßenbau ΟΔΟΣ', { 'Gauß-Nr': 'ẞ 1' }));
    expect(await find(`q=${encodeURIComponent('STRASSENBAU οδοσ')}`)).toEqual(['organization/strasse']);
    expect(await find(`identifier=${encodeURIComponent('GAUSS-NR:ss1')}`)).toEqual(['organization/strasse']);
    expect(await find('q=&subject_type=organization')).toEqual([
      'organization/harbour',
      'organization/mill',
      'organization/strasse',
      'organization/of-beta',
    ]);
    expect((await walk('beta', 'bob', 'q=&limit=1')).flat()).toEqual([
      'individual/ada',
      'organization/harbour',
      'organization/mill',
      'organization/strasse',
      'organization/of-beta',
    ]);
    expect((await walk('beta', 'bob', 'identifier=vat:gb123&limit=1')).flat()).toHaveLength(2);

    const updates = '/v1/tenants/beta/subjects/organization/harbour/updates';
    const patch = [
      { op: 'remove', path: '/attributes/identifiers/vat' },
      { op: 'replace', path: '/attributes/legal/legal_name', value: 'Harbour Works plc' },
    ];
    const proposal = { subject_id: 'harbour', base_snapshot_version: 1, patch_ops: patch };
    const { body } = await gateway.as('bob', 'post', updates).send(proposal).expect(201);
    await gateway.as('bob', 'post', `${updates}/${body.update_id}/apply`).expect(200);
    expect(await find('identifier=vat:gb123')).toEqual(['organization/mill']);
    expect(await find(`identifier=lei:${LEI}`)).toEqual(['organization/harbour']);
    expect(await find('q=harbour works ltd')).toEqual([]);
    const [item] = (await list('?q=harbour works p', 'bob', 'beta').expect(200)).body.items;
    expect(item.latest_snapshot.snapshot_version).toBe(2);
  });

  it('finds no subject of another tenant, and refuses non-members', async () => {
    expect(await find(`identifier=lei:${LEI}`, 'reader', 'acme')).toEqual([]);
    expect(await find('q=harbour', 'reader', 'acme')).toEqual([]);
    await list(`?identifier=lei:${LEI}`, 'reader', 'beta').expect(403);
    await list('?q=harbour', 'stranger', 'beta').expect(403);
  });

  it.each([
    ['identifier=-', '/query/identifier', 'invalid_value'],
    ['identifier=:1', '/query/identifier', 'invalid_value'],
    ['identifier=lei:', '/query/identifier', 'invalid_value'],
    [`q=${'a'.repeat(129)}`, '/query/q', 'invalid_value'],
    ['q=a&identifier=lei:1', '/query/q', 'mismatch'],
    ['subject_id_prefix=a&q=b', '/query/q', 'mismatch'],
    ['evidence=missing&q=b', '/query/q', 'mismatch'],
    ['subject_id_prefix=a&identifier=lei:1', '/query/identifier', 'mismatch'],
  ])('refuses %s', async (query, path, code) => {
    const { body } = await list(`?${query}`).expect(400);
    expect(body.error.details).toMatchObject([{ path, code }]);
  });

  it('refuses a cursor of another search', async () => {
    const { next_cursor: cursor } = (await list('?q=&limit=1', 'bob', 'beta').expect(200)).body;
    for (const query of ['q=a', 'identifier=vat:gb123', '']) {
      const { body } = await list(`?${query}&cursor=${cursor}`, 'bob', 'beta').expect(400);
      expect(body.error.details[0].path).toBe('/query/cursor');
    }
  });
});

describe('the owners of a subject', () => {
  const owners = (user: User | null, tenant: string, id: string, type = 'organization') =>
    gateway.as(user, 'get', `/v1/tenants/${tenant}/subjects/${type}/${id}/owners`);

  it('are returned to the owner as one item', async () => {
    const answer = await owners('reader', 'acme', 'a').expect(200);
    expect(answer.body).toEqual({
      items: [
        { owner_tenant_id: 'acme', subject_type: 'organization', subject_id: 'a', created_at: expect.any(String) },
      ],
      next_cursor: null,
      has_more: false,
      page: { limit: 50, next_cursor: null },
    });
    const [listed] = (await list('?subject_type=organization&subject_id_prefix=a').expect(200)).body.items;
    expect(answer.body.items[0].created_at).toBe(listed.created_at);
  });

  it('are refused to others alike, whether or not the subject exists', async () => {
    const messages = [];
    for (const [tenant, id] of [
      ['beta', 'a'],
      ['beta', randomUUID()],
    ] as const) {
      const answer = await owners('bob', tenant, id).expect(403);
      expect(answer.body.error.code).toBe('forbidden');
      messages.push(answer.body.error.message);
    }
    expect(messages[0]).toBe(messages[1]);
    await owners('reader', 'acme', 'of-beta').expect(403);
    await owners('reader', 'acme', randomUUID()).expect(403);
    const malformed = await owners('reader', 'acme', 'a', 'person').expect(400);
    expect(malformed.body.error.details[0].path).toBe('/path/subject_type');
    expect((await owners('reader', 'acme', '%01').expect(400)).body.error.details[0].path).toBe('/path/subject_id');
  });

  it('are returned to a grantee with any scope and the flag, while the grant is live', async () => {
    const grant = { grantee_tenant_id: 'beta', subject_type: 'organization', subject_id: 'a', scopes: ['read_diff'] };
    const { grant_id } = (await gateway.as('alice', 'post', '/v1/tenants/acme/grants').send(grant).expect(201)).body;
    expect((await owners('bob', 'beta', 'a').expect(403)).body.error.message).toContain('allow_counterparty_access');
    await gateway.as('bob', 'put', principalPath('beta', 'bob')).send({ allow_counterparty_access: true }).expect(200);
    const told = await owners('bob', 'beta', 'a').expect(200);
    expect(told.body.items).toMatchObject([{ owner_tenant_id: 'acme', subject_id: 'a' }]);
    await gateway.as('alice', 'post', `/v1/tenants/acme/grants/${grant_id}/revoke`).expect(200);
    await owners('bob', 'beta', 'a').expect(403);
  });
});
