import { envelope } from './gateway';
import { BAD_LIMITS, GrantWorld, places, principalOf, walk } from './grant-world';
import type { Subject } from './read-world';

let world: GrantWorld;

beforeAll(async () => {
  world = await GrantWorld.open();
});

afterAll(() => world?.close());

describe('GET …/accessible-subjects', () => {
  beforeEach(() => world.revokeAll());

  it('returns the subjects of live grants, with the latest snapshot if read_latest is granted', async () => {
    const latest = await world.addSubject();
    const lineage = await world.addSubject();
    const latestId = await world.grantOn(latest, {
      scopes: ['read_diff', 'read_latest'],
      expires_at: '2999-01-01T00:00:00Z',
    });
    const lineageId = await world.grantOn(lineage, { scopes: ['read_lineage'] });
    await world.grantOn(await world.addSubject(), { grantee_tenant_id: 'gamma' });
    await world.revoke(await world.grantOn(await world.addSubject())).expect(200);
    await world.expire(await world.grantOn(await world.addSubject()));
    const { body } = await world.accessible().expect(200);
    const header = await world.gateway
      .as('reader', 'get', `/v1/tenants/acme/subjects/organization/${latest.subject_id}/snapshots/latest?view=header`)
      .expect(200);
    expect(body).toEqual({
      items: [
        {
          ...latest,
          granted_by_tenant_id: 'acme',
          grant_id: latestId,
          scopes: ['read_diff', 'read_latest'],
          expires_at: '2999-01-01T00:00:00.000Z',
          granted_by: principalOf('alice'),
          purpose: null,
          paths: null,
          latest_snapshot: header.body,
        },
        {
          ...lineage,
          granted_by_tenant_id: 'acme',
          grant_id: lineageId,
          scopes: ['read_lineage'],
          expires_at: null,
          granted_by: principalOf('alice'),
          purpose: null,
          paths: null,
        },
      ],
      next_cursor: null,
      has_more: false,
      page: { limit: 50, next_cursor: null },
    });
  });

  it('refuses a member without allow_counterparty_access, even if the tenant has grants', async () => {
    await world.grantOn(await world.addSubject());
    const refused = await world.accessible('', 'zoe').expect(403);
    expect(refused.body.error).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('allow_counterparty_access'),
    });
    await world.setMember('bob', 'beta', 'zoe', { allow_counterparty_access: true });
    expect((await world.accessible('', 'zoe').expect(200)).body.items).toHaveLength(1);
    await world.setMember('bob', 'beta', 'zoe', { allow_counterparty_access: false });
    await world.accessible('', 'zoe').expect(403);
  });

  it('fills each page, even if grants end before it or between pages', async () => {
    const kept: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const subject = await world.addSubject();
      if (count % 2 === 0) await world.expire(await world.grantOn(subject));
      const grantId = await world.grantOn(subject);
      if (count % 3 === 0) await world.expire(grantId);
      else kept.push(grantId);
    }
    // The grant that a page showed last ends before the next page is read.
    const pages = await walk(
      (query) => world.accessible(query),
      3,
      (shown) => world.revoke(shown.at(-1) ?? '').expect(200),
    );
    expect(pages).toEqual([kept.slice(0, 3), kept.slice(3, 6), kept.slice(6)]);
    const left = (await world.accessible('?limit=200').expect(200)).body.items;
    expect(left.map((item: { grant_id: string }) => item.grant_id)).toEqual(kept.filter((_, i) => i !== 2 && i !== 5));
  });

  it('returns no cursor after a full last page, and refuses a changed or foreign cursor', async () => {
    for (let count = 0; count < 2; count += 1) await world.grantOn(await world.addSubject());
    expect((await world.accessible('?limit=2').expect(200)).body).toMatchObject({ next_cursor: null, has_more: false });
    const first = (await world.accessible('?limit=1').expect(200)).body;
    expect(first.has_more).toBe(true);
    const cursor = String(first.next_cursor);
    await world.revokeAll();
    expect((await world.accessible(`?cursor=${cursor}`).expect(200)).body).toMatchObject({
      items: [],
      next_cursor: null,
    });
    for (const foreign of [`${cursor}x`, cursor.replace(/^./, '!'), cursor.replace('.', '')]) {
      expect(places(await world.accessible(`?cursor=${encodeURIComponent(foreign)}`).expect(400))).toEqual([
        '/query/cursor',
      ]);
    }
    expect(places(await world.list(`?cursor=${cursor}`).expect(400))).toEqual(['/query/cursor']);
  });

  it('filters by subject, prefix, type and grantor, also for grants on all subjects', async () => {
    const shared = await world.addSubject('shared-1');
    for (const id of ['shared-2', 'all-1', 'all-2']) await world.addSubject(id, 'o1', 'gamma');
    const { body: given } = await world.create({ subject_type: '*' }, 'o1', 'gamma').expect(201);
    await world.accept(given.grant_id).expect(200);
    await world.grantOn(shared);
    await world.grantOn(await world.addSubject());
    const ids = async (query: string): Promise<string[]> =>
      (await world.accessible(`?${query}`).expect(200)).body.items.map((one: Subject) => one.subject_id);
    expect(await ids('subject_id_prefix=shared-')).toEqual(['shared-1', 'shared-2']);
    expect(await ids('subject_id_prefix=shared-&granted_by_tenant_id=gamma')).toEqual(['shared-2']);
    expect(await ids('subject_id_prefix=shared-&granted_by_tenant_id=acme')).toEqual(['shared-1']);
    expect(await ids('subject_type=organization&subject_id=shared-1')).toEqual(['shared-1']);
    expect(await ids('subject_type=organization&subject_id=shared-2')).toEqual(['shared-2']);
    expect(await ids('subject_type=organization&subject_id=shared-2&granted_by_tenant_id=acme')).toEqual([]);
    expect(await ids('subject_type=entity&subject_id=shared-1')).toEqual([]);
    expect(await ids('subject_type=organization&subject_id=nothing')).toEqual([]);
    expect(await ids('subject_type=individual')).toEqual([]);
    expect(await ids('granted_by_tenant_id=nobody')).toEqual([]);
    expect(await ids('subject_type=organization&granted_by_tenant_id=gamma&subject_id_prefix=all-')).toEqual([
      'all-1',
      'all-2',
    ]);
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const query = `?limit=1&subject_type=organization&granted_by_tenant_id=gamma${cursor}`;
      const { body } = await world.accessible(query).expect(200);
      seen.push(...body.items.map((one: Subject) => one.subject_id));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual([...seen].sort());
    expect(seen).toEqual(expect.arrayContaining(['all-1', 'all-2', 'shared-2']));
    for (const [query, place] of [
      ['subject_id=a', '/query/subject_type'],
      ['subject_type=entity&subject_id=a&subject_id_prefix=a', '/query/subject_id_prefix'],
      ['q=a&subject_type=entity', '/query/q'],
    ]) {
      expect(places(await world.accessible(`?${query}`).expect(400))).toEqual([place]);
    }
    await world.revoke(given.grant_id, 'o1', 'gamma').expect(200);
  });

  it('refuses a limit above 200 and an unknown parameter', async () => {
    await world.accessible('?limit=200').expect(200);
    for (const limit of [...BAD_LIMITS, '201']) {
      expect(places(await world.accessible(`?limit=${limit}`).expect(400))).toEqual(['/query/limit']);
    }
    expect(places(await world.accessible('?scope=read_latest').expect(400))).toEqual(['/query/scope']);
  });
});

describe('GET …/accessible-subjects with a search', () => {
  const idsOf = (body: { items: { subject_id: string }[] }): string[] => body.items.map((item) => item.subject_id);
  const find = async (query: string): Promise<string[]> =>
    idsOf((await world.accessible(`?${query}`).expect(200)).body);

  const add = async (id: string, legal_name: string, identifiers: object): Promise<Subject> => {
    const subject = { subject_type: 'organization', subject_id: id };
    const attributes = { legal: { legal_name }, identifiers };
    const sent = envelope({ subject, attributes });
    await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
    return subject;
  };
  let mill: Subject;
  let quay: Subject;

  beforeAll(async () => {
    mill = await add('mill', 'Harbour Mill Ltd', { lei: 'LEI-1' });
    quay = await add('quay', 'Harbour Quay Ltd', { lei: 'LEI-1', vat: 'V 9' });
    await add('ours', 'Harbour of beta', { lei: 'OTHER' });
  });
  beforeEach(() => world.revokeAll());

  it('finds subjects granted with read_latest until the grant ends', async () => {
    await world.grantOn(mill);
    const id = await world.grantOn(quay, { scopes: ['read_latest', 'read_diff'] });
    expect(await find('identifier=LEI:lei 1')).toEqual(['mill', 'quay']);
    expect(await find('q=harbour')).toEqual(['mill', 'quay']);
    expect(await find('identifier=vat:v9')).toEqual(['quay']);
    expect(await find('identifier=v-9')).toEqual(['quay']);
    expect(await find('identifier=lei1')).toEqual(['mill', 'quay']);
    expect(await find('q=HARBOUR q')).toEqual(['quay']);
    expect(await find('q=quay')).toEqual([]);
    expect((await walk((query) => world.accessible(`${query}&q=harbour`), 1)).flat()).toHaveLength(2);
    await world.expire(id);
    expect(await find('q=harbour')).toEqual(['mill']);
    expect(await find('identifier=vat:v9')).toEqual([]);
  });

  it.each([
    ['there is no grant', null],
    ['the grant is to another tenant', { grantee_tenant_id: 'gamma' }],
    ['the grant lacks read_latest', { scopes: ['read_diff', 'read_lineage', 'read_snapshot_by_id'] }],
  ])('answers like a search without hits if %s', async (_, grant) => {
    if (grant !== null) {
      await world.grantOn(quay, grant);
      await world.grantOnAll(grant);
    }
    for (const [there, nowhere] of [
      ['q=harbour', 'q=nobody'],
      ['identifier=lei:lei1', 'identifier=lei:nobody'],
      ['identifier=lei1', 'identifier=nobody'],
    ] as const) {
      const { body } = await world.accessible(`?limit=1&${there}`).expect(200);
      expect(body).toEqual((await world.accessible(`?limit=1&${nowhere}`).expect(200)).body);
      expect(body).toMatchObject({ items: [], has_more: false });
    }
  });

  it('finds each subject once, in pages, if the owner granted all subjects', async () => {
    await world.grantOnAll();
    await world.grantOn(quay, { scopes: ['read_diff'] });
    expect(await find('q=harbour')).toEqual(['mill', 'ours', 'quay']);
    expect((await find('identifier=lei:lei1')).toSorted()).toEqual(['mill', 'quay']);
    for (const search of ['q=harbour', 'identifier=lei:lei1', 'identifier=lei1']) {
      const all = await find(search);
      const paged: string[] = [];
      for (let cursor = ''; ;) {
        const { body } = await world.accessible(`?limit=1&${search}${cursor}`).expect(200);
        paged.push(...idsOf(body));
        if (body.next_cursor === null) break;
        cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
      }
      expect(paged).toEqual(all);
    }
    const { body } = await world.accessible('?identifier=vat:v9').expect(200);
    expect(body.items[0].scopes).toEqual(['read_diff', 'read_latest']);
  });

  it('finds a subject by its own grant if the grant on all lacks read_latest, with the scopes of both', async () => {
    await world.grantOnAll({ scopes: ['read_diff'] });
    await world.grantOn(quay);
    for (const search of ['q=harbour', 'identifier=lei:lei1']) {
      const { body } = await world.accessible(`?${search}`).expect(200);
      expect(idsOf(body)).toEqual(['quay']);
      expect(body.items[0].scopes).toEqual(['read_diff', 'read_latest']);
    }
  });

  it('requires access to grants, accepts only one search, and binds cursors to it', async () => {
    await world.grantOn(mill);
    await world.grantOn(quay);
    await world.accessible('?q=harbour', 'zoe').expect(403);
    await world.accessible('?identifier=lei:lei1', 'alice').expect(403);
    expect(places(await world.accessible('?q=a&identifier=lei:1').expect(400))).toEqual(['/query/q']);
    expect(places(await world.accessible('?identifier=lei:').expect(400))).toEqual(['/query/identifier']);
    const { next_cursor: cursor } = (await world.accessible('?q=harbour&limit=1').expect(200)).body;
    for (const other of ['', 'q=harb&', 'identifier=lei:lei1&']) {
      const refused = await world.accessible(`?${other}cursor=${encodeURIComponent(cursor)}`).expect(400);
      expect(places(refused)).toEqual(['/query/cursor']);
    }
  });
});
