import { envelope, type User } from './gateway';
import { closeUpdates, gateway, openUpdates, paths } from './updates';

beforeAll(() => openUpdates());
afterAll(() => closeUpdates());

describe('direct writes', () => {
  const write = (user: User, tenant: string, body: Record<string, unknown>) =>
    gateway.as(user, 'post', `/v1/tenants/${tenant}/entity-states`).send(body);

  it('return the header and the envelope, extend the chain, and count as usage', async () => {
    await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'import', name: 'Import' }).expect(201);
    const audit = { created_by: 'oidc:test#somebody-else', created_at: '2026-01-15T09:30:00Z', source: 'import' };
    const first = envelope({ audit });
    const made = await write('zoe', 'import', first).set('X-Request-Id', 'import-7').expect(201);
    const header = {
      snapshot_id: first['snapshot_id'],
      snapshot_version: 1,
      change_kind: 'change',
      generated_at: first['generated_at'],
      created_at: expect.any(String),
      envelope_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      prev_hash: null,
      written_by: 'oidc:test#zoe',
      write_request_id: 'import-7',
      subject: first['subject'],
    };
    expect(made.body).toEqual({ ...header, envelope: first });
    const path = `/v1/tenants/import/snapshots/${String(first['snapshot_id'])}?view=header`;
    expect((await gateway.as('zoe', 'get', path).expect(200)).body).toEqual(header);
    const second = await write('zoe', 'import', envelope({ subject: first['subject'], snapshot_version: 2 })).expect(
      201,
    );
    expect(second.body.prev_hash).toBe(made.body.envelope_hash);
    const usage = await gateway.as('zoe', 'get', '/v1/tenants/import/usage');
    expect(JSON.stringify(usage.body)).toMatch(/"snapshot_writes":2/);
  });

  it('are refused for a wrong version, owner or id', async () => {
    const first = envelope();
    const at = (version: number, change: Record<string, unknown> = {}): Record<string, unknown> =>
      envelope({ subject: first['subject'], snapshot_version: version, ...change });
    await write('editor', 'acme', first).expect(201);

    const again = await write('editor', 'acme', at(1)).expect(409);
    expect(paths(again)).toEqual(['/snapshot_version']);
    expect(again.body.error.message).toContain('Send version 2');
    expect(paths(await write('editor', 'acme', at(3)).expect(409))).toEqual(['/snapshot_version']);
    const foreign = await write('bob', 'beta', at(1)).expect(409);
    expect(paths(foreign)).toEqual(['/subject/subject_id']);
    expect(foreign.body.error.message).toMatch(/Another tenant owns .* namespace.* grant\. .* transferred/);
    const identifiers = { LEI: '1', lei: '2' };
    const spelt = await write('editor', 'acme', at(2, { attributes: { identifiers } })).expect(400);
    expect(paths(spelt)).toEqual(['/attributes/identifiers/lei']);
    await write('bob', 'beta', at(2)).expect(403);
    // A refused write leaves no version: the editor writes it below.
    await write('proposer', 'acme', at(2)).expect(403);
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

  it('store a version once for concurrent writers', async () => {
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
