import { closeUpdates, gateway, openUpdates, paths, RENAME, Subject } from './updates';

beforeAll(() => openUpdates());
afterAll(() => closeUpdates());

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
  )('is refused if it touches a member that the server sets: %j', async (operation) => {
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
  ])('is refused as a whole if an operation cannot be applied: %j', async (operation) => {
    expect(await refused([...RENAME, operation])).toEqual(['/patch_ops/1']);
  });

  it.each([
    [{ op: 'add', path: '/attributes/~2', value: 1 }, '/patch_ops/0/path'],
    [{ op: 'add', path: 'attributes/x', value: 1 }, '/patch_ops/0/path'],
    [{ op: 'copy', from: 'attributes', path: '/attributes/x' }, '/patch_ops/0/from'],
  ])('is refused if a path is not a JSON Pointer: %j', async (operation, path) => {
    expect(await refused([operation])).toEqual([path]);
  });

  it.each([
    [{ op: 'remove', path: '/attributes' }, '/attributes'],
    [{ op: 'add', path: '/evidence/-', value: {} }, '/evidence/0/evidence_id'],
    [{ op: 'move', from: '/evidence', path: '/attributes/evidence' }, '/evidence'],
    [{ op: 'replace', path: '/evidence', value: [{}] }, '/evidence/0/evidence_id'],
    [{ op: 'replace', path: '/attributes/legal', value: {} }, '/attributes/legal/legal_name'],
  ])('is refused if the result is not a valid envelope: %j', async (operation, path) => {
    const subject = await Subject.create();
    const harmless = { op: 'add', path: '/attributes/x', value: 1 };
    const patch = path.startsWith('/evidence') ? [harmless, operation, harmless] : [harmless, operation];
    const { error } = (await subject.propose('tenant', { patch_ops: patch }).expect(400)).body;
    for (const detail of error.details) expect(detail.path).toBe('/patch_ops/1');
    expect(error.details[0].message).toContain(`in the result, ${path} `);
  });

  it.each([
    [{ op: 'replace', path: '/legal/legal_name', value: 'x' }, '/attributes/legal/legal_name'],
    [{ op: 'add', path: '/contact/email', value: 'x' }, '/attributes/contact/email'],
    [{ op: 'copy', from: '/legal/legal_name', path: '/attributes/x' }, '/attributes/legal/legal_name'],
    [{ op: 'test', path: '/legal/legal_name', value: 'x' }, '/attributes/legal/legal_name'],
  ])('is refused with the right path if it omits /attributes: %j', async (operation, pointer) => {
    const subject = await Subject.create();
    const { error } = (await subject.propose('tenant', { patch_ops: [operation] }).expect(400)).body;
    expect(error.message).toContain(`Did you mean "${pointer}"?`);
    expect(error.details).toMatchObject([{ path: '/patch_ops/0', message: error.message }]);
    const other = [{ op: 'remove', path: '/attributes/nothing/x' }];
    const plain = await subject.propose('tenant', { patch_ops: other }).expect(400);
    expect(plain.body.error.message).not.toContain('Did you mean');
  });

  it('is limited in its number of operations and in the size of its result', async () => {
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
    // The addition by the last patch is also in the diff of the envelope, and does not count twice.
    await subject.act('apply', await subject.proposed('subject', { base_snapshot_version: 2 })).expect(200);
    expect((await subject.latest()).snapshot_version).toBe(3);
  });

  it('handles keys such as __proto__ as data, and adds unknown root members', async () => {
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

  it('creates a new snapshot id even if it restores an earlier value', async () => {
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
