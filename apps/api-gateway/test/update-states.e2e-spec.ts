import type { User } from './gateway';
import {
  closeUpdates,
  database,
  FAMILIES,
  gateway,
  openUpdates,
  other,
  paths,
  putMember,
  Subject,
  UNKNOWN,
} from './updates';

beforeAll(() => openUpdates());
afterAll(() => closeUpdates());

describe('applying an update', () => {
  it('refuses a base that has become stale', async () => {
    const subject = await Subject.create();
    const [first, second] = [await subject.proposed(), await subject.proposed()];
    await subject.act('apply', first).expect(200);
    const stale = await subject.act('apply', second).expect(409);
    expect(stale.body.error.message).toContain('base snapshot is stale');
    expect((await subject.get(second)).body.status).toBe('proposed');
  });

  it('refuses a base without a hash while chain_enforced is on', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    await database.query('ALTER TABLE snapshots DISABLE TRIGGER USER');
    await database.query('UPDATE snapshots SET envelope_hash = NULL WHERE snapshot_id = $1', [subject.snapshotId]);
    await database.query('ALTER TABLE snapshots ENABLE TRIGGER USER');
    for (const family of FAMILIES) {
      const answer = await subject.act('apply', id, 'editor', family).expect(400);
      expect(answer.body.error.code).toBe('validation_error');
      expect(paths(answer)).toEqual(['/path/update_id']);
    }
    await database.query(`UPDATE tenants SET chain_enforced = false WHERE tenant_id = 'acme'`);
    const applied = await subject.act('apply', id).expect(200);
    await database.query(`UPDATE tenants SET chain_enforced = true WHERE tenant_id = 'acme'`);
    expect(applied.body).toMatchObject({ snapshot_version: 2, prev_hash: null });
  });

  it('succeeds once of twenty concurrent requests on both paths', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        return (await subject.act('apply', id, 'editor', index % 2 === 0 ? 'tenant' : 'subject')).status;
      }),
    );
    expect(statuses.filter((status) => status < 300)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    expect((await subject.latest()).snapshot_version).toBe(2);
  });

  it('succeeds for one of twenty concurrent proposals on the same base', async () => {
    const subject = await Subject.create();
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        subject.proposed('subject', { patch_ops: [{ op: 'add', path: '/attributes/n', value: index }] }),
      ),
    );
    const statuses = await Promise.all(ids.map(async (id) => (await subject.act('apply', id)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    const { snapshot_version, envelope: stored } = await subject.latest();
    expect(snapshot_version).toBe(2);
    expect(stored['attributes']).toMatchObject({ n: statuses.indexOf(200) });
    const left = await database.query(
      `SELECT status, count(*)::int FROM updates WHERE update_id = ANY ($1) GROUP BY 1`,
      [ids],
    );
    expect(left.rows).toEqual(
      expect.arrayContaining([
        { status: 'applied', count: 1 },
        { status: 'proposed', count: 19 },
      ]),
    );
  });
});

describe('withdrawing an update', () => {
  it.each(FAMILIES)('ends a proposal, on the %s-level path', async (family) => {
    const subject = await Subject.create();
    const id = await subject.proposed(other(family));
    const before = (await subject.get(id)).body;
    const withdrawn = await subject.act('withdraw', id, 'proposer', family).expect(200);
    expect(withdrawn.body).toEqual({ ...before, status: 'withdrawn', withdrawn_at: expect.stringMatching(/Z$/) });
    expect((await subject.get(id, 'reader', family)).body).toEqual(withdrawn.body);
    for (const each of FAMILIES) {
      const applied = await subject.act('apply', id, 'editor', each).expect(409);
      expect(applied.body.error.message).toContain('is withdrawn');
      const again = await subject.act('withdraw', id, 'editor', each).expect(409);
      expect(again.body.error.code).toBe('conflict');
    }
    expect((await subject.latest()).snapshot_version).toBe(1);
  });

  it('is allowed to editors, and to its author while still a proposer', async () => {
    const subject = await Subject.create();
    const [id, second] = [await subject.proposed('subject', {}, 'o2'), await subject.proposed('tenant', {}, 'o2')];
    await putMember('o2', 'tenant_reader');
    await subject.act('withdraw', id, 'o2').expect(403);
    await database.query(`UPDATE memberships SET status = 'removed' WHERE principal_id = 'oidc:test#o2'`);
    await subject.act('withdraw', id, 'o2').expect(403);
    await database.query(`UPDATE memberships SET status = 'active' WHERE principal_id = 'oidc:test#o2'`);
    await putMember('o2', 'tenant_proposer');
    await subject.act('withdraw', id, 'o2').expect(200);
    const others = await subject.proposed('subject', {}, 'editor');
    await subject.act('withdraw', others, 'o2').expect(403);
    for (const left of [others, second]) await subject.act('withdraw', left, 'editor').expect(200);
  });

  it('is possible after its base has become stale', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    await subject.act('apply', await subject.proposed()).expect(200);
    await subject.act('withdraw', id, 'proposer').expect(200);
  });

  it('excludes applying when they race', async () => {
    const winners = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const subject = await Subject.create();
        const id = await subject.proposed();
        const answers = await Promise.all(
          Array.from({ length: 6 }, (_, index) => subject.act(index % 2 === 0 ? 'apply' : 'withdraw', id)),
        );
        expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
        expect(answers.filter((answer) => answer.status === 409)).toHaveLength(5);
        const { status } = (await subject.get(id)).body;
        expect(answers.findIndex((answer) => answer.status === 200) % 2 === 0).toBe(status === 'applied');
        expect((await subject.latest()).snapshot_version).toBe(status === 'applied' ? 2 : 1);
        return status;
      }),
    );
    expect(winners.filter((status) => status !== 'applied' && status !== 'withdrawn')).toEqual([]);
  });
});

describe('one update', () => {
  const ACTIONS = [
    ['get', ''],
    ['post', '/apply'],
    ['post', '/withdraw'],
  ] as const;

  it.each(ACTIONS)('%s %s returns 404 for an unknown id, and 403 without access', async (method, action) => {
    const [subject, second] = [await Subject.create(), await Subject.create()];
    const id = await subject.proposed();
    const status = async (user: User, path: string): Promise<number> =>
      (await gateway.as(user, method, path + action)).status;

    for (const family of FAMILIES) {
      expect(await status('admin', `${subject.path(family)}/${UNKNOWN}`)).toBe(404);
      expect(await status('stranger', `${subject.path(family)}/${UNKNOWN}`)).toBe(403);
      const malformed = await gateway.as('admin', method, `${subject.path(family)}/not-a-uuid${action}`).expect(400);
      expect(paths(malformed)).toEqual(['/path/update_id']);
    }
    // The update belongs to another tenant, but is requested under the caller's own tenant and paths.
    expect(await status('bob', `${subject.path('tenant', 'beta')}/${id}`)).toBe(404);
    expect(await status('bob', `${subject.path('subject', 'beta')}/${id}`)).toBe(403);
    expect(await status('bob', `/v1/tenants/beta/subjects/entity/none/updates/${id}`)).toBe(403);
    // The path names another subject.
    expect(await status('admin', `${second.path('subject')}/${id}`)).toBe(404);
    expect(await status('admin', `/v1/tenants/acme/subjects/individual/${subject.ref.subject_id}/updates/${id}`)).toBe(
      403,
    );
    expect((await subject.get(id)).body.status).toBe('proposed');
  });
});
