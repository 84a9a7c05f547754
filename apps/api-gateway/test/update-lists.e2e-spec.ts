import { envelope } from './gateway';
import { closeUpdates, database, FAMILIES, gateway, openUpdates, paths, RENAME, Subject } from './updates';

beforeAll(() => openUpdates());
afterAll(() => closeUpdates());

describe('lists of updates', () => {
  const ids = (answer: { body: { items: { update_id: string }[] } }): string[] =>
    answer.body.items.map((item) => item.update_id);

  it('return a subject’s updates newest first, filtered by status', async () => {
    const subject = await Subject.create();
    const list = (query: string) => gateway.as('reader', 'get', `${subject.path('subject')}${query}`);
    expect((await list('').expect(200)).body).toEqual({
      items: [],
      next_cursor: null,
      has_more: false,
      page: { limit: 50, next_cursor: null },
    });
    const made = [];
    for (let index = 0; index < 5; index++) made.unshift(await subject.proposed());
    const [a = '', b = '', c = ''] = made;
    await subject.act('withdraw', a).expect(200);
    await subject.act('apply', c).expect(200);
    const all = await list('').expect(200);
    expect(ids(all)).toEqual(made);
    expect(all.body.items[1]).toEqual({ ...(await subject.get(b)).body, name: 'Neu AG' });
    expect(ids(await list('?status=withdrawn').expect(200))).toEqual([a]);
    expect(ids(await list('?status=applied').expect(200))).toEqual([c]);
    expect(ids(await list('?status=proposed').expect(200))).toEqual([b, ...made.slice(3)]);
  });

  it('end a page at 8 MiB, with at least one update on it', async () => {
    const subject = await Subject.create();
    const made: string[] = [];
    for (let index = 0; index < 9; index++) made.unshift(await subject.proposed());
    const fill = (these: readonly string[], mebibytes: number): Promise<unknown> =>
      database.query(
        `UPDATE updates SET patch_ops = '[{"op":"add","path":"/attributes/x","value":"' || repeat('x', $2::int) || '"}]'
          WHERE update_id = ANY ($1::uuid[])`,
        [these, mebibytes * 1024 * 1024 - 100],
      );
    const pagesOf = async (): Promise<string[][]> => {
      const pages: string[][] = [];
      let query: string | null = '?limit=200';
      while (query !== null) {
        const page: { body: { items: { update_id: string }[]; next_cursor: string | null; has_more: boolean } } =
          await gateway.as('reader', 'get', subject.path('subject') + query).expect(200);
        pages.push(ids(page));
        expect(page.body.has_more).toBe(page.body.next_cursor !== null);
        const { next_cursor } = page.body;
        query = next_cursor === null ? null : `?limit=200&cursor=${encodeURIComponent(next_cursor)}`;
      }
      return pages;
    };
    await fill(made, 1);
    expect(await pagesOf()).toEqual([made.slice(0, 8), made.slice(8)]);
    const [first = '', second = '', ...others] = made;
    await fill([first, second], 9);
    expect(await pagesOf()).toEqual([[first], [second], others]);
  });

  it('are paged to the end while updates are proposed and withdrawn', async () => {
    await gateway.as('o1', 'post', '/v1/tenants').send({ tenant_id: 'paging', name: 'Paging' }).expect(201);
    const sent = envelope();
    await gateway.as('o1', 'post', '/v1/tenants/paging/entity-states').send(sent).expect(201);
    const ref = Object.assign({ subject_type: '', subject_id: '' }, sent['subject']);
    const updates = `/v1/tenants/paging/subjects/${ref.subject_type}/${ref.subject_id}/updates`;
    const propose = async (): Promise<string> => {
      const body = { subject_id: ref.subject_id, base_snapshot_version: 1, patch_ops: RENAME };
      return (await gateway.as('o1', 'post', updates).send(body).expect(201)).body.update_id;
    };
    // They are created concurrently, so that some have the same time.
    const made = new Set(await Promise.all(Array.from({ length: 25 }, propose)));
    for (const path of [updates, '/v1/tenants/paging/entity-state-updates']) {
      const seen: string[] = [];
      let query: string | null = '?limit=4';
      while (query !== null) {
        const page: {
          body: { items: { update_id: string }[]; next_cursor: string | null };
          headers: Record<string, string>;
        } = await gateway.as('o1', 'get', path + query).expect(200);
        expect(page.headers['link'] !== undefined).toBe(page.body.next_cursor !== null);
        seen.push(...ids(page));
        await propose();
        const [shown = ''] = ids(page);
        await gateway.as('o1', 'post', `${updates}/${shown}/withdraw`);
        query = page.body.next_cursor === null ? null : `?limit=4&cursor=${encodeURIComponent(page.body.next_cursor)}`;
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect([...made].filter((id) => !seen.includes(id))).toEqual([]);
    }
    const whole = await gateway.as('o1', 'get', `/v1/tenants/paging/entity-state-updates?limit=200`).expect(200);
    const times = whole.body.items.map((item: { created_at: string }) => item.created_at);
    expect(times).toEqual([...times].sort().reverse());
    expect(whole.body).toMatchObject({ has_more: false, next_cursor: null, page: { limit: 200 } });
  });

  it('refuse invalid limits, statuses and parameters, and foreign cursors', async () => {
    const subject = await Subject.create();
    await Promise.all(Array.from({ length: 3 }, () => subject.proposed()));
    const [mine, tenants] = [subject.path('subject'), subject.path('tenant')];
    for (const path of [mine, tenants]) {
      const refused = async (query: string): Promise<string[]> =>
        paths(await gateway.as('reader', 'get', `${path}?${query}`).expect(400));
      for (const limit of ['0', '-1', '1001', 'abc', '1.5', '', '1e9', '1&limit=2']) {
        expect(await refused(`limit=${limit}`)).toEqual(['/query/limit']);
      }
      expect(await refused('status=rejected')).toEqual(['/query/status']);
      expect(await refused('status=')).toEqual(['/query/status']);
      expect(await refused('state=applied')).toEqual(['/query/state']);
      expect(await refused('cursor=abc')).toEqual(['/query/cursor']);
      await gateway.as('reader', 'get', `${path}?limit=200`).expect(200);
    }
    const page = await gateway.as('reader', 'get', `${mine}?limit=1`).expect(200);
    const cursor = String(page.body.next_cursor);
    const foreign = [
      `${tenants}?cursor=${cursor}`,
      `${mine}?status=proposed&cursor=${cursor}`,
      `${(await Subject.create()).path('subject')}?cursor=${cursor}`,
      `${mine}?cursor=${cursor.slice(0, -2)}`,
      `${mine}?cursor=${cursor.startsWith('a') ? 'b' : 'a'}${cursor.slice(1)}`,
    ];
    for (const path of foreign) {
      expect(paths(await gateway.as('reader', 'get', path).expect(400))).toEqual(['/query/cursor']);
    }
    await gateway.as('reader', 'get', `${mine}?cursor=${cursor}&limit=2`).expect(200);
  });

  it('reveal nothing about a subject to other tenants', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    for (const family of FAMILIES) {
      expect(ids(await gateway.as('proposer', 'get', subject.path(family)).expect(200))).toContain(id);
    }
    expect((await gateway.as('bob', 'get', subject.path('tenant', 'beta')).expect(200)).body.items).toEqual([]);
    const there = await gateway.as('bob', 'get', subject.path('subject', 'beta')).expect(403);
    const nowhere = await gateway.as('bob', 'get', '/v1/tenants/beta/subjects/entity/none/updates').expect(403);
    expect(there.body.error.message).toBe(nowhere.body.error.message);
  });
});
