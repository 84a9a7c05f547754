import { GrantWorld, places, principalOf } from './grant-world';
import { envelope } from './gateway';
import type { Subject } from './read-world';

const NAME = '/attributes/legal/legal_name';
const FUTURE = '2998-01-01T00:00:00.000Z';
const END = '2999-01-01T00:00:00.000Z';

let world: GrantWorld;

beforeAll(async () => {
  world = await GrantWorld.open();
});

afterAll(() => world?.close());

async function addNamed(id: string): Promise<Subject> {
  const subject = { subject_type: 'organization', subject_id: id };
  const body = envelope({
    subject,
    attributes: { legal: { legal_name: `Name of ${id}` }, identifiers: { lei: `lei-${id}` } },
  });
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
  return subject;
}

describe('a grant with paths', () => {
  it('returns its paths sorted and without nested ones, in each list', async () => {
    const subject = await addNamed('listed');
    const { body } = await world
      .create({ ...subject, paths: [NAME, '/attributes/legal', '/attributes/identifiers/lei', NAME] })
      .expect(201);
    const paths = ['/attributes/identifiers/lei', '/attributes/legal'];
    expect(body.paths).toEqual(paths);
    for (const list of [world.ofSubject(subject), world.accessible(), world.list(`?grantee_tenant_id=beta`)]) {
      const { items } = (await list.expect(200)).body;
      expect(items.find((item: Subject) => item.subject_id === 'listed')).toMatchObject({ paths });
    }
  });

  it.each<[object, string]>([
    [{ paths: [] }, '/paths'],
    [{ paths: ['/attributes'] }, '/paths/0'],
    [{ paths: ['/evidence'] }, '/paths/0'],
    [{ paths: [NAME, 'attributes/legal'] }, '/paths/1'],
    [{ paths: ['/attributes/a~2'] }, '/paths/0'],
    [{ paths: [7] }, '/paths/0'],
    [{ paths: NAME }, '/paths'],
    [{ paths: Array.from({ length: 101 }, (_, at) => `/attributes/a${at}`) }, '/paths'],
    [{ starts_at: '2998-01-01' }, '/starts_at'],
    [{ starts_at: END, expires_at: FUTURE }, '/starts_at'],
    [{ starts_at: FUTURE, expires_at: FUTURE }, '/starts_at'],
  ])('refuses %j and names %s', async (change, path) => {
    const answer = await world.create({ subject_type: 'organization', subject_id: 'a', ...change }).expect(400);
    expect([answer.body.error.code, places(answer)]).toEqual(['validation_error', [path]]);
  });

  it('makes its subject findable only by a name or identifier that its paths cover', async () => {
    const [byName, byLei] = [await addNamed('by-name'), await addNamed('by-lei')];
    await world.grantOn(byName, { paths: [NAME] });
    await world.grantOn(byLei, { paths: ['/attributes/identifiers'] });
    const found = async (query: string): Promise<string[]> => {
      const { body } = await world.accessible(query).expect(200);
      return body.items.map(({ subject_id: id }: Subject) => id);
    };
    expect(await found('?q=Name of by')).toEqual(['by-name']);
    expect(await found('?identifier=lei:lei-by-lei')).toEqual(['by-lei']);
    expect(await found('?identifier=lei:lei-by-name')).toEqual([]);
  });

  it('is disclosed with its paths to the owner and to the grantee', async () => {
    const subject = await addNamed('disclosed');
    await world.grantOn(subject, { paths: [NAME] });
    await world.readLatest(subject).expect(200);
    for (const [user, path] of [
      ['admin', '/v1/tenants/acme/subjects/organization/disclosed/disclosures'],
      ['zoe', '/v1/tenants/beta/disclosures?subject_type=organization&subject_id=disclosed'],
    ] as const) {
      const { body } = await world.gateway.as(user, 'get', path).expect(200);
      expect(body.items).toEqual([expect.objectContaining({ via: 'snapshot', paths: [NAME] })]);
    }
  });

  it('can be narrowed and widened by its owner, and each period is recorded', async () => {
    const subject = await addNamed('changed');
    const grantId = await world.grantOn(subject, { paths: ['/attributes/legal'] });
    const shown = async () => (await world.readLatest(subject).expect(200)).body;
    expect((await shown()).envelope.attributes).toEqual({ legal: { legal_name: 'Name of changed' } });
    await world.change(grantId, { paths: ['/attributes/identifiers'] }).expect(200);
    expect((await shown()).envelope.attributes).toEqual({ identifiers: { lei: 'lei-changed' } });
    await world.change(grantId, { paths: null }).expect(200);
    expect(await shown()).not.toHaveProperty('partial');
    const path = '/v1/tenants/acme/subjects/organization/changed/access-history';
    const { body } = await world.gateway.as('admin', 'get', path).expect(200);
    expect(body.items.map(({ paths }: { paths: unknown }) => paths)).toEqual([
      null,
      ['/attributes/identifiers'],
      ['/attributes/legal'],
    ]);
  });

  it('keeps its paths and start while it waits for confirmation', async () => {
    const part = { paths: [NAME], starts_at: FUTURE };
    await world.setMember('alice', 'acme', 'o2', { api_functional_role: 'tenant_admin' });
    const setting = (value: string) =>
      world.gateway.as('alice', 'patch', '/v1/tenants/acme').send({ grant_confirmation: value }).expect(200);
    await setting('required');
    const pending = await world.create({ subject_type: '*', grantee_tenant_id: 'gamma', ...part }).expect(202);
    expect(pending.body).toMatchObject({ ...part, requested_by: principalOf('alice') });
    const confirm = `/v1/tenants/acme/pending-grants/${pending.body.grant_id}/confirm`;
    const confirmed = await world.gateway.as('o2', 'post', confirm).expect(200);
    expect(confirmed.body).toMatchObject(part);
    // One person alone may narrow it, and return to what was confirmed.
    const change = (changes: object) => world.change(String(pending.body.grant_id), changes);
    await change({ starts_at: null }).expect(409);
    await change({ paths: null }).expect(409);
    await change({ starts_at: END }).expect(200);
    await change({ starts_at: FUTURE }).expect(200);
    const { body } = await world.list('?grantee_tenant_id=gamma').expect(200);
    expect(body.items).toEqual([expect.objectContaining({ ...part, status: 'scheduled' })]);
    await setting('off');
    await world.gateway.as('o2', 'patch', '/v1/tenants/acme').send({ grant_confirmation: 'off' }).expect(200);
  });
});

describe('the start of a grant', () => {
  it('gives no right before it, and all rights after it', async () => {
    const subject = await addNamed('started');
    const { body } = await world.create({ ...subject, starts_at: FUTURE, expires_at: END }).expect(201);
    expect(body).toMatchObject({ status: 'scheduled', starts_at: FUTURE });
    await world.readLatest(subject).expect(403);
    const accessible = async (): Promise<string[]> =>
      (await world.accessible().expect(200)).body.items.map(({ subject_id: id }: Subject) => id);
    expect(await accessible()).not.toContain('started');
    await world.superuser.query('UPDATE grants SET starts_at = now() WHERE grant_id = $1', [body.grant_id]);
    await world.readLatest(subject).expect(200);
    expect(await accessible()).toContain('started');
    const { items } = (await world.ofSubject(subject).expect(200)).body;
    expect(items.find((item: { grant_id: string }) => item.grant_id === body.grant_id)).toMatchObject({
      status: 'active',
    });
  });

  it('gives no right before it if the grant is on all subjects', async () => {
    const subject = await addNamed('one-of-all');
    const { body } = await world.create({ subject_type: '*', starts_at: FUTURE }).expect(201);
    await world.readLatest(subject).expect(403);
    await world.superuser.query('UPDATE grants SET starts_at = now() WHERE grant_id = $1', [body.grant_id]);
    await world.readLatest(subject).expect(200);
    await world.revoke(body.grant_id).expect(200);
  });

  it('can be moved and removed, even after the grant began, and each period is recorded', async () => {
    const subject = await addNamed('moved');
    const grantId = await world.grantOn(subject, { starts_at: FUTURE });
    await world.change(grantId, { starts_at: END }).expect(200);
    await world.readLatest(subject).expect(403);
    await world.change(grantId, { starts_at: null }).expect(200);
    await world.readLatest(subject).expect(200);
    expect(places(await world.change(grantId, { starts_at: '2020-01-01T00:00:00Z' }).expect(400))).toEqual([
      '/starts_at',
    ]);
    await world.change(grantId, { starts_at: FUTURE }).expect(200);
    await world.readLatest(subject).expect(403);
    expect(places(await world.change(grantId, { expires_at: FUTURE }).expect(400))).toEqual(['/starts_at']);
    const history = async (): Promise<[from: number, until: number][]> => {
      const path = '/v1/tenants/acme/subjects/organization/moved/access-history';
      const { items } = (await world.gateway.as('admin', 'get', path).expect(200)).body;
      type Period = { grant_id: string; from: string; until: string | null };
      // Other tenants may read all subjects.
      return items
        .filter((period: Period) => period.grant_id === grantId)
        .map(({ from, until }: Period) => [Date.parse(from), until === null ? Infinity : Date.parse(until)]);
    };
    const lengths = (periods: [from: number, until: number][]): string[] =>
      periods.map(([from, until]) => (until === Infinity ? 'open' : from === until ? 'empty' : 'over'));
    const planned = await history();
    expect(lengths(planned)).toEqual(['open', 'over', 'empty', 'empty']);
    expect(planned[0]?.[0]).toBe(Date.parse(FUTURE));
    await world.revoke(grantId).expect(200);
    expect(lengths(await history())).toEqual(['empty', 'over', 'empty', 'empty']);
  });

  it('prevents a second grant of the pair until the scheduled grant is revoked', async () => {
    const subject = await addNamed('held');
    const grantId = await world.grantOn(subject, { starts_at: FUTURE });
    await world.create(subject).expect(409);
    const { body } = await world.revoke(grantId).expect(200);
    expect(body.status).toBe('revoked');
    await world.create(subject).expect(201);
  });
});
