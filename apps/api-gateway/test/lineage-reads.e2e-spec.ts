import { itInDatabase } from './gateway';
import { FORMS, pathOf, ReadWorld, type Subject } from './read-world';

let world: ReadWorld;

beforeAll(async () => {
  world = await ReadWorld.open();
});

afterAll(() => world?.close());

interface Item {
  snapshot_id: string;
  snapshot_version: number;
  envelope_hash: string;
  prev_hash: string | null;
  chain_valid?: boolean | null;
  envelope?: Record<string, unknown>;
  verification?: { hash: { valid: boolean | null }; chain: { valid: boolean | null; depth: number } };
}

const HISTORIES = [
  ['/v1', 'history', 'full', 50, 200],
  ['/v1', 'snapshots', 'full', 50, 200],
  ['/v1/tenants/acme', 'history', 'header', 50, 200],
  ['/v1/tenants/acme', 'snapshots', 'header', 20, 100],
] as const;

describe.each(HISTORIES)('the history at %s …/%s', (form, name, view, defaultLimit, max) => {
  const path = (subject: Subject): string => `${pathOf(form, subject)}/${name}`;

  it('lists each snapshot as its own route returns it, newest first', async () => {
    const subject = await world.written(3);
    const { body } = await world.read(path(subject));
    const single = await Promise.all(
      [3, 2, 1].map(
        async (version) => (await world.read(`${pathOf(form, subject)}/snapshots/${version}?view=${view}`)).body,
      ),
    );
    expect(body).toEqual({
      items: single,
      next_cursor: null,
      has_more: false,
      page: { order: 'desc', limit: defaultLimit, next_cursor: null },
    });
    const other = await world.read(`${path(subject)}?view=${view === 'full' ? 'header' : 'full'}&order=asc`);
    expect(other.body.items.map((item: Item) => item.snapshot_version)).toEqual([1, 2, 3]);
    expect(other.body.items.map((item: Item) => item.envelope !== undefined)).toEqual(Array(3).fill(view === 'header'));
    expect(other.headers['cache-control']).toBe('no-store');
  });

  it.each(['asc', 'desc'])('is paged to its end in %s order while versions are written', async (order) => {
    const subject = await world.written(5);
    const seen: number[] = [];
    let next: string | null = `${path(subject)}?order=${order}&limit=2`;
    let version = 5;
    while (next !== null) {
      const { body, headers }: { body: Record<string, never>; headers: Record<string, string> } =
        await world.read(next);
      const { items, next_cursor, has_more, page } = Object.assign(
        { items: [], next_cursor: null, has_more: null, page: {} },
        body,
      );
      expect(page).toEqual({ order, limit: 2, next_cursor });
      expect(has_more).toBe(next_cursor !== null);
      seen.push(...items.map((item: Item) => item.snapshot_version));
      if (version < 7) await world.write(subject, ++version);
      next = next_cursor === null ? null : `${path(subject)}?order=${order}&limit=2&cursor=${String(next_cursor)}`;
      if (next !== null) expect(headers['link']).toContain('rel="next"');
    }
    expect(seen).toEqual(order === 'asc' ? [1, 2, 3, 4, 5, 6, 7] : [5, 4, 3, 2, 1]);
  });

  it('verifies each item, and reads parents beyond the page for the last ones', async () => {
    const subject = await world.written(5);
    const hash = await world.read(`${path(subject)}?verify=hash&limit=3`);
    expect(hash.body.items).toHaveLength(3);
    for (const item of hash.body.items) {
      expect(item.verification).toMatchObject({ mode: 'hash', hash: { valid: true, stored: item.envelope_hash } });
      expect('envelope' in item).toBe(view === 'full');
    }
    for (const order of ['asc', 'desc']) {
      const chain = await world.read(`${path(subject)}?verify=chain&depth=3&limit=3&order=${order}&view=header`);
      const depths = chain.body.items.map((item: Item) => [item.snapshot_version, item.verification?.chain.depth]);
      expect(depths).toEqual(
        order === 'asc'
          ? [
              [1, 0],
              [2, 1],
              [3, 2],
            ]
          : [
              [5, 3],
              [4, 3],
              [3, 2],
            ],
      );
      expect(chain.body.items.every((item: Item) => item.verification?.chain.valid === true)).toBe(true);
      expect(chain.body.items.some((item: Item) => 'envelope' in item)).toBe(false);
    }
  });

  it('marks the items that were tampered with', async () => {
    const subject = await world.written(4);
    await world.tamper(subject, 2, `envelope = replace(envelope, 'Zürich', 'Basel')`);
    const verdicts = async (query: string): Promise<unknown[]> =>
      (await world.read(`${path(subject)}?order=asc&${query}`)).body.items.map(({ verification }: Item) =>
        query.includes('hash') ? verification?.hash.valid : verification?.chain.valid,
      );
    expect(await verdicts('verify=hash')).toEqual([true, false, true, true]);
    expect(await verdicts('verify=chain')).toEqual([true, false, false, true]);
    expect(await verdicts('verify=chain&depth=2')).toEqual([true, false, false, false]);
    await world.tamper(subject, 2, `envelope_hash = sha256(convert_to(envelope, 'UTF8'))`);
    expect(await verdicts('verify=hash')).toEqual([true, true, true, true]);
    expect(await verdicts('verify=chain')).toEqual([true, true, false, true]);
  });

  it.each([
    ['limit=0', '/query/limit'],
    ['limit=-1', '/query/limit'],
    ['limit=abc', '/query/limit'],
    [`limit=${max + 1}`, '/query/limit'],
    ['limit=1&limit=2', '/query/limit'],
    ['order=up', '/query/order'],
    ['view=all', '/query/view'],
    ['verify=all', '/query/verify'],
    ['depth=0', '/query/depth'],
    ['depth=1001', '/query/depth'],
    ['cursor=abc', '/query/cursor'],
    [`cursor=${'A'.repeat(12_000)}`, '/query/cursor'],
    ['from=1', '/query/from'],
  ])('refuses %s', async (query, at) => {
    expect(await world.faultOf(`${path(await world.lineage(1))}?${query}`)).toMatchObject({ path: at });
  });

  it('accepts a cursor only for the same subject, order and route', async () => {
    const subject = await world.lineage(3);
    const { body } = await world.read(`${path(subject)}?limit=${max}`);
    expect(body.items).toHaveLength(3);
    const cursor = (await world.read(`${path(subject)}?limit=1`)).body.next_cursor;
    const [payload, tag] = cursor.split('.');
    const edited = `${Buffer.from('[1]').toString('base64url')}.${tag}`;
    const other = name === 'history' ? 'snapshots' : 'history';
    for (const foreign of [
      `${path(subject)}?cursor=${edited}`,
      `${path(subject)}?cursor=${payload}`,
      `${path(subject)}?cursor=${cursor}&order=asc`,
      `${path(await world.lineage(3))}?cursor=${cursor}`,
      `${pathOf(form, subject)}/${other}?cursor=${cursor}`,
      `${pathOf(form, subject)}/chain-proof?cursor=${cursor}`,
    ]) {
      expect(await world.faultOf(foreign)).toMatchObject({ path: '/query/cursor' });
    }
    await world.read(`${path(subject)}?cursor=${cursor}&view=header&limit=2`);
  });
});

// One route of each form, because both routes of a form share the code of their pages.
describe.each([
  ['/v1', 'snapshots'],
  ['/v1/tenants/acme', 'history'],
])('large envelopes in the history at %s …/%s', (form, name) => {
  const path = (subject: Subject): string => `${pathOf(form, subject)}/${name}`;

  it('are all verified on one page', async () => {
    const subject = await world.lineage(8, 1_000_000);
    for (const order of ['asc', 'desc']) {
      const { body } = await world.read(`${path(subject)}?view=full&limit=7&order=${order}&verify=hash`);
      const versions = body.items.map((item: Item) => item.snapshot_version);
      expect(versions).toEqual(order === 'asc' ? [1, 2, 3, 4, 5, 6, 7] : [8, 7, 6, 5, 4, 3, 2]);
      expect(body.items.every((item: Item) => item.verification?.hash.valid === true)).toBe(true);
      expect(body.has_more).toBe(true);
    }
  });

  it('end a page after 8 MiB, with a cursor to the next page', async () => {
    const subject = await world.lineage(10, 1_000_000);
    const first = await world.read(`${path(subject)}?view=full&limit=20&order=asc`);
    const next = await world.read(
      `${path(subject)}?view=full&limit=20&order=asc&cursor=${encodeURIComponent(first.body.next_cursor)}`,
    );
    const versions = [first, next].map(({ body }) => body.items.map((item: Item) => item.snapshot_version));
    expect(versions).toEqual([
      [1, 2, 3, 4, 5, 6, 7, 8],
      [9, 10],
    ]);
    expect(next.body.next_cursor).toBeNull();
    const headers = await world.read(`${path(subject)}?view=header&limit=20`);
    expect(headers.body.items).toHaveLength(10);
  });
});

describe.each(FORMS)('the chain proof at %s', (form) => {
  const path = (subject: Subject): string => `${pathOf(form, subject)}/chain-proof`;

  it('returns the newest links by default, and whether they are complete', async () => {
    const byDefault = form === '/v1' ? 50 : 200;
    const subject = await world.lineage(201);
    const { body } = await world.read(path(subject));
    expect(body.chain.map((item: Item) => item.snapshot_version)).toEqual(
      Array.from({ length: byDefault }, (_, at) => 201 - at),
    );
    expect(body).toMatchObject({ complete: false, chain_valid: true, has_more: true });
    const rest = await world.read(`${path(subject)}?cursor=${body.next_cursor}`);
    expect(rest.body.complete).toBe(false);
    const whole = await world.lineage(byDefault);
    expect((await world.read(path(whole))).body).toMatchObject({ complete: true, next_cursor: null });
    for (const order of ['asc', 'desc']) {
      const part = await world.read(`${path(whole)}?order=${order}&limit=${byDefault - 1}`);
      expect(part.body.complete).toBe(false);
    }
  });

  it('returns the same links as items and as chain', async () => {
    const subject = await world.written(3);
    const { body } = await world.read(path(subject));
    const headers = (await world.read(`${pathOf(form, subject)}/history?view=header`)).body.items;
    const items = headers.map(
      ({ snapshot_id, snapshot_version, envelope_hash, prev_hash, generated_at }: Record<string, unknown>) => ({
        snapshot_id,
        snapshot_version,
        envelope_hash,
        prev_hash,
        generated_at,
        chain_valid: true,
      }),
    );
    expect(body).toEqual({
      ...subject,
      items,
      chain: items,
      chain_valid: true,
      complete: true,
      next_cursor: null,
      has_more: false,
      page: { order: 'desc', limit: form === '/v1' ? 50 : 200, next_cursor: null },
    });
  });

  it('is paged, and verifies each page with the parent beyond it', async () => {
    const subject = await world.lineage(7);
    for (const order of ['asc', 'desc']) {
      const seen: number[] = [];
      let cursor = '';
      do {
        const { body } = await world.read(`${path(subject)}?limit=3&order=${order}${cursor && `&cursor=${cursor}`}`);
        expect(body.chain_valid).toBe(true);
        seen.push(...body.chain.map((item: Item) => item.snapshot_version));
        cursor = body.next_cursor ?? '';
      } while (cursor !== '');
      expect(seen).toEqual(order === 'asc' ? [1, 2, 3, 4, 5, 6, 7] : [7, 6, 5, 4, 3, 2, 1]);
    }
  });

  itInDatabase('recomputes each hash, and marks tampered and missing ones', async () => {
    const subject = await world.written(5);
    const valid = async (query = ''): Promise<unknown> => {
      const { body } = await world.read(`${path(subject)}?order=asc${query}`);
      return [body.chain_valid, ...body.items.map((item: Item) => item.chain_valid)];
    };
    expect(await valid()).toEqual([true, true, true, true, true, true]);
    await world.tamper(subject, 2, `envelope = replace(envelope, 'Zürich', 'Basel')`);
    expect(await valid()).toEqual([false, true, false, false, true, true]);
    await world.tamper(subject, 2, `envelope_hash = sha256(convert_to(envelope, 'UTF8'))`);
    expect(await valid()).toEqual([false, true, true, false, true, true]);
    expect(await valid('&limit=2')).toEqual([true, true, true]);
    await world.tamper(subject, 5, `prev_hash = NULL, envelope_hash = NULL`);
    await world.tamper(subject, 4, `envelope_hash = NULL`);
    expect(await valid()).toEqual([false, true, true, false, null, null]);
  });

  it.each([
    ['limit=0', '/query/limit'],
    ['limit=201', '/query/limit'],
    ['order=up', '/query/order'],
    ['verify=full', '/query/verify'],
    ['depth=0', '/query/depth'],
    ['view=none', '/query/view'],
    ['cursor=abc', '/query/cursor'],
  ])('refuses %s', async (query, at) => {
    expect(await world.faultOf(`${path(await world.lineage(1))}?${query}`)).toMatchObject({ path: at });
  });
});
