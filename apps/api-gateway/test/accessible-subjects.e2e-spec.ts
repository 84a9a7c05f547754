import { BAD_LIMITS, GrantWorld, places, principalOf, walk } from './grant-world';

jest.setTimeout(60_000);

let world: GrantWorld;

beforeAll(async () => {
  world = await GrantWorld.open();
});

afterAll(() => world?.close());

describe('accessible subjects', () => {
  beforeEach(() => world.revokeAll());

  it('are those of live grants, with the newest snapshot where read_latest is held', async () => {
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
    world.gateway.sent.length = 0;
    const { body } = await world.accessible().expect(200);
    expect(world.gateway.sent).toEqual(['subjects_accessible']);
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
        },
      ],
      next_cursor: null,
      has_more: false,
      page: { limit: 50, next_cursor: null },
    });
  });

  it('are refused without the flag, though the tenant holds grants', async () => {
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
    await world.accessible('', null).expect(401);
    await world.accessible('', 'stranger').expect(403);
    await world.accessible('', 'alice').expect(403);
    await world.accessible('', 'bob', 'no-such-tenant').expect(403);
  });

  it('fill each page, whatever ended before it and while it is read', async () => {
    const kept: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const subject = await world.addSubject();
      if (count % 2 === 0) await world.expire(await world.grantOn(subject));
      const grantId = await world.grantOn(subject);
      if (count % 3 === 0) await world.expire(grantId);
      else kept.push(grantId);
    }
    // What a page showed last ends before the next one is read.
    const pages = await walk(
      (query) => world.accessible(query),
      3,
      (shown) => world.revoke(shown.at(-1) ?? '').expect(200),
    );
    expect(pages).toEqual([kept.slice(0, 3), kept.slice(3, 6), kept.slice(6)]);
    const left = (await world.accessible('?limit=200').expect(200)).body.items;
    expect(left.map((item: { grant_id: string }) => item.grant_id)).toEqual(kept.filter((_, i) => i !== 2 && i !== 5));
  });

  it('end where the last page is full', async () => {
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

  it('come in pages of 200 at most', async () => {
    await world.accessible('?limit=200').expect(200);
    for (const limit of [...BAD_LIMITS, '201']) {
      expect(places(await world.accessible(`?limit=${limit}`).expect(400))).toEqual(['/query/limit']);
    }
    expect(places(await world.accessible('?scope=read_latest').expect(400))).toEqual(['/query/scope']);
  });
});
