import { GrantWorld, places, principalOf, walk } from './grant-world';
import type { Subject } from './read-world';

let world: GrantWorld;

beforeAll(async () => {
  world = await GrantWorld.open();
});

afterAll(() => world?.close());

afterEach(() => world.revokeAll());

const EVERY = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'];
const ON_ALL = { subject_type: '*' };

const idsOf = (body: { items: { subject_id: string }[] }): string[] => body.items.map(({ subject_id }) => subject_id);

const READS = ['latest', 'version', 'history', 'by id', 'proof', 'export', 'summary', 'diff'] as const;
type Read = (typeof READS)[number];

/** Returns the statuses that beta's member bob gets for these reads: for beta, and in the global form. */
async function readsOf(
  { subject_id }: Subject,
  snapshotId: string,
  names: readonly Read[] = READS,
): Promise<Partial<Record<Read, [number, number]>>> {
  const subject = `/subjects/organization/${subject_id}`;
  const paths: Record<Read, string> = {
    latest: `${subject}/snapshots/latest`,
    version: `${subject}/snapshots/1`,
    history: `${subject}/history`,
    'by id': `/snapshots/${snapshotId}`,
    proof: `${subject}/chain-proof`,
    export: `${subject}/export`,
    summary: subject,
    diff: `/snapshots/${snapshotId}/diff/${snapshotId}`,
  };
  const answers: Partial<Record<Read, [number, number]>> = {};
  for (const name of names) {
    const path = paths[name];
    const ofTenant = await world.gateway.as('bob', 'get', `/v1/tenants/beta${path}`);
    const global = await world.gateway.as('bob', 'get', `/v1${path}`);
    answers[name] = [ofTenant.status, global.status];
  }
  return answers;
}

const latestIdOf = async ({ subject_id }: Subject): Promise<string> => {
  const path = `/v1/tenants/acme/subjects/organization/${subject_id}/snapshots/latest`;
  return (await world.gateway.as('alice', 'get', path).expect(200)).body.snapshot_id;
};

const historyOf = async ({ subject_id }: Subject, query = '') => {
  const path = `/v1/tenants/acme/subjects/organization/${subject_id}/access-history${query}`;
  return (await world.gateway.as('alice', 'get', path).expect(200)).body;
};

describe('a grant on all subjects', () => {
  it('allows every read of existing and later subjects until it is revoked', async () => {
    const before = await world.addSubject();
    const { body: grant } = await world.create({ ...ON_ALL, scopes: EVERY }).expect(201);
    expect(grant).toMatchObject({
      subject_type: '*',
      subject_id: '*',
      status: 'active',
      granted_by: principalOf('alice'),
    });
    const after = await world.addSubject();
    for (const subject of [before, after]) {
      const snapshotId = await latestIdOf(subject);
      const answers = await readsOf(subject, snapshotId);
      expect(new Set(Object.values(answers).flat())).toEqual(new Set([200]));
    }
    await world.revoke(grant.grant_id).expect(200);
    const answers = await readsOf(after, await latestIdOf(after));
    expect(new Set(Object.values(answers).map(([ofTenant]) => ofTenant))).toEqual(new Set([403]));
    expect(new Set(Object.values(answers).map(([, global]) => global))).toEqual(new Set([404]));
  });

  it('gives only its scopes, only on subjects of its grantor, and only until it expires', async () => {
    const subject = await world.addSubject();
    const others = await world.addSubject(undefined, 'o1', 'gamma');
    const grantId = await world.grantOn({ ...subject, ...ON_ALL, subject_id: '*' }, { scopes: ['read_lineage'] });
    const answers = await readsOf(subject, await latestIdOf(subject), ['latest', 'history', 'diff', 'by id']);
    expect(answers).toEqual({ latest: [403, 404], history: [200, 200], diff: [403, 404], 'by id': [403, 404] });
    await world.gateway
      .as('bob', 'get', `/v1/tenants/beta/subjects/organization/${others.subject_id}/history`)
      .expect(403);
    await world.expire(grantId);
    expect(await readsOf(subject, await latestIdOf(subject), ['history'])).toEqual({ history: [403, 404] });
  });

  it('adds its scopes to those of a grant on a subject, and each ends independently', async () => {
    const subject = await world.addSubject();
    const onAll = await world.grantOn({ ...subject, ...ON_ALL, subject_id: '*' }, { scopes: ['read_lineage'] });
    const single = await world.grantOn(subject, { scopes: ['read_latest'] });
    const snapshotId = await latestIdOf(subject);
    expect(await readsOf(subject, snapshotId, ['latest', 'history'])).toEqual({
      latest: [200, 200],
      history: [200, 200],
    });
    await world.revoke(onAll).expect(200);
    expect(await readsOf(subject, snapshotId, ['latest', 'history'])).toEqual({
      latest: [200, 200],
      history: [403, 404],
    });
    await world.grantOn({ ...subject, ...ON_ALL, subject_id: '*' }, { scopes: ['read_diff'] });
    await world.revoke(single).expect(200);
    expect(await readsOf(subject, snapshotId, ['latest', 'diff'])).toEqual({ latest: [403, 404], diff: [200, 200] });
  });

  it('does not reveal whether a subject exists', async () => {
    await world.create({ ...ON_ALL, scopes: EVERY }).expect(201);
    const path = '/v1/tenants/beta/subjects/organization/no-such-subject/snapshots/latest';
    const { body } = await world.gateway.as('bob', 'get', path).expect(403);
    const stranger = await world.gateway.as('zoe', 'get', path).expect(403);
    expect(body.error.message).toBe(stranger.body.error.message);
  });

  it('allows its grantee to create refresh requests', async () => {
    const subject = await world.addSubject();
    const path = `/v1/subjects/organization/${subject.subject_id}/refresh-requests`;
    const ask = () => world.gateway.as('bob', 'post', path).send({ requesting_tenant_id: 'beta' });
    await ask().expect(403);
    const { body: grant } = await world.create(ON_ALL).expect(201);
    const { body } = await ask().expect(201);
    await world.gateway.as('bob', 'get', `${path}?requesting_tenant_id=beta`).expect(200);
    await world.gateway.as('bob', 'get', `${path}/${body.refresh_request.request_id}`).expect(200);
    await world.revoke(grant.grant_id).expect(200);
    await ask().expect(403);
  });

  it('exists once per pair of tenants, even without a subject', async () => {
    await world.gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'empty', name: 'x' }).expect(201);
    const { body } = await world.create(ON_ALL, 'alice', 'empty').expect(201);
    await world.create(ON_ALL, 'alice', 'empty').expect(409);
    await world.revoke(body.grant_id, 'alice', 'empty').expect(200);
    await world.create(ON_ALL, 'alice', 'empty').expect(201);
    // A refused request leaves no grant: one of the concurrent requests below succeeds.
    await world.create(ON_ALL, 'editor').expect(403);
    await world.create({ ...ON_ALL, grantee_tenant_id: 'no-such-tenant' }).expect(409);
    const race = await Promise.all(Array.from({ length: 20 }, async () => world.create(ON_ALL)));
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });

  describe('before acceptance', () => {
    const idsIn = async (query: string): Promise<string[]> =>
      (await world.list(query, 'zoe', 'beta').expect(200)).body.items.map(
        (item: { grant_id: string }) => item.grant_id,
      );
    const OFFERED = '?direction=offered';

    it('allows reads, and is in the list of received grants only after the first read', async () => {
      const subject = await world.addSubject();
      const { body: granted } = await world.create({ ...ON_ALL, purpose: 'all' }).expect(201);
      const grantId: string = granted.grant_id;
      expect(granted.accepted_at).toBeNull();
      expect(idsOf((await world.accessible('?limit=200').expect(200)).body)).not.toContain(subject.subject_id);
      expect([await idsIn('?direction=received'), await idsIn(OFFERED)]).toEqual([
        expect.not.arrayContaining([grantId]),
        expect.arrayContaining([grantId]),
      ]);

      await world.readLatest(subject).expect(200);
      expect(idsOf((await world.accessible('?limit=200').expect(200)).body)).toContain(subject.subject_id);
      expect([await idsIn('?direction=received'), await idsIn(OFFERED)]).toEqual([
        expect.arrayContaining([grantId]),
        expect.not.arrayContaining([grantId]),
      ]);
      const path = `/v1/tenants/acme/subjects/organization/${subject.subject_id}/disclosures`;
      const { body } = await world.gateway.as('alice', 'get', path).expect(200);
      expect(body.items).toMatchObject([{ grant_id: grantId, purpose: 'all', principal_id: principalOf('bob') }]);
    });

    it('can be accepted only by an admin of the grantee, while it is active', async () => {
      const subject = await world.addSubject();
      const { body } = await world.create(ON_ALL).expect(201);
      await world.accept(body.grant_id, 'proposer').expect(403);
      await world.accept(body.grant_id, 'alice', 'acme').expect(404);
      const accepted = await world.accept(body.grant_id).expect(200);
      expect(accepted.body.accepted_at).toEqual(expect.any(String));
      expect((await world.accept(body.grant_id).expect(200)).body).toEqual(accepted.body);
      expect(idsOf((await world.accessible('?limit=200').expect(200)).body)).toContain(subject.subject_id);
      const { body: trail } = await world.gateway.as('zoe', 'get', '/v1/tenants/beta/audit').expect(200);
      expect(trail.items[0]).toMatchObject({
        action: 'grant.accepted',
        principal_id: principalOf('zoe'),
        target: { grant_id: body.grant_id, grantor_tenant_id: 'acme', subject_type: '*', subject_id: '*' },
      });
      await world.revoke(body.grant_id).expect(200);
      const { body: next } = await world.create(ON_ALL).expect(201);
      await world.revoke(next.grant_id).expect(200);
      await world.accept(next.grant_id).expect(409);
    });

    it('is not accepted by a read that a grant on the subject allows', async () => {
      const subject = await world.addSubject();
      const single = await world.grantOn(subject, { scopes: ['read_latest'] });
      const { body } = await world.create({ ...ON_ALL, scopes: ['read_lineage'] }).expect(201);
      await world.readLatest(subject).expect(200);
      expect(await idsIn(OFFERED)).toContain(body.grant_id);
      await world.gateway.as('bob', 'get', `/v1/subjects/organization/${subject.subject_id}/history`).expect(200);
      expect(await idsIn(OFFERED)).not.toContain(body.grant_id);
      const path = `/v1/tenants/acme/subjects/organization/${subject.subject_id}/disclosures`;
      const { body: shown } = await world.gateway.as('alice', 'get', path).expect(200);
      expect(shown.items.map((item: { grant_id: string }) => item.grant_id)).toEqual([body.grant_id, single]);
    });
  });

  it('is in the lists of its grantor, of each subject and of accessible subjects', async () => {
    const [first, second, third] = [await world.addSubject(), await world.addSubject(), await world.addSubject()];
    const own = [first, second, third].map(({ subject_id }) => subject_id);
    const expires_at = '2999-01-01T00:00:00.000Z';
    const single = await world.grantOn(second, { scopes: ['read_diff'], purpose: 'this one', expires_at });
    const onAll = await world.grantOnAll({ scopes: ['read_latest'], purpose: 'all' });
    const elsewhere = await world.addSubject(undefined, 'o1', 'gamma');
    await world.create(elsewhere, 'o1', 'gamma').expect(201);

    expect((await world.list('?limit=1').expect(200)).body.items).toMatchObject([{ grant_id: onAll, subject_id: '*' }]);
    const onSecond = await walk((query) => world.ofSubject(second, 'admin', 'acme', query), 1);
    expect(onSecond.flat().slice(0, 2)).toEqual([onAll, single]);
    expect((await world.ofSubject(elsewhere, 'o1', 'gamma').expect(200)).body.items).toHaveLength(1);

    const { body } = await world.accessible('?limit=200').expect(200);
    const items: { subject_id: string }[] = body.items;
    // Grants on single subjects come first.
    expect(items[0]).toMatchObject({ subject_id: elsewhere.subject_id });
    expect(idsOf({ items }).filter((id) => own.includes(id))).toEqual([...own].sort());
    expect(items.find(({ subject_id }) => subject_id === second.subject_id)).toMatchObject({
      grant_id: single,
      scopes: ['read_diff', 'read_latest'],
      purpose: 'this one',
      expires_at,
      latest_snapshot: { snapshot_version: 1 },
    });
    expect(items.find(({ subject_id }) => subject_id === third.subject_id)).toMatchObject({
      grant_id: onAll,
      scopes: ['read_latest'],
      purpose: 'all',
      granted_by_tenant_id: 'acme',
    });

    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const page = (await world.accessible(`?limit=2${cursor}`).expect(200)).body;
      seen.push(...idsOf(page));
      if (page.next_cursor === null) break;
      // The pages neither repeat nor omit a subject.
      if (cursor === '') await world.revoke(single).expect(200);
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(seen).toEqual(idsOf(body));
  });
});

describe('changing a grant', () => {
  it('takes effect on the next read, and is recorded', async () => {
    const subject = await world.addSubject();
    const { body: grant } = await world.create({ ...subject, scopes: EVERY }).expect(201);
    const snapshotId = await latestIdOf(subject);
    const { body } = await world
      .change(
        grant.grant_id,
        { scopes: ['read_diff'], expires_at: '2999-01-01T00:00:00Z', reason: 'narrower' },
        'admin',
      )
      .expect(200);
    expect(body).toEqual({ ...grant, grant: undefined, scopes: ['read_diff'], expires_at: '2999-01-01T00:00:00.000Z' });
    expect(await readsOf(subject, snapshotId, ['latest', 'diff'])).toEqual({ latest: [403, 404], diff: [200, 200] });
    await world.change(grant.grant_id, { scopes: ['read_latest'], expires_at: null, purpose: 'p' }).expect(200);
    expect(await readsOf(subject, snapshotId, ['latest', 'diff'])).toEqual({ latest: [200, 200], diff: [403, 404] });
    expect((await world.ofSubject(subject).expect(200)).body.items[0]).toMatchObject({
      grant_id: grant.grant_id,
      scopes: ['read_latest'],
      expires_at: null,
      purpose: 'p',
      status: 'active',
    });
    const { rows } = await world.superuser.query(
      `SELECT scopes, from_scopes, expires_at IS NULL AS endless, from_expires_at IS NULL AS was_endless, changed_by, reason
         FROM grant_changes WHERE grant_id = $1 ORDER BY grant_change_id`,
      [grant.grant_id],
    );
    expect(rows).toEqual([
      {
        scopes: ['read_diff'],
        from_scopes: EVERY,
        endless: false,
        was_endless: true,
        changed_by: principalOf('admin'),
        reason: 'narrower',
      },
      {
        scopes: ['read_latest'],
        from_scopes: ['read_diff'],
        endless: true,
        was_endless: false,
        changed_by: principalOf('alice'),
        reason: null,
      },
    ]);
  });

  it('records nothing for an empty change or a changed purpose', async () => {
    const grantId = await world.grantOn(await world.addSubject(), { scopes: ['read_diff', 'read_latest'] });
    const { body } = await world
      .change(grantId, { scopes: ['read_latest', 'read_diff'], expires_at: null })
      .expect(200);
    expect(body.scopes).toEqual(['read_diff', 'read_latest']);
    expect((await world.change(grantId, { purpose: 'why' }).expect(200)).body.purpose).toBe('why');
    expect((await world.change(grantId, { purpose: null }).expect(200)).body.purpose).toBeNull();
    const changes = await world.superuser.query('SELECT FROM grant_changes WHERE grant_id = $1', [grantId]);
    expect(changes.rowCount).toBe(0);
  });

  it('is refused for other callers, invalid bodies, and grants that are not live', async () => {
    const grantId = await world.grantOn(await world.addSubject());
    const narrower = { scopes: ['read_diff'] };
    await world.change(grantId, narrower, 'editor').expect(403);
    await world.change(grantId, narrower, 'bob', 'beta').expect(404);
    expect((await world.list('?limit=1').expect(200)).body.items).toMatchObject([
      { grant_id: grantId, scopes: ['read_latest'] },
    ]);
    await world.change('00000000-0000-4000-8000-000000000000', narrower).expect(404);
    expect(places(await world.change(grantId, {}).expect(400))).toEqual(['']);
    expect(places(await world.change(grantId, { reason: 'none' }).expect(400))).toEqual(['']);
    expect(places(await world.change(grantId, { expires_at: '2020-01-01T00:00:00Z' }).expect(400))).toEqual([
      '/expires_at',
    ]);
    expect(places(await world.change(grantId, { grantee_tenant_id: 'gamma' }).expect(400))).toEqual([
      '/grantee_tenant_id',
    ]);
    await world.revoke(grantId).expect(200);
    for (const change of [narrower, { scopes: ['read_latest'] }]) {
      const { body } = await world.change(grantId, change).expect(409);
      expect(body.error.message).toContain('already revoked');
    }
    const expired = await world.grantOn(await world.addSubject());
    await world.expire(expired);
    expect((await world.change(expired, narrower).expect(409)).body.error.message).toContain('already expired');
  });

  it('records gapless periods for concurrent changes and a revocation', async () => {
    const subject = await world.addSubject();
    const grantId = await world.grantOn(subject);
    const scopes = [['read_diff'], ['read_latest'], ['read_lineage'], EVERY];
    await Promise.all(Array.from({ length: 20 }, async (_, n) => world.change(grantId, { scopes: scopes[n % 4] })));
    await Promise.all([
      ...Array.from({ length: 10 }, async (_, n) => world.change(grantId, { scopes: scopes[n % 4] })),
      world.revoke(grantId).expect(200),
    ]);
    const { items } = await historyOf(subject, '?limit=200');
    const told: { grant_id: string; from: string; until: string; ended_by: string }[] = items.reverse();
    const periods = told.filter(({ grant_id }) => grant_id === grantId);
    expect(periods.map(({ ended_by }) => ended_by)).toEqual([...periods.slice(1).map(() => 'replaced'), 'revoked']);
    for (const [index, { from, until }] of periods.entries()) {
      expect(Date.parse(from)).toBeLessThanOrEqual(Date.parse(until));
      if (index > 0) expect(from).toBe(periods[index - 1]?.until);
    }
  });
});

describe('the access history of a subject', () => {
  it('contains a period per change of grants on the subject and on all subjects', async () => {
    const subject = await world.addSubject();
    const onAll = await world.grantOn(ON_ALL as Subject, { scopes: ['read_lineage'] });
    const single = await world.grantOn(subject);
    await world.change(single, { scopes: ['read_diff'] }).expect(200);
    await world.change(onAll, { scopes: ['read_diff'] }).expect(200);
    await world.revoke(single).expect(200);
    const { items } = await historyOf(subject);
    const told = items.map(
      (item: { grant_id: string; subject_id: string; scopes: string[]; ended_by: string | null }) => [
        item.grant_id,
        item.subject_id,
        item.scopes[0],
        item.ended_by,
      ],
    );
    const own = told.filter(([id]: [string]) => id === single || id === onAll);
    expect(own).toEqual([
      [onAll, '*', 'read_diff', null],
      [single, subject.subject_id, 'read_diff', 'revoked'],
      [single, subject.subject_id, 'read_latest', 'replaced'],
      [onAll, '*', 'read_lineage', 'replaced'],
    ]);
    const pages: unknown[] = [];
    for (let cursor = ''; ;) {
      const page = await historyOf(subject, `?limit=1${cursor}`);
      pages.push(...page.items);
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(pages).toEqual(items);
  });
});

interface Result {
  index: number;
  status: number;
  grant?: { grant_id: string; subject_id: string };
  error?: { code: string; message: string; details?: { path: string }[] };
}

describe('many grants in one request', () => {
  const toBeta = { grantee_tenant_id: 'beta', scopes: ['read_latest'] };
  const statusesOf = ({ items }: { items: Result[] }): number[] => items.map(({ status }) => status);

  it('each have their own result, in order', async () => {
    const [first, second] = [await world.addSubject(), await world.addSubject()];
    const others = await world.addSubject(undefined, 'o1', 'gamma');
    await world.grantOn(second);
    const sent: unknown[] = [
      { ...toBeta, ...first, purpose: 'batch' },
      { ...toBeta, ...second },
      { ...toBeta, ...others },
      { ...toBeta, ...first },
      { ...toBeta, ...first, grantee_tenant_id: 'gamma' },
      { ...toBeta, ...first, grantee_tenant_id: 'no-such-tenant' },
      { ...toBeta, ...first, scopes: ['write'], more: 1 },
      'grant',
      { ...toBeta, ...first, expires_at: '2020-01-01T00:00:00Z' },
      { ...toBeta, ...first, grantee_tenant_id: 'acme' },
      { ...toBeta, subject_type: '*' },
      { ...toBeta, ...first, subject_type: 'entity' },
      { ...toBeta, ...first, ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`x${at}`, 1])) },
    ];
    const { body } = await world.createMany(sent).expect(200);
    const items: Result[] = body.items;
    expect(items.map(({ index }) => index)).toEqual(sent.map((_, index) => index));
    expect(statusesOf(body)).toEqual([201, 409, 403, 409, 201, 409, 400, 400, 400, 400, 201, 403, 400]);
    expect(items[0]?.grant).toMatchObject({
      ...first,
      purpose: 'batch',
      status: 'active',
      granted_by: principalOf('alice'),
    });
    expect(items.map(({ error }) => error?.details?.map(({ path }) => path))).toEqual([
      undefined,
      ['/grants/1/grantee_tenant_id'],
      undefined,
      ['/grants/3/grantee_tenant_id'],
      undefined,
      ['/grants/5/grantee_tenant_id'],
      ['/grants/6/more', '/grants/6/scopes'],
      ['/grants/7'],
      ['/grants/8/expires_at'],
      ['/grants/9/grantee_tenant_id'],
      undefined,
      undefined,
      Array.from({ length: 10 }, () => expect.stringMatching(/^\/grants\/12\/x\d+$/)),
    ]);
    await world.readLatest(first).expect(200);
  });

  it('do not deadlock in concurrent requests, and are refused at the cap', async () => {
    const subjects = await world.addSubjects(70);
    const { body } = await world.createMany(subjects.map((subject) => ({ ...toBeta, ...subject }))).expect(200);
    expect(new Set(statusesOf(body))).toEqual(new Set([201]));

    // The requests name the grants from both ends. If each locked the grants in the order of its request, they would
    // wait for each other forever.
    const toGamma = subjects.slice(0, 60).map((subject) => ({ ...toBeta, ...subject, grantee_tenant_id: 'gamma' }));
    const rounds = await Promise.all(
      [toGamma, [...toGamma].reverse(), toGamma, [...toGamma].reverse()].map(async (grants) =>
        world.createMany(grants),
      ),
    );
    const made = rounds.flatMap(({ body: { items } }: { body: { items: Result[] } }) => items);
    expect(made.filter(({ status }) => status === 201)).toHaveLength(60);
    expect(made.filter(({ status }) => status === 409)).toHaveLength(180);

    await world.superuser.query(
      `INSERT INTO limit_overrides (scope, scope_id, limit_name, value) VALUES ('tenant', 'acme', 'live_grants_per_subject', 2)`,
    );
    const [subject] = subjects;
    await world.gateway.as('o1', 'post', '/v1/tenants').send({ tenant_id: 'delta', name: 'x' }).expect(201);
    const over = [
      { ...toBeta, ...subject, grantee_tenant_id: 'delta' },
      { ...toBeta, ...(await world.addSubject()) },
    ];
    const limited = await world.createMany(over).expect(200);
    expect(statusesOf(limited.body)).toEqual([403, 201]);
    expect(limited.body.items[0].error.code).toBe('limit_reached');
    await world.superuser.query(`DELETE FROM limit_overrides WHERE scope_id = 'acme'`);
  });

  it('must be between 1 and 1,000', async () => {
    const one = { ...toBeta, ...(await world.addSubject()) };
    // A refused request leaves no grant: one of the thousand below is created.
    await world.createMany([one], 'editor').expect(403);
    await world.createMany(['grant'], 'bob').expect(403);
    expect(places(await world.createMany([]).expect(400))).toEqual(['/grants']);
    expect(places(await world.createMany(Array.from({ length: 1_001 }, () => 0)).expect(400))).toEqual(['/grants']);
    expect(places(await world.createMany('grants').expect(400))).toEqual(['/grants']);
    const { body } = await world.createMany(Array.from({ length: 1_000 }, () => one)).expect(200);
    expect(statusesOf(body).filter((status) => status === 201)).toHaveLength(1);
    expect(statusesOf(body).filter((status) => status === 409)).toHaveLength(999);
  });

  it('are created once per Idempotency-Key', async () => {
    const grants = [{ ...toBeta, ...(await world.addSubject()) }];
    const first = await world.createMany(grants).set('Idempotency-Key', 'batch-1').expect(200);
    const again = await world.createMany(grants).set('Idempotency-Key', 'batch-1').expect(200);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
  });
});
