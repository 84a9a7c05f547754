import { randomUUID } from 'node:crypto';
import {
  closeUpdates,
  database,
  FAMILIES,
  gateway,
  openUpdates,
  other,
  paths,
  RENAME,
  Subject,
  UNKNOWN,
} from './updates';

beforeAll(() => openUpdates());
afterAll(() => closeUpdates());

describe.each(FAMILIES)('a proposal on the %s-level path', (family) => {
  it('returns every field, and can be read on both paths', async () => {
    const subject = await Subject.create();
    const made = await subject.propose(family, { request_id: `r-${randomUUID()}` }).expect(201);
    expect(made.body).toEqual({
      update_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...subject.ref,
      base_snapshot_id: subject.snapshotId,
      base_snapshot_version: 1,
      change_kind: 'change',
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

  it('is applied once, on the other path', async () => {
    const subject = await Subject.create();
    const id = await subject.proposed(family);
    const through = other(family);
    const apply = subject.act('apply', id, 'editor', through).set('X-Correlation-Id', `case-${through}`);
    const applied = await apply.expect(through === 'tenant' ? 201 : 200);
    const { envelope: stored, ...header } = await subject.latest();
    expect(stored['audit']).toMatchObject({ correlation_id: `case-${through}` });
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
      [{ patch_ops: {} }, ['/patch_ops']],
      [{ patch_ops: [{ op: 'add' }] }, ['/patch_ops/0/path', '/patch_ops/0/value']],
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

  it('is refused to another tenant alike, whether or not the subject exists', async () => {
    const subject = await Subject.create();
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
  });

  it('requires the latest snapshot as its base', async () => {
    const subject = await Subject.create();
    await subject.act('apply', await subject.proposed(family)).expect(200);
    const stale = await subject.propose(family).expect(409);
    expect(stale.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('stale') });
    expect(paths(stale)).toEqual(['/base_snapshot_version']);
    const future = await subject.propose(family, { base_snapshot_version: 9 });
    expect(future.status).toBe(family === 'tenant' ? 400 : 409);
  });

  it('is stored once per request_id, even for concurrent requests', async () => {
    const subject = await Subject.create();
    const change = { request_id: `once-${randomUUID()}` };
    const answers = await Promise.all(Array.from({ length: 50 }, () => subject.propose(family, change)));
    expect(new Set(answers.map((answer) => answer.body.update_id)).size).toBe(1);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(49);
    for (const rest of [
      { patch_ops: [] },
      { base_snapshot_version: 2 },
      { change_kind: 'correction' },
      // A proposal on a subject names no initiator.
      ...(family === 'tenant' ? [{ initiated_by: 'sync' }] : []),
    ]) {
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

describe('the tenant-level form of a proposal', () => {
  it.each<[{ initiator?: string | null } & Record<string, unknown>]>([
    [{ patch_ops: undefined, operations: RENAME }],
    [{ patch_ops: undefined, ops: RENAME }],
    [{ operations: RENAME, ops: RENAME }],
    [{ initiator: 'sync', initiated_by: 'sync' }],
    [{ initiator: null, request_id: null }],
  ])('accepts every name of its members: %j', async (change) => {
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
  ])('is refused with the member name that was sent: %j', async (change, path) => {
    const subject = await Subject.create();
    const answer = await subject.propose('tenant', change).expect(400);
    expect(paths(answer)[0]).toBe(path);
  });

  it('returns 409 for a stale base, and 400 if the base’s id and version disagree', async () => {
    const subject = await Subject.create();
    await subject.act('apply', await subject.proposed()).expect(200);
    await subject.propose('tenant', { base_snapshot_id: subject.snapshotId.toUpperCase() }).expect(409);
    const answer = await subject.propose('tenant', { base_snapshot_version: 2 }).expect(400);
    expect(paths(answer)).toEqual(['/base_snapshot_id']);
    await subject.propose('tenant', { base_snapshot_id: UNKNOWN }).expect(400);
  });

  it('supports all six operations', async () => {
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

describe('the subject-level form of a proposal', () => {
  it.each([
    [{ patch_ops: [{ op: 'move', from: '/attributes/contact', path: '/attributes/x' }] }, '/patch_ops/0/op'],
    [{ patch_ops: [...RENAME, { op: 'copy', from: '/attributes', path: '/attributes/x' }] }, '/patch_ops/1/op'],
    [{ patch_ops: [{ op: 'test', path: '/attributes', value: 1 }] }, '/patch_ops/0/op'],
    [{ subject_id: 'another' }, '/subject_id'],
    [{ operations: RENAME }, '/operations'],
  ])('is refused with %j', async (change, path) => {
    const subject = await Subject.create();
    const answer = await subject.propose('subject', change).expect(400);
    expect(paths(answer)).toEqual([path]);
  });
});
