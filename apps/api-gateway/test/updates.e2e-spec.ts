import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;
let database: Client;

beforeAll(async () => {
  gateway = await startGateway({ PATCH_MAX_OPERATIONS: '1000', BODY_LIMIT_BYTES: '65536' });
  database = new Client({ connectionString: gateway.databaseUrl });
  await database.connect();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beta', name: 'Beta' }).expect(201);
  for (const name of ['reader', 'proposer', 'editor', 'admin'] as const) await putMember(name, `tenant_${name}`);
  await putMember('o2', 'tenant_proposer');
});

afterAll(async () => {
  await database.end();
  await gateway.close();
});

const member = (user: User): string => `/v1/tenants/acme/members/${encodeURIComponent(`oidc:test#${user}`)}`;

async function putMember(user: User, role: string): Promise<void> {
  await gateway.as('alice', 'put', member(user)).send({ role }).expect(200);
}

type Family = 'tenant' | 'subject';
const FAMILIES: Family[] = ['tenant', 'subject'];
const other = (family: Family): Family => (family === 'tenant' ? 'subject' : 'tenant');

const RENAME = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Neu AG' }];
const UNKNOWN = 'c0ffee00-0000-4000-8000-000000000000';

/** A subject of acme with one snapshot, and its paths in both families. */
class Subject {
  readonly ref: { subject_type: string; subject_id: string };
  readonly snapshotId: string;

  private constructor(sent: Record<string, unknown>) {
    this.ref = Object.assign({ subject_type: '', subject_id: '' }, sent['subject']);
    this.snapshotId = String(sent['snapshot_id']);
  }

  static async create(change: Record<string, unknown> = {}): Promise<Subject> {
    const sent = envelope(change);
    await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
    return new Subject(sent);
  }

  path(family: Family, tenantId = 'acme'): string {
    const { subject_type, subject_id } = this.ref;
    return family === 'tenant'
      ? `/v1/tenants/${tenantId}/entity-state-updates`
      : `/v1/tenants/${tenantId}/subjects/${subject_type}/${encodeURIComponent(subject_id)}/updates`;
  }

  body(family: Family, change: Record<string, unknown> = {}): Record<string, unknown> {
    const common = { subject_id: this.ref.subject_id, base_snapshot_version: 1, patch_ops: RENAME };
    return family === 'tenant'
      ? { ...common, subject_type: this.ref.subject_type, base_snapshot_id: this.snapshotId, ...change }
      : { ...common, ...change };
  }

  propose(family: Family, change: Record<string, unknown> = {}, user: User = 'proposer') {
    return gateway.as(user, 'post', this.path(family)).send(this.body(family, change));
  }

  async proposed(family: Family = 'subject', change: Record<string, unknown> = {}, user: User = 'proposer') {
    return String((await this.propose(family, change, user).expect(201)).body.update_id);
  }

  act(action: 'apply' | 'withdraw', updateId: string, user: User = 'editor', family: Family = 'subject') {
    return gateway.as(user, 'post', `${this.path(family)}/${updateId}/${action}`);
  }

  get(updateId: string, user: User = 'reader', family: Family = 'subject') {
    return gateway.as(user, 'get', `${this.path(family)}/${updateId}`);
  }

  async latest(): Promise<{ snapshot_version: number; envelope: Record<string, unknown> }> {
    const path = this.path('subject').replace(/updates$/, 'snapshots/latest');
    return (await gateway.as('reader', 'get', path).expect(200)).body;
  }
}

const paths = (answer: { body: { error: { details?: { path: string }[] } } }): string[] =>
  (answer.body.error.details ?? []).map((detail) => detail.path);

describe.each(FAMILIES)('a proposal on the %s-level path', (family) => {
  it('answers every field, and can be read by each family', async () => {
    const subject = await Subject.create();
    const made = await subject.propose(family, { request_id: `r-${randomUUID()}` }).expect(201);
    expect(made.body).toEqual({
      update_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...subject.ref,
      base_snapshot_id: subject.snapshotId,
      base_snapshot_version: 1,
      patch_ops: RENAME,
      status: 'proposed',
      request_id: expect.stringMatching(/^r-/),
      initiated_by: null,
      proposed_by: 'oidc:test#proposer',
      created_at: expect.stringMatching(/Z$/),
      applied_at: null,
      applied_snapshot_id: null,
      withdrawn_at: null,
    });
    expect((await subject.latest()).snapshot_version).toBe(1);
    for (const each of FAMILIES) {
      const read = await subject.get(made.body.update_id, 'reader', each).expect(200);
      expect(read.body).toEqual(made.body);
    }
  });

  it('is applied through the other family, and once', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed(family);
    const through = other(family);
    const applied = await subject.act('apply', id, 'editor', through).expect(through === 'tenant' ? 201 : 200);
    const { envelope: stored, ...header } = await subject.latest();
    expect(stored).toMatchObject({ snapshot_version: 2, attributes: { legal: { legal_name: 'Neu AG' } } });
    if (through === 'tenant') {
      expect(applied.body).toEqual(stored);
    } else {
      expect(applied.body).toEqual({
        snapshot_id: stored['snapshot_id'],
        snapshot_version: 2,
        envelope_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        prev_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(header).toMatchObject(applied.body);
    }
    const read = await subject.get(id, 'reader', family).expect(200);
    expect(read.body).toMatchObject({ status: 'applied', applied_snapshot_id: stored['snapshot_id'] });
    expect(read.body.applied_at).toEqual(expect.any(String));
    for (const each of FAMILIES) {
      const again = await subject.act('apply', id, 'editor', each).expect(409);
      expect(again.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('is applied') });
      await subject.act('withdraw', id, 'editor', each).expect(409);
    }
  });

  it('is refused with the place of each fault', async () => {
    const subject = await Subject.create();
    const cases: [Record<string, unknown>, string[]][] = [
      [{ base_snapshot_version: 0 }, ['/base_snapshot_version']],
      [{ base_snapshot_version: 1.5 }, ['/base_snapshot_version']],
      [{ base_snapshot_version: '1' }, ['/base_snapshot_version']],
      [{ base_snapshot_version: 2_147_483_648 }, ['/base_snapshot_version']],
      [{ base_snapshot_version: undefined }, ['/base_snapshot_version']],
      [{ subject_id: undefined }, ['/subject_id']],
      [{ subject_id: '' }, ['/subject_id']],
      [{ subject_id: 5 }, ['/subject_id']],
      [{ patch_ops: undefined }, ['/patch_ops']],
      [{ patch_ops: null }, ['/patch_ops']],
      [{ patch_ops: {} }, ['/patch_ops']],
      [{ patch_ops: [1] }, ['/patch_ops/0']],
      [{ patch_ops: [{ op: 'add' }] }, ['/patch_ops/0/path', '/patch_ops/0/value']],
      [{ patch_ops: [{ op: 'upsert', path: '/attributes/x' }] }, ['/patch_ops/0/op']],
      [{ request_id: '' }, ['/request_id']],
      [{ request_id: 7 }, ['/request_id']],
      [{ request_id: 'a\u0000b' }, ['/request_id']],
      [{ status: 'applied' }, ['/status']],
      [{ proposed_by: 'x', constructor: 1 }, ['/constructor', '/proposed_by']],
      [{ update_id: UNKNOWN }, ['/update_id']],
    ];
    for (const [change, expected] of cases) {
      const answer = await subject.propose(family, change).expect(400);
      expect(answer.body.error.code).toBe('validation_error');
      expect([...paths(answer)].sort()).toEqual(expected);
    }
    const text = JSON.stringify(subject.body(family));
    await gateway.as('proposer', 'post', subject.path(family)).set('Content-Type', 'text/plain').send(text).expect(415);
    await subject
      .propose(family, { patch_ops: [{ op: 'add', path: '/attributes/x', value: 'x'.repeat(70_000) }] })
      .expect(413);
  });

  it('is refused to all but proposers of the owner, alike whether the subject exists', async () => {
    const subject = await Subject.create();
    for (const user of ['reader', 'stranger', 'bob'] as const) {
      expect((await subject.propose(family, {}, user).expect(403)).body.error.code).toBe('forbidden');
    }
    const nowhere = `none-${randomUUID()}`;
    const messages = [];
    for (const id of [subject.ref.subject_id, nowhere]) {
      const path = subject.path(family, 'beta').replace(encodeURIComponent(subject.ref.subject_id), nowhere);
      const there = id === nowhere ? path : subject.path(family, 'beta');
      const answer = await gateway
        .as('bob', 'post', there)
        .send(subject.body(family, { subject_id: id }))
        .expect(403);
      messages.push(answer.body.error.message);
    }
    expect(messages[0]).toBe(messages[1]);
    await gateway.as(null, 'post', subject.path(family)).send(subject.body(family)).expect(401);
    await subject.propose(family, {}, 'admin').expect(201);
  });

  it('needs the latest snapshot as its base', async () => {
    const subject = await Subject.create();
    await subject.act('apply', await subject.proposed(family)).expect(200);
    const stale = await subject.propose(family).expect(409);
    expect(stale.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('stale') });
    expect(paths(stale)).toEqual(['/base_snapshot_version']);
    const future = await subject.propose(family, { base_snapshot_version: 9 });
    expect(future.status).toBe(family === 'tenant' ? 400 : 409);
  });

  it('is stored once a request_id, however many send it at once', async () => {
    const subject = await Subject.create();
    const change = { request_id: `once-${randomUUID()}` };
    const answers = await Promise.all(Array.from({ length: 50 }, () => subject.propose(family, change)));
    expect(new Set(answers.map((answer) => answer.body.update_id)).size).toBe(1);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(49);
    for (const rest of [{ patch_ops: [] }, { base_snapshot_version: 2 }]) {
      const answer = await subject.propose(family, { ...change, ...rest });
      expect(answer.status).toBe(409);
    }
    const otherSubject = await Subject.create();
    expect(paths(await otherSubject.propose(family, change).expect(409))).toEqual(['/request_id']);
    const [first] = answers;
    await subject.act('apply', first?.body.update_id).expect(200);
    const replay = await subject.propose(family, change).expect(200);
    expect(replay.body).toMatchObject({ update_id: first?.body.update_id, status: 'applied' });
    const [row] = (await database.query('SELECT count(*) FROM updates WHERE request_id = $1', [change.request_id]))
      .rows;
    expect(row.count).toBe('1');
  });
});

describe('variant A', () => {
  it.each<[{ initiator?: string | null } & Record<string, unknown>]>([
    [{ patch_ops: undefined, operations: RENAME }],
    [{ patch_ops: undefined, ops: RENAME }],
    [{ operations: RENAME, ops: RENAME }],
    [{ initiator: 'sync', initiated_by: 'sync' }],
    [{ initiator: null, request_id: null }],
  ])('takes every name: %j', async (change) => {
    const subject = await Subject.create();
    const made = await subject.propose('tenant', change).expect(201);
    expect(made.body).toMatchObject({ patch_ops: RENAME, initiated_by: change.initiator ?? null, request_id: null });
  });

  it.each([
    [{ operations: [] }, '/operations'],
    [{ ops: [{ op: 'remove', path: '/attributes' }] }, '/ops'],
    [{ initiated_by: 'a', initiator: 'b' }, '/initiator'],
    [{ patch_ops: undefined, operations: [...RENAME, { op: 'remove', path: '/attributes/none' }] }, '/operations/1'],
    [{ patch_ops: undefined, ops: [{ op: 'remove', path: '/audit' }] }, '/ops/0'],
    [{ patch_ops: undefined, ops: 'x' }, '/ops'],
    [{ patch_ops: [{ op: 'test', path: '/attributes/legal/legal_name', value: 'no' }] }, '/patch_ops/0'],
    [{ base_snapshot_id: 'x' }, '/base_snapshot_id'],
    [{ base_snapshot_id: undefined }, '/base_snapshot_id'],
    [{ base_snapshot_id: UNKNOWN }, '/base_snapshot_id'],
    [{ base_snapshot_version: 2 }, '/base_snapshot_id'],
    [{ subject_type: 'planet' }, '/subject_type'],
    [{ subject_type: undefined }, '/subject_type'],
    [{ subject_id: 'a\u0007' }, '/subject_id'],
    [{ initiated_by: '' }, '/initiated_by'],
  ])('names what is wrong under the name that was sent: %j', async (change, path) => {
    const subject = await Subject.create();
    const answer = await subject.propose('tenant', change).expect(400);
    expect(paths(answer)[0]).toBe(path);
  });

  it('tells a base whose id and version disagree from one that is stale', async () => {
    const subject = await Subject.create();
    await subject.act('apply', await subject.proposed()).expect(200);
    await subject.propose('tenant', { base_snapshot_id: subject.snapshotId.toUpperCase() }).expect(409);
    const answer = await subject.propose('tenant', { base_snapshot_version: 2 }).expect(400);
    expect(paths(answer)).toEqual(['/base_snapshot_id']);
    await subject.propose('tenant', { base_snapshot_id: UNKNOWN }).expect(400);
  });

  it('applies all six operations', async () => {
    const subject = await Subject.create();
    const operations = [
      { op: 'test', path: '/attributes/legal/legal_name', value: 'Zürich Öl AG' },
      { op: 'add', path: '/attributes/contact/phones/-', value: '+41 3' },
      { op: 'copy', from: '/attributes/legal', path: '/attributes/former' },
      { op: 'move', from: '/attributes/contact/phones/0', path: '/attributes/contact/phones/1' },
      { op: 'replace', path: '/attributes/legal/legal_name', value: 'Neu AG' },
      { op: 'remove', path: '/attributes/former/legal_name' },
      { op: 'add', path: '/attribute_paths', value: { '/attributes/legal/legal_name': [] } },
      { op: 'test', path: '/subject', value: subject.ref },
    ];
    const id = await subject.proposed('tenant', { patch_ops: undefined, operations });
    const applied = await subject.act('apply', id, 'editor', 'tenant').expect(201);
    expect(applied.body).toMatchObject({
      attributes: { legal: { legal_name: 'Neu AG' }, contact: { phones: ['+41 2', '+41 1', '+41 3'] }, former: {} },
      attribute_paths: { '/attributes/legal/legal_name': [] },
      diff: { format: 'rfc6902', ops: operations },
    });
    expect(applied.body.snapshot_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab]/);
  });
});

describe('variant B', () => {
  it.each([
    [{ patch_ops: [{ op: 'move', from: '/attributes/contact', path: '/attributes/x' }] }, '/patch_ops/0/op'],
    [{ patch_ops: [...RENAME, { op: 'copy', from: '/attributes', path: '/attributes/x' }] }, '/patch_ops/1/op'],
    [{ patch_ops: [{ op: 'test', path: '/attributes', value: 1 }] }, '/patch_ops/0/op'],
    [{ subject_id: 'another' }, '/subject_id'],
    [{ operations: RENAME }, '/operations'],
  ])('is narrower: %j', async (change, path) => {
    const subject = await Subject.create();
    const answer = await subject.propose('subject', change).expect(400);
    expect(paths(answer)).toEqual([path]);
  });
});

describe('a patch', () => {
  const refused = async (patchOps: unknown): Promise<string[]> => {
    const subject = await Subject.create();
    const answer = await subject.propose('tenant', { patch_ops: patchOps }).expect(400);
    expect((await subject.latest()).snapshot_version).toBe(1);
    return paths(answer);
  };

  it.each(
    ['envelope_version', 'snapshot_id', 'snapshot_version', 'generated_at', 'subject', 'audit', 'diff'].flatMap(
      (root) => [
        [{ op: 'replace', path: `/${root}`, value: 1 }],
        [{ op: 'remove', path: `/${root}` }],
        [{ op: 'add', path: `/${root}/x`, value: 1 }],
        [{ op: 'move', from: `/${root}`, path: '/attributes/x' }],
        [{ op: 'copy', from: '/attributes', path: `/${root}` }],
      ],
    ),
  )('may not touch what the server sets: %j', async (operation) => {
    expect(await refused([operation])).toEqual(['/patch_ops/0']);
  });

  it.each([
    [{ op: 'replace', path: '', value: {} }],
    [{ op: 'add', path: '/__proto__/x', value: 1 }],
    [{ op: 'add', path: '/attributes/__proto__/x', value: 1 }],
    [{ op: 'add', path: '/constructor/prototype/x', value: 1 }],
    [{ op: 'replace', path: '/attributes/constructor/name', value: 1 }],
    [{ op: 'remove', path: '/attributes/toString' }],
    [{ op: 'remove', path: '/attributes/contact/phones/length' }],
    [{ op: 'replace', path: '/attributes/contact/phones/01', value: 1 }],
    [{ op: 'replace', path: '/attributes/contact/phones/-1', value: 1 }],
    [{ op: 'replace', path: '/attributes/contact/phones/+1', value: 1 }],
    [{ op: 'replace', path: '/attributes/contact/phones/1e0', value: 1 }],
    [{ op: 'replace', path: '/attributes/contact/phones/-', value: 1 }],
    [{ op: 'replace', path: '/attributes/contact/phones/2', value: 1 }],
    [{ op: 'add', path: '/attributes/contact/phones/3', value: 1 }],
    [{ op: 'add', path: '/attributes/nothing/x', value: 1 }],
    [{ op: 'add', path: '/attributes/legal/legal_name/x', value: 1 }],
    [{ op: 'copy', from: '/attributes/constructor', path: '/attributes/x' }],
    [{ op: 'move', from: '/attributes/legal', path: '/attributes/legal/x' }],
  ])('fails whole where it cannot be applied: %j', async (operation) => {
    expect(await refused([...RENAME, operation])).toEqual(['/patch_ops/1']);
  });

  it.each([
    [{ op: 'add', path: '/attributes/~2', value: 1 }, '/patch_ops/0/path'],
    [{ op: 'add', path: 'attributes/x', value: 1 }, '/patch_ops/0/path'],
    [{ op: 'copy', from: 'attributes', path: '/attributes/x' }, '/patch_ops/0/from'],
  ])('takes JSON Pointers only: %j', async (operation, path) => {
    expect(await refused([operation])).toEqual([path]);
  });

  it.each([
    [{ op: 'remove', path: '/attributes' }, '/attributes'],
    [{ op: 'replace', path: '/evidence', value: [{}] }, '/evidence/0/evidence_id'],
    [{ op: 'replace', path: '/attributes/legal', value: {} }, '/attributes/legal/legal_name'],
  ])('may not make an envelope that could not have been sent: %j', async (operation, path) => {
    expect(await refused([operation])).toContain(path);
  });

  it('is bounded in its number of operations, and in what it makes', async () => {
    const add = { op: 'add', path: '/attributes/x', value: 1 };
    expect(await refused(Array.from({ length: 1001 }, () => add))).toEqual(['/patch_ops']);
    const doublings = Array.from({ length: 40 }, (_, index) => ({
      op: 'copy',
      from: '/attributes',
      path: `/attributes/copy${index}`,
    }));
    const [place = ''] = await refused(doublings);
    expect(place).toMatch(/^\/patch_ops/);
    const subject = await Subject.create();
    const half = { op: 'add', path: '/attributes/half', value: 'x'.repeat(40_000) };
    await subject.act('apply', await subject.proposed('subject', { patch_ops: [half] })).expect(200);
    const whole = { base_snapshot_version: 2, patch_ops: [{ ...half, path: '/attributes/other' }] };
    expect(paths(await subject.propose('subject', whole).expect(400))).toEqual(['/patch_ops']);
    // What the last patch added stands in the envelope's diff too, and does not count twice.
    await subject.act('apply', await subject.proposed('subject', { base_snapshot_version: 2 })).expect(200);
    expect((await subject.latest()).snapshot_version).toBe(3);
  });

  it('keeps strange keys as keys, and adds unknown roots', async () => {
    const subject = await Subject.create({ attributes: JSON.parse('{"__proto__":{"a":1},"":0}') });
    const path = subject.path('tenant');
    const body = JSON.stringify(subject.body('tenant', { patch_ops: 'OPS' })).replace(
      '"OPS"',
      `[{"op":"replace","path":"/attributes/__proto__","value":{"b":2}},{"op":"add","path":"/attributes/constructor","value":3},
        {"op":"add","path":"/attributes/nul","value":"\\u0000"},{"op":"replace","path":"/attributes/","value":1},
        {"op":"add","path":"/attributes/o","value":{"__proto__":{"c":4}}}]`,
    );
    const made = await gateway
      .as('proposer', 'post', path)
      .set('Content-Type', 'application/json')
      .send(body)
      .expect(201);
    expect(made.text).toContain('{"__proto__":{"c":4}}');
    const applied = await subject.act('apply', made.body.update_id, 'editor', 'tenant').expect(201);
    expect(JSON.stringify(applied.body.attributes)).toBe(
      '{"":1,"__proto__":{"b":2},"constructor":3,"nul":"\\u0000","o":{"__proto__":{"c":4}}}',
    );
    const rooted = await subject.proposed('subject', {
      base_snapshot_version: 2,
      patch_ops: [{ op: 'add', path: '/notes', value: [1] }],
    });
    await subject.act('apply', rooted).expect(200);
    expect((await subject.latest()).envelope['notes']).toEqual([1]);
  });

  it('gives distinct snapshot ids back and forth', async () => {
    const subject = await Subject.create();
    const ids = new Set([subject.snapshotId]);
    for (const version of [1, 2, 3, 4]) {
      const value = version % 2 === 0 ? 'A AG' : 'B AG';
      const patch = [{ op: 'replace', path: '/attributes/legal/legal_name', value }];
      const id = await subject.proposed('subject', { base_snapshot_version: version, patch_ops: patch });
      ids.add((await subject.act('apply', id).expect(200)).body.snapshot_id);
    }
    expect(ids.size).toBe(5);
  });
});

describe('applying', () => {
  it('is for editors of the owner', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    for (const family of FAMILIES) {
      for (const user of ['stranger', 'reader', 'proposer', 'bob'] as const) {
        await subject.act('apply', id, user, family).expect(403);
      }
      await gateway.as(null, 'post', `${subject.path(family)}/${id}/apply`).expect(401);
    }
    await subject.act('apply', id, 'admin').expect(200);
  });

  it('refuses a base that is stale by now', async () => {
    const subject = await Subject.create();
    const [first, second] = [await subject.proposed(), await subject.proposed()];
    await subject.act('apply', first).expect(200);
    const stale = await subject.act('apply', second).expect(409);
    expect(stale.body.error.message).toContain('base snapshot is stale');
    expect((await subject.get(second)).body.status).toBe('proposed');
  });

  it('refuses a base without a hash where the chain is enforced', async () => {
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

  it('happens once of fifty times, in both families at once', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        return (await subject.act('apply', id, 'editor', index % 2 === 0 ? 'tenant' : 'subject')).status;
      }),
    );
    expect(statuses.filter((status) => status < 300)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
    expect((await subject.latest()).snapshot_version).toBe(2);
  });

  it('lets one of fifty proposals on one base through', async () => {
    const subject = await Subject.create();
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        subject.proposed('subject', { patch_ops: [{ op: 'add', path: '/attributes/n', value: index }] }),
      ),
    );
    const statuses = await Promise.all(ids.map(async (id) => (await subject.act('apply', id)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
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
        { status: 'proposed', count: 49 },
      ]),
    );
  });
});

describe('withdrawing', () => {
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

  it('is for the proposer while it is one, and for editors', async () => {
    const subject = await Subject.create();
    const [id, second] = [await subject.proposed('subject', {}, 'o2'), await subject.proposed('tenant', {}, 'o2')];
    for (const family of FAMILIES) {
      for (const user of ['stranger', 'bob', 'reader', 'proposer'] as const) {
        await subject.act('withdraw', id, user, family).expect(403);
      }
      await gateway.as(null, 'post', `${subject.path(family)}/${id}/withdraw`).expect(401);
    }
    await putMember('o2', 'tenant_reader');
    await subject.act('withdraw', id, 'o2').expect(403);
    await database.query(`UPDATE memberships SET status = 'removed' WHERE principal_id = 'oidc:test#o2'`);
    await subject.act('withdraw', id, 'o2').expect(403);
    await database.query(`UPDATE memberships SET status = 'active' WHERE principal_id = 'oidc:test#o2'`);
    await putMember('o2', 'tenant_proposer');
    await subject.act('withdraw', id, 'o2').expect(200);
    await subject.act('withdraw', second, 'editor').expect(200);
  });

  it('of an update whose base is stale is possible still', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    await subject.act('apply', await subject.proposed()).expect(200);
    await subject.act('withdraw', id, 'proposer').expect(200);
  });

  it('wins or loses against applying, never both', async () => {
    const winners = await Promise.all(
      Array.from({ length: 10 }, async () => {
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

  it.each(ACTIONS)('%s %s tells unknown from not allowed', async (method, action) => {
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
    // Another tenant's update, under the own tenant and its paths.
    expect(await status('bob', `${subject.path('tenant', 'beta')}/${id}`)).toBe(404);
    expect(await status('bob', `${subject.path('subject', 'beta')}/${id}`)).toBe(403);
    expect(await status('bob', `/v1/tenants/beta/subjects/entity/none/updates/${id}`)).toBe(403);
    // Another subject in the path.
    expect(await status('admin', `${second.path('subject')}/${id}`)).toBe(404);
    expect(await status('admin', `/v1/tenants/acme/subjects/individual/${subject.ref.subject_id}/updates/${id}`)).toBe(
      403,
    );
    expect((await subject.get(id)).body.status).toBe('proposed');
  });
});

describe('lists of updates', () => {
  const ids = (answer: { body: { items: { update_id: string }[] } }): string[] =>
    answer.body.items.map((item) => item.update_id);

  it('hold a subject’s updates newest first, by state', async () => {
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
    expect(all.body.items[1]).toEqual((await subject.get(b)).body);
    expect(ids(await list('?status=withdrawn').expect(200))).toEqual([a]);
    expect(ids(await list('?status=applied').expect(200))).toEqual([c]);
    expect(ids(await list('?status=proposed').expect(200))).toEqual([b, ...made.slice(3)]);
  });

  it('are paged to the end while updates are made and move', async () => {
    await gateway.as('o1', 'post', '/v1/tenants').send({ tenant_id: 'paging', name: 'Paging' }).expect(201);
    const sent = envelope();
    await gateway.as('o1', 'post', '/v1/tenants/paging/entity-states').send(sent).expect(201);
    const ref = Object.assign({ subject_type: '', subject_id: '' }, sent['subject']);
    const updates = `/v1/tenants/paging/subjects/${ref.subject_type}/${ref.subject_id}/updates`;
    const propose = async (): Promise<string> => {
      const body = { subject_id: ref.subject_id, base_snapshot_version: 1, patch_ops: RENAME };
      return (await gateway.as('o1', 'post', updates).send(body).expect(201)).body.update_id;
    };
    // At once, so that some share one instant.
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

  it('refuse limits, states, fields and cursors that are not theirs', async () => {
    const subject = await Subject.create();
    await Promise.all(Array.from({ length: 3 }, () => subject.proposed()));
    const [mine, tenants] = [subject.path('subject'), subject.path('tenant')];
    for (const path of [mine, tenants]) {
      const refused = async (query: string): Promise<string[]> =>
        paths(await gateway.as('reader', 'get', `${path}?${query}`).expect(400));
      for (const limit of ['0', '-1', '201', 'abc', '1.5', '', '1e9', '1&limit=2']) {
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

  it('are for readers of the owner', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed();
    for (const family of FAMILIES) {
      await gateway.as('stranger', 'get', subject.path(family)).expect(403);
      await gateway.as('bob', 'get', subject.path(family)).expect(403);
      await gateway.as(null, 'get', subject.path(family)).expect(401);
      expect(ids(await gateway.as('proposer', 'get', subject.path(family)).expect(200))).toContain(id);
    }
    expect((await gateway.as('bob', 'get', subject.path('tenant', 'beta')).expect(200)).body.items).toEqual([]);
    const there = await gateway.as('bob', 'get', subject.path('subject', 'beta')).expect(403);
    const nowhere = await gateway.as('bob', 'get', '/v1/tenants/beta/subjects/entity/none/updates').expect(403);
    expect(there.body.error.message).toBe(nowhere.body.error.message);
    await gateway.as('reader', 'get', '/v1/tenants/nobody/entity-state-updates').expect(403);
  });

  it('take one statement', async () => {
    const subject = await Subject.create();
    for (const family of FAMILIES) {
      gateway.sent.length = 0;
      await gateway.as('reader', 'get', subject.path(family)).expect(200);
      expect(gateway.sent).toEqual([family === 'tenant' ? 'updates_of_tenant' : 'updates_of_subject']);
    }
  });
});

describe('direct writes', () => {
  const write = (user: User, tenant: string, body: Record<string, unknown>) =>
    gateway.as(user, 'post', `/v1/tenants/${tenant}/entity-states`).send(body);

  it('answer header and envelope, follow one another, and count as usage', async () => {
    await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'import', name: 'Import' }).expect(201);
    const first = envelope();
    const made = await write('zoe', 'import', first).expect(201);
    expect(made.body).toEqual({
      snapshot_id: first['snapshot_id'],
      snapshot_version: 1,
      generated_at: first['generated_at'],
      created_at: expect.any(String),
      envelope_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      prev_hash: null,
      subject: first['subject'],
      envelope: first,
    });
    const second = await write('zoe', 'import', envelope({ subject: first['subject'], snapshot_version: 2 })).expect(
      201,
    );
    expect(second.body.prev_hash).toBe(made.body.envelope_hash);
    const usage = await gateway.as('zoe', 'get', '/v1/tenants/import/usage');
    expect(JSON.stringify(usage.body)).toMatch(/"snapshot_writes":2/);
  });

  it('are refused by version, owner and id', async () => {
    const first = envelope();
    const at = (version: number, change: Record<string, unknown> = {}): Record<string, unknown> =>
      envelope({ subject: first['subject'], snapshot_version: version, ...change });
    await write('editor', 'acme', first).expect(201);

    expect(paths(await write('editor', 'acme', at(1)).expect(409))).toEqual(['/subject/subject_id']);
    expect(paths(await write('editor', 'acme', at(3)).expect(409))).toEqual(['/snapshot_version']);
    await write('bob', 'beta', at(1)).expect(409);
    await write('bob', 'beta', at(2)).expect(403);
    await write('proposer', 'acme', at(2)).expect(403);
    await write('proposer', 'acme', envelope()).expect(403);
    await write('stranger', 'acme', envelope()).expect(403);
    await write('editor', 'acme', envelope({ snapshot_version: 2 })).expect(403);
    const id = String(first['snapshot_id']);
    for (const snapshot_id of [id, id.toUpperCase(), id.charAt(0) + id.slice(1).toUpperCase()]) {
      expect(paths(await write('editor', 'acme', at(2, { snapshot_id })).expect(409))).toEqual(['/snapshot_id']);
      expect(paths(await write('editor', 'acme', envelope({ snapshot_id })).expect(409))).toEqual(['/snapshot_id']);
      expect(paths(await write('bob', 'beta', envelope({ snapshot_id })).expect(409))).toEqual(['/snapshot_id']);
    }
    await write('editor', 'acme', at(2)).expect(201);
    expect(paths(await write('editor', 'acme', at(2)).expect(409))).toEqual(['/snapshot_version']);
  });

  it('give a version once, whoever races for it', async () => {
    const first = envelope();
    await write('editor', 'acme', first).expect(201);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        return (await write('editor', 'acme', envelope({ subject: first['subject'], snapshot_version: 2 }))).status;
      }),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
  });
});
