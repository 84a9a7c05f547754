import { createHash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Client } from 'pg';
import { applyPatch, type JsonValue, parseJsonText, parsePatch } from '@iss/domain';
import { envelope, startGateway, type TestGateway } from './gateway';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beta', name: 'Beta' }).expect(201);
  const reader = encodeURIComponent('oidc:test#reader');
  await gateway.as('alice', 'put', `/v1/tenants/acme/members/${reader}`).send({ role: 'tenant_reader' }).expect(200);
  const bob = `/v1/tenants/beta/principals/${encodeURIComponent('oidc:test#bob')}`;
  await gateway.as('bob', 'put', bob).send({ allow_counterparty_access: true }).expect(200);
});

afterAll(() => gateway?.close());

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

type Attributes = Record<string, unknown>;

interface Chain {
  subject: { subject_type: string; subject_id: string };
  /** The snapshots that were sent. */
  sent: Record<string, unknown>[];
  ids: string[];
}

const primary = [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }];
const evidence = {
  evidence_id: 'ev-1',
  evidence_type: 'registry_extract',
  source: 'register',
  captured_at: '2026-01-15T09:00:00Z',
};
const second = [{ evidence_id: 'ev-2', evidence_type: 'document' }];

/** Writes one version for each set of attributes. */
async function writeChain(...versions: { attributes: Attributes; [member: string]: unknown }[]): Promise<Chain> {
  const subject = { subject_type: 'organization', subject_id: `subject-${randomUUID()}` };
  const sent = versions.map((change, index) => envelope({ subject, snapshot_version: index + 1, ...change }));
  for (const body of sent) {
    const write = gateway.as('alice', 'post', '/v1/tenants/acme/entity-states');
    await write.set('Content-Type', 'application/json').send(JSON.stringify(body)).expect(201);
  }
  return { subject, sent, ids: sent.map((body) => String(body['snapshot_id'])) };
}

const twoVersions = (): Promise<Chain> =>
  writeChain(
    {
      attributes: { legal: { legal_name: 'Zürich Öl AG', form: 'AG' }, contact: { phones: ['1', '2'] } },
      attribute_paths: { '/attributes/legal/legal_name': primary, '/attributes/legal/form': primary },
    },
    {
      attributes: { legal: { legal_name: 'Neu AG' }, contact: { phones: ['0', '1', '2'] }, 'a/b': { 'm~n': 1 } },
      change_kind: 'correction',
      attribute_paths: { '/attributes/legal/legal_name': second, '/attributes/a~1b': primary },
    },
  );

const byVersion = ({ subject }: Chain, query: string, tenant?: string): string =>
  `/v1/${tenant === undefined ? '' : `tenants/${tenant}/`}subjects/organization/${subject.subject_id}/diff?${query}`;
const byId = (from: string, to: string, query = '', tenant?: string): string =>
  `/v1/${tenant === undefined ? '' : `tenants/${tenant}/`}snapshots/${from}/diff/${to}?${query}`;

const sha256 = (value: unknown): string =>
  createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex');

describe('a diff', () => {
  it('is the same in all four forms, with subject and versions if it is by version', async () => {
    const chain = await twoVersions();
    const [first = '', last = ''] = chain.ids;
    const expected = {
      format: 'rfc6902',
      from: { snapshot_id: first, snapshot_version: 1 },
      to: { snapshot_id: last, snapshot_version: 2 },
      change_kind: 'correction',
      include: ['/attributes', '/subject'],
      ops: [
        { op: 'add', path: '/attributes/a~1b', value: { 'm~n': 1 } },
        { op: 'add', path: '/attributes/contact/phones/0', value: '0' },
        { op: 'remove', path: '/attributes/legal/form' },
        { op: 'replace', path: '/attributes/legal/legal_name', value: 'Neu AG' },
      ],
      ops_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      change_summary: { total_ops: 4, adds: 2, removes: 1, replaces: 1, paths_changed: 4 },
      attribution: [
        { path: '/attributes/a~1b', from: null, to: primary },
        { path: '/attributes/contact/phones/0', from: null, to: null },
        { path: '/attributes/legal/form', from: primary, to: null },
        { path: '/attributes/legal/legal_name', from: primary, to: second },
      ],
    };
    const versions = { subject: chain.subject, from_version: 1, to_version: 2 };
    for (const [path, more] of [
      [byVersion(chain, 'from_version=1&to_version=2'), versions],
      [byVersion(chain, 'from_version=1&to_version=2', 'acme'), versions],
      [byId(first, last), {}],
      [byId(first.toUpperCase(), last, '', 'acme'), {}],
    ] as const) {
      const { body } = await gateway.as('reader', 'get', path).expect(200);
      expect(body).toEqual({ ...more, ...expected });
      expect(body.ops_hash).toBe(sha256(body.ops));
    }
  });

  it('can go backwards, and is empty from a version to itself', async () => {
    const chain = await twoVersions();
    const { body } = await gateway.as('reader', 'get', byVersion(chain, 'from_version=2&to_version=1')).expect(200);
    expect(body).toMatchObject({ from_version: 2, to_version: 1, from: { snapshot_version: 2 } });
    expect(body.ops[0]).toEqual({ op: 'remove', path: '/attributes/a~1b' });

    for (const path of [
      byVersion(chain, 'from_version=2&to_version=2&include=/'),
      byId(chain.ids[1] ?? '', chain.ids[1] ?? ''),
    ]) {
      const same = await gateway.as('reader', 'get', path).expect(200);
      expect(same.body).toMatchObject({ ops: [], ops_hash: sha256([]), attribution: [] });
      expect(same.body.change_summary).toEqual({ total_ops: 0, adds: 0, removes: 0, replaces: 0, paths_changed: 0 });
    }
  });

  it.each<[string, string[], string[]]>([
    ['/subject', ['/subject'], []],
    ['/attributes', ['/attributes'], ['/attributes/legal/legal_name']],
    ['/attributes,/subject,/attributes', ['/attributes', '/subject'], ['/attributes/legal/legal_name']],
    [
      '/subject,/',
      ['/', '/subject'],
      ['/attributes/legal/legal_name', '/evidence/0', '/generated_at', '/snapshot_id', '/snapshot_version'],
    ],
  ])('compares only the roots of include=%s', async (include, roots, paths) => {
    const chain = await writeChain(
      { attributes: { legal: { legal_name: 'A' } }, evidence: [evidence] },
      { attributes: { legal: { legal_name: 'B' } }, generated_at: '2026-02-15T09:30:00Z' },
    );
    const query = `from_version=1&to_version=2&include=${encodeURIComponent(include)}`;
    const { body } = await gateway.as('reader', 'get', byVersion(chain, query)).expect(200);
    expect(body.include).toEqual(roots);
    expect(body.ops.map((op: { path: string }) => op.path)).toEqual(paths);
  });

  it('turns one stored envelope into the other byte for byte, even with unusual keys', async () => {
    const attributes = (text: string): Attributes => JSON.parse(text) as Attributes;
    const chain = await writeChain(
      {
        attributes: attributes(
          '{"__proto__":{"a":1},"":{"":0},"a/b":1,"m~n":[1,2,{"length":1}],"length":5,"constructor":{"prototype":1},"nul":"\\u0000","é":1,"toJSON":1,"gone":null}',
        ),
        attribute_paths: JSON.parse('{"":[],"/attributes/__proto__/a":[]}') as unknown,
      },
      {
        attributes: attributes(
          '{"__proto__":{"a":2,"__proto__":null},"":{"":1},"a/b":2,"m~n":[0,1,2,{"length":2}],"length":6,"constructor":{"prototype":{}},"nul":"\\u0000\\n","e\\u0301":1,"toJSON":{"x":[]}}',
        ),
      },
    );
    const path = byId(chain.ids[0] ?? '', chain.ids[1] ?? '', 'include=/', 'acme');
    const { text, body } = await gateway.as('reader', 'get', path).expect(200);
    const answer = parseJsonText(text);
    const at = (value: JsonValue, name: string): JsonValue =>
      value !== null && typeof value === 'object' && !Array.isArray(value) ? (value[name] ?? null) : null;
    const ops = parsePatch(at(answer, 'ops'), {
      at: '',
      maxOperations: 1000,
      allowedOps: ['add', 'remove', 'replace'],
    });
    const stored = (index: number): JsonValue => parseJsonText(canonicalize(chain.sent[index]) ?? '');
    expect(canonicalize(applyPatch(stored(0), ops))).toBe(canonicalize(chain.sent[1]));
    expect(body.ops_hash).toBe(sha256(at(answer, 'ops')));
    const attributed = body.attribution.map((item: { path: string }) => item.path);
    expect(attributed).toContain('/attributes/__proto__/__proto__');
    expect(body.attribution).toContainEqual({ path: '/attributes/__proto__/a', from: [], to: null });
  });

  it('names each changed path once, and omits attribution on request', async () => {
    const chain = await writeChain(
      { attributes: { legal: { legal_name: 'A' }, list: [1, 2, 3] } },
      { attributes: { legal: { legal_name: 'A' }, list: [3] } },
    );
    const { body } = await gateway.as('reader', 'get', byVersion(chain, 'from_version=1&to_version=2')).expect(200);
    expect(body.ops).toHaveLength(2);
    expect(body.change_summary).toEqual({ total_ops: 2, adds: 0, removes: 2, replaces: 0, paths_changed: 1 });
    expect(body.attribution).toEqual([{ path: '/attributes/list/0', from: null, to: null }]);
    const without = byVersion(chain, 'from_version=1&to_version=2&include_attribution=none');
    expect((await gateway.as('reader', 'get', without).expect(200)).body).not.toHaveProperty('attribution');
  });

  it('is cacheable for ever, unless it is verified', async () => {
    const chain = await twoVersions();
    const path = byVersion(chain, 'from_version=1&to_version=2', 'acme');
    const first = await gateway.as('reader', 'get', path).expect(200);
    expect(first.headers['cache-control']).toBe('private, immutable');
    const etag = first.headers['etag'] ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    await gateway.as('reader', 'get', path).set('If-None-Match', etag).expect(304);
    // Knowing the tag gives no right to read.
    await gateway.as('bob', 'get', path).set('If-None-Match', etag).expect(403);
    const other = await gateway.as('reader', 'get', `${path}&include=/`).set('If-None-Match', etag).expect(200);
    expect(other.headers['etag']).not.toBe(etag);
    const verified = await gateway.as('reader', 'get', `${path}&verify=hash`).set('If-None-Match', etag).expect(200);
    expect(verified.headers).not.toHaveProperty('etag');
    expect(verified.headers['cache-control']).toBe('no-store');
  });

  it('lets no cache keep a diff whose side is the latest version as of a moment', async () => {
    const chain = await twoVersions();
    const now = 'as_of=2999-01-01T00:00:00Z';
    for (const query of [`from_version=1&${now}`, `from_${now}&to_version=1`, `from_version=2&${now}`]) {
      const { headers } = await gateway.as('reader', 'get', byVersion(chain, query, 'acme')).expect(200);
      expect(headers['cache-control']).toBe('private, no-cache');
    }
  });
});

describe('a verified diff', () => {
  const three = (): Promise<Chain> =>
    writeChain(...['A', 'B', 'C'].map((name) => ({ attributes: { legal: { legal_name: name } } })));

  it('contains the verification of both snapshots', async () => {
    const chain = await three();
    const [first, last] = [sha256(chain.sent[0]), sha256(chain.sent[1])];
    const path = byVersion(chain, 'from_version=1&to_version=2');
    const hashes = {
      alg: 'sha-256',
      from: { value: first, stored: first, valid: true },
      to: { value: last, stored: last, valid: true },
    };
    const byHash = await gateway.as('reader', 'get', `${path}&verify=hash`).expect(200);
    expect(byHash.body.verification).toEqual({
      mode: 'hash',
      chain_supported: true,
      hash: hashes,
      chain: {
        prev_hash: first,
        valid: null,
        depth: 0,
        complete: null,
        from: { prev_hash: null, valid: null, depth: 0, complete: null },
        to: { prev_hash: first, valid: null, depth: 0, complete: null },
      },
    });
    const byChain = await gateway.as('reader', 'get', `${path}&verify=chain&depth=5`).expect(200);
    expect(byChain.body.verification).toEqual({
      mode: 'chain',
      chain_supported: true,
      hash: hashes,
      chain: {
        prev_hash: first,
        valid: true,
        depth: 1,
        complete: true,
        from: { prev_hash: null, valid: true, depth: 0, complete: true },
        to: { prev_hash: first, valid: true, depth: 1, complete: true },
      },
    });
    expect((await gateway.as('reader', 'get', path).expect(200)).body).not.toHaveProperty('verification');
  });

  it('detects tampering on either side', async () => {
    const chain = await three();
    const superuser = new Client({ connectionString: gateway.databaseUrl });
    await superuser.connect();
    const tamper = async (change: string): Promise<void> => {
      await superuser.query('ALTER TABLE snapshots DISABLE TRIGGER USER');
      await superuser.query(`UPDATE snapshots SET ${change} WHERE snapshot_id = $1`, [chain.ids[0]]);
      await superuser.query('ALTER TABLE snapshots ENABLE TRIGGER USER');
    };
    const verify = async (query: string) =>
      (await gateway.as('reader', 'get', byVersion(chain, query)).expect(200)).body.verification;

    await tamper(`envelope = replace(envelope, '"A"', '"X"')`);
    expect((await verify('from_version=1&to_version=2&verify=hash')).hash).toMatchObject({
      from: { valid: false },
      to: { valid: true },
    });
    expect((await verify('from_version=2&to_version=1&verify=hash')).hash).toMatchObject({
      from: { valid: true },
      to: { valid: false },
    });
    await tamper(`envelope_hash = sha256(convert_to(envelope, 'UTF8'))`);
    expect((await verify('from_version=2&to_version=3&verify=hash')).hash.from.valid).toBe(true);
    expect((await verify('from_version=2&to_version=3&verify=chain')).chain).toMatchObject({
      valid: false,
      from: { valid: false },
      to: { valid: true },
    });
    expect((await verify('from_version=3&to_version=3&verify=chain&depth=2')).chain.valid).toBe(false);
    await superuser.end();
  });
});

describe('a diff is refused', () => {
  it.each<[string, string, string]>([
    ['to_version=2', '/query/from_version', 'required'],
    ['from_version=1', '/query/to_version', 'required'],
    ['from_version=0&to_version=2', '/query/from_version', 'invalid_value'],
    ['from_version=1&to_version=-1', '/query/to_version', 'invalid_value'],
    ['from_version=1&to_version=1.0', '/query/to_version', 'invalid_value'],
    ['from_version=1&to_version=01', '/query/to_version', 'invalid_value'],
    ['from_version=one&to_version=2', '/query/from_version', 'invalid_value'],
    ['from_version=&to_version=2', '/query/from_version', 'invalid_value'],
    ['from_version=1&to_version=2147483648', '/query/to_version', 'too_large'],
    ['from_version=1&from_version=2&to_version=2', '/query/from_version', 'invalid_value'],
    ['from_version=1&to_version=2&format=rfc7396', '/query/format', 'invalid_value'],
    ['from_version=1&to_version=2&include=', '/query/include', 'invalid_value'],
    ['from_version=1&to_version=2&include=/evidence', '/query/include', 'invalid_value'],
    ['from_version=1&to_version=2&include=/subject,', '/query/include', 'invalid_value'],
    ['from_version=1&to_version=2&include=subject', '/query/include', 'invalid_value'],
    ['from_version=1&to_version=2&include=/attributes/legal', '/query/include', 'invalid_value'],
    ['from_version=1&to_version=2&include_attribution=all', '/query/include_attribution', 'invalid_value'],
    ['from_version=1&to_version=2&verify=full', '/query/verify', 'invalid_value'],
    ['from_version=1&to_version=2&verify=chain&depth=0', '/query/depth', 'invalid_value'],
    ['from_version=1&to_version=2&verify=chain&depth=1001', '/query/depth', 'too_large'],
    ['from_version=1&to_version=2&vew=full', '/query/vew', 'unknown_field'],
  ])('for the query %s', async (query, path, code) => {
    const chain: Chain = { subject: { subject_type: 'organization', subject_id: 'none' }, sent: [], ids: [] };
    for (const tenant of [undefined, 'acme']) {
      const { body } = await gateway.as('reader', 'get', byVersion(chain, query, tenant)).expect(400);
      expect(body.error.code).toBe('validation_error');
      expect(body.error.details).toEqual([{ path, message: expect.any(String), code }]);
    }
  });

  it.each<[string, string, string, string]>([
    ['no-uuid', UNKNOWN, '', '/path/from_snapshot_id'],
    [UNKNOWN, 'no-uuid', '', '/path/to_snapshot_id'],
    [UNKNOWN, UNKNOWN, 'from_version=1', '/query/from_version'],
    [UNKNOWN, UNKNOWN, 'format=text', '/query/format'],
    [UNKNOWN, UNKNOWN, 'include=x', '/query/include'],
  ])('for the ids %s and %s with the query "%s"', async (from, to, query, path) => {
    for (const tenant of [undefined, 'acme']) {
      const { body } = await gateway.as('reader', 'get', byId(from, to, query, tenant)).expect(400);
      expect(body.error).toMatchObject({ code: 'validation_error', details: [{ path }] });
    }
  });

  it('between snapshots of different subjects, with the reason only for callers that may read both', async () => {
    const [one, other] = [await twoVersions(), await twoVersions()];
    const [from = '', to = ''] = [one.ids[0], other.ids[0]];
    for (const tenant of [undefined, 'acme']) {
      const { body } = await gateway.as('reader', 'get', byId(from, to, '', tenant)).expect(400);
      expect(body.error).toMatchObject({ code: 'validation_error', details: [{ path: '/path/to_snapshot_id' }] });
    }
    await grantToBeta(one, ['read_diff']);
    for (const [first, last] of [
      [from, to],
      [to, from],
    ] as const) {
      await gateway.as('bob', 'get', byId(first, last, '', 'beta')).expect(403);
      await gateway.as('bob', 'get', byId(first, last)).expect(404);
    }
  });

  it('with 404 for a missing version or snapshot, if the caller may read the subject', async () => {
    const chain = await twoVersions();
    const [first = ''] = chain.ids;
    for (const path of [
      byVersion(chain, 'from_version=1&to_version=3'),
      byVersion(chain, 'from_version=3&to_version=1', 'acme'),
      byId(first, randomUUID()),
      byId(randomUUID(), first, '', 'acme'),
      byId(randomUUID(), randomUUID(), '', 'acme'),
    ]) {
      const { body } = await gateway.as('reader', 'get', path).expect(404);
      expect(body.error.code).toBe('not_found');
    }
  });
});

async function grantToBeta({ subject }: Chain, scopes: string[]): Promise<string> {
  const grant = { grantee_tenant_id: 'beta', ...subject, scopes };
  return (await gateway.as('alice', 'post', '/v1/tenants/acme/grants').send(grant).expect(201)).body.grant_id;
}

describe('the right to read a diff', () => {
  const query = 'from_version=1&to_version=2';

  it('is refused with the same message for existing and missing subjects', async () => {
    const chain = await twoVersions();
    const none: Chain = { ...chain, subject: { ...chain.subject, subject_id: 'none' } };
    const there = await gateway.as('bob', 'get', byVersion(chain, query, 'beta')).expect(403);
    const notThere = await gateway.as('bob', 'get', byVersion(none, query, 'beta')).expect(403);
    expect(there.body.error.message).toBe(notThere.body.error.message);
    const hidden = await gateway.as('bob', 'get', byVersion(chain, query)).expect(404);
    const missing = await gateway.as('bob', 'get', byVersion(none, query)).expect(404);
    expect(hidden.body.error.message).toBe(missing.body.error.message);
  });

  it('is refused to a stranger even if a snapshot does not exist', async () => {
    const { ids } = await twoVersions();
    await gateway.as('stranger', 'get', byId(ids[0] ?? '', randomUUID(), '', 'acme')).expect(403);
  });

  it('belongs to a grantee with read_diff while the grant is live', async () => {
    const chain = await twoVersions();
    const [first = '', last = ''] = chain.ids;
    const statuses = async (): Promise<number[]> => {
      const paths = [
        byVersion(chain, query, 'beta'),
        byVersion(chain, query),
        byId(first, last, '', 'beta'),
        byId(first, last),
      ];
      return Promise.all(paths.map(async (path) => (await gateway.as('bob', 'get', path)).status));
    };
    const revoke = async (id: string): Promise<void> => {
      await gateway.as('alice', 'post', `/v1/tenants/acme/grants/${id}/revoke`).expect(200);
    };
    expect(await statuses()).toEqual([403, 404, 403, 404]);
    const others = await grantToBeta(chain, ['read_latest', 'read_lineage', 'read_snapshot_by_id']);
    expect(await statuses()).toEqual([403, 404, 403, 404]);
    await revoke(others);
    const granted = await grantToBeta(chain, ['read_diff']);
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await gateway.as('bob', 'get', byVersion(chain, 'from_version=1&to_version=9', 'beta')).expect(404);

    const bob = `/v1/tenants/beta/principals/${encodeURIComponent('oidc:test#bob')}`;
    await gateway.as('bob', 'put', bob).send({ allow_counterparty_access: false }).expect(200);
    expect(await statuses()).toEqual([403, 404, 403, 404]);
    await gateway.as('bob', 'put', bob).send({ allow_counterparty_access: true }).expect(200);
    await revoke(granted);
    expect(await statuses()).toEqual([403, 404, 403, 404]);
  });
});
