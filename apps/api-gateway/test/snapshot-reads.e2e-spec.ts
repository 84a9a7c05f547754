import { createHash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { envelope, itInDatabase } from './gateway';
import { FORMS, newSubject, pathOf, ReadWorld } from './read-world';

let world: ReadWorld;

beforeAll(async () => {
  world = await ReadWorld.open();
});

afterAll(() => world?.close());

const sha256 = (value: unknown): string =>
  createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex');

describe.each(FORMS)('the current state at %s', (form) => {
  it('summarizes the latest snapshot', async () => {
    const subject = newSubject();
    const first = await world.write(subject, 1);
    const evidence = ['a', 'b'].map((evidence_id) => ({
      evidence_id,
      evidence_type: 'extract',
      source: 'register',
      captured_at: '2026-01-15T09:30:00Z',
    }));
    const paths = { '/attributes/legal': [{ evidence_id: 'a', evidence_type: 'extract' }] };
    const second = await world.write(subject, 2, { evidence, attribute_paths: paths });
    const answer = await world.read(pathOf(form, subject));
    expect(answer.body).toEqual({
      subject,
      current_snapshot: {
        snapshot_id: second['snapshot_id'],
        snapshot_version: 2,
        generated_at: second['generated_at'],
        hash: sha256(second),
        prev_hash: sha256(first),
      },
      identity: second['attributes'],
      provenance: { evidence_count: 2, has_attribute_paths: true, has_audit: true },
    });
    expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-cache', etag: `"${sha256(second)}.summary"` });
    await world.read(pathOf(form, subject), 304).set('If-None-Match', answer.headers['etag'] ?? '');
    await world.write(subject, 3);
    const newer = await world.read(pathOf(form, subject)).set('If-None-Match', answer.headers['etag'] ?? '');
    expect(newer.body).toMatchObject({
      current_snapshot: { snapshot_version: 3, prev_hash: sha256(second) },
      provenance: { evidence_count: 0, has_attribute_paths: false },
    });
  });

  it('returns the attributes exactly, in canonical form', async () => {
    const subject = newSubject();
    const attributes = String.raw`{"__proto__":{"a":1},"constructor":{"prototype":{}},"":0,"nul":"\u0000","caf\u00e9":1,"cafe\u0301":2,"n":333333333.33333329,"k\\":1,"k\"":2}`;
    const body = JSON.stringify(envelope({ subject, attributes: 'HERE' })).replace('"HERE"', attributes);
    const post = world.gateway
      .as('alice', 'post', '/v1/tenants/acme/entity-states')
      .set('Content-Type', 'application/json');
    await post.send(body).expect(201);
    const { text } = await world.read(pathOf(form, subject));
    expect(text).toContain(`"identity":${canonicalize(JSON.parse(attributes))}`);
  });

  itInDatabase('is verified on request, and then not cacheable', async () => {
    const subject = await world.written(3);
    const hash = await world.read(`${pathOf(form, subject)}?verify=hash`);
    expect(hash.body.verification).toMatchObject({ mode: 'hash', hash: { valid: true }, chain: { valid: null } });
    expect(hash.headers).not.toHaveProperty('etag');
    expect(hash.headers['cache-control']).toBe('no-store');
    const chain = await world.read(`${pathOf(form, subject)}?verify=chain&depth=2`);
    expect(chain.body.verification).toEqual({
      mode: 'chain',
      chain_supported: true,
      hash: {
        alg: 'sha-256',
        value: chain.body.current_snapshot.hash,
        stored: chain.body.current_snapshot.hash,
        valid: true,
      },
      chain: { prev_hash: chain.body.current_snapshot.prev_hash, valid: true, depth: 2, complete: true },
    });
    await world.tamper(subject, 1, `envelope = replace(envelope, 'Zürich', 'Basel')`);
    const tampered = await world.read(`${pathOf(form, subject)}?verify=chain&depth=2`);
    expect(tampered.body.verification).toMatchObject({ hash: { valid: true }, chain: { valid: false } });
    const shallow = await world.read(`${pathOf(form, subject)}?verify=chain`);
    expect(shallow.body.verification.chain).toMatchObject({ valid: true, depth: 1, complete: false });
  });

  it.each([
    ['?view=none', '/query/view'],
    ['?verify=all', '/query/verify'],
    ['?verify=hash&verify=chain', '/query/verify'],
    ['?depth=0', '/query/depth'],
    ['?depth=1.5', '/query/depth'],
    ['?depth=1001', '/query/depth'],
  ])('refuses %s', async (query, path) => {
    expect(await world.faultOf(`${pathOf(form, await world.lineage(1))}${query}`)).toMatchObject({ path });
  });
});

describe.each(FORMS)('one snapshot at %s', (form) => {
  it('is verified alike by latest, by version and by id', async () => {
    const subject = await world.written(2);
    const latest = await world.read(`${pathOf(form, subject)}/snapshots/latest`);
    const expected = {
      mode: 'hash',
      chain_supported: true,
      hash: { alg: 'sha-256', value: latest.body.envelope_hash, stored: latest.body.envelope_hash, valid: true },
      chain: { prev_hash: latest.body.prev_hash, valid: null, depth: 0, complete: null },
    };
    for (const path of [
      `${pathOf(form, subject)}/snapshots/latest`,
      `${pathOf(form, subject)}/snapshots/2`,
      `${form}/snapshots/${latest.body.snapshot_id}`,
    ]) {
      const plain = await world.read(path);
      expect(plain.body).toEqual(latest.body);
      const { body } = await world.read(`${path}?verify=hash`);
      expect(body).toEqual({ ...latest.body, verification: expected });
      const header = await world.read(`${path}?verify=chain&view=header`);
      expect(header.body).not.toHaveProperty('envelope');
      expect(header.body.verification).toMatchObject({ mode: 'chain', chain: { valid: true, depth: 1 } });
      expect(header.headers).not.toHaveProperty('etag');
      expect((await world.faultOf(`${path}?depth=1001`)).path).toBe('/query/depth');
      expect((await world.faultOf(`${path}?view=all`)).path).toBe('/query/view');
      expect((await world.faultOf(`${path}?limit=1`)).path).toBe('/query/limit');
    }
  });

  it('has a proof without its content', async () => {
    const subject = await world.written(2);
    const { body: latest } = await world.read(`${pathOf(form, subject)}/snapshots/latest`);
    const proof = await world.read(`${form}/snapshots/${latest.snapshot_id}/proof`);
    expect(proof.body).toEqual({
      snapshot_id: latest.snapshot_id,
      ...subject,
      snapshot_version: 2,
      envelope_hash: latest.envelope_hash,
      prev_hash: latest.prev_hash,
      canonicalization_method: 'json-canonicalize-rfc8785',
      hash_algorithm: 'sha-256',
    });
    expect(proof.headers['cache-control']).toBe('private, immutable');
    await world
      .read(`${form}/snapshots/${latest.snapshot_id}/proof`, 304)
      .set('If-None-Match', proof.headers['etag'] ?? '');
    await world.read(`${form}/snapshots/${randomUUID()}/proof`, 404);
    expect(await world.faultOf(`${form}/snapshots/x/proof`)).toMatchObject({ path: '/path/snapshot_id' });
  });

  it('is not cacheable if it was imported without hashes, which it may get later', async () => {
    const subject = await world.lineage(2);
    await world.tamper(subject, 2, 'prev_hash = NULL');
    await world.tamper(subject, 1, 'envelope_hash = NULL');
    for (const version of [1, 2]) {
      const answer = await world.read(`${pathOf(form, subject)}/snapshots/${version}`);
      expect(answer.headers).not.toHaveProperty('etag');
    }
    const { body } = await world.read(`${pathOf(form, subject)}/snapshots/1?verify=chain`);
    expect(body.verification).toMatchObject({ chain_supported: false, hash: { stored: null, valid: null } });
  });

  it('is returned from the cache, while verification reads the stored text', async () => {
    const subject = await world.written(1);
    const first = await world.read(`${pathOf(form, subject)}/snapshots/1`);
    const latest = `${pathOf(form, subject)}/snapshots/latest`;
    const paths = [latest, `${pathOf(form, subject)}/snapshots/1`, `${form}/snapshots/${first.body.snapshot_id}`];
    const texts = async (): Promise<string[]> => {
      const answers = [];
      for (const path of [...paths, ...paths]) answers.push((await world.read(path)).text);
      return [...new Set(answers)];
    };
    expect(await texts()).toEqual([first.text]);
    await world.tamper(subject, 1, `envelope = replace(envelope, 'Zürich', 'Basel')`);
    for (const path of paths) {
      const { body } = await world.read(`${path}?verify=hash`);
      expect(body.verification.hash.valid).toBe(false);
    }
    expect(await texts()).toEqual([first.text]);
    await world.tamper(subject, 1, `envelope_hash = sha256(convert_to(envelope, 'UTF8'))`);
    const [changed, ...others] = await texts();
    expect(others).toEqual([]);
    expect(changed).toContain('Basel');
    await world.write(subject, 2);
    expect((await world.read(latest)).body.snapshot_version).toBe(2);
  });

  it('is verified along a deep chain of large envelopes', async () => {
    const subject = await world.lineage(12, 1_000_000);
    const { body } = await world.read(`${pathOf(form, subject)}/snapshots/latest?verify=chain&depth=11&view=header`);
    expect(body.verification.chain).toMatchObject({ valid: true, depth: 11 });
  });
});

describe('refused reads of snapshots', () => {
  it('an outsider cannot learn whether a subject exists, in either form', async () => {
    const subject = await world.lineage(1);
    const none = { ...subject, subject_id: 'none' };
    for (const suffix of [
      '',
      '/snapshots/latest',
      '/snapshots/1',
      '/snapshots',
      '/history',
      '/chain-proof',
      '/export',
    ]) {
      for (const [form, status] of [
        ['/v1/tenants/beta', 403],
        ['/v1', 404],
      ] as const) {
        const there = await world.read(`${pathOf(form, subject)}${suffix}`, status, 'bob');
        const notThere = await world.read(`${pathOf(form, none)}${suffix}`, status, 'bob');
        expect(there.body.error.message).toBe(notThere.body.error.message);
      }
    }
  });

  it.each([
    ['/v1/subjects/thing/x', '/path/subject_type'],
    ['/v1/subjects/organization/%00/history', '/path/subject_id'],
    ['/v1/tenants/-/subjects/organization/x/chain-proof', '/path/tenant_id'],
    ['/v1/tenants/acme/subjects/thing/x/export', '/path/subject_type'],
    ['/v1/subjects/organization/x/snapshots/0', '/path/snapshot_version'],
  ])('an invalid path is refused: %s', async (path, at) => {
    expect(await world.faultOf(path)).toMatchObject({ path: at });
  });
});

describe.each(FORMS)('every read of snapshots at %s', (form) => {
  it('accepts view, verify and depth, even where they have no effect', async () => {
    const subject = await world.written(2);
    const at = pathOf(form, subject);
    const { snapshot_id } = (await world.read(`${at}/snapshots/latest`)).body;
    const proof = `${form}/snapshots/${snapshot_id}/proof`;
    for (const path of [proof, `${at}/chain-proof`, `${at}/export`]) {
      const plain = await world.read(path);
      const asked = await world.read(`${path}?view=header&verify=chain&depth=all`);
      expect([path, asked.body]).toEqual([path, plain.body]);
    }
    for (const path of [
      at,
      `${at}/history`,
      `${at}/snapshots`,
      `${at}/snapshots/2`,
      `${form}/snapshots/${snapshot_id}`,
    ]) {
      await world.read(`${path}?view=header&verify=chain&depth=all`);
    }
    const diff = await world.read(`${at}/diff?from_version=2&to_version=2&view=header&verify=chain&depth=all`);
    expect(diff.body.verification.chain).toMatchObject({
      complete: true,
      from: { depth: 1, complete: true },
      to: { depth: 1, complete: true },
    });
  });

  it('treats attribute_paths: null as no attribution, and returns it as sent', async () => {
    const subject = newSubject();
    const sent = await world.write(subject, 1, { attribute_paths: null });
    const refs = [{ evidence_id: 'e', evidence_type: 't' }];
    const path = '/attributes/legal/legal_name';
    const named = (name: string): Record<string, unknown> => ({
      attributes: { legal: { legal_name: name } },
      attribute_paths: { [path]: refs },
    });
    await world.write(subject, 2, named('B'));
    await world.write(subject, 3, named('C'));
    const at = pathOf(form, subject);
    const first = (await world.read(`${at}/snapshots/1?verify=hash`)).body;
    expect(first).toMatchObject({ envelope: sent, verification: { hash: { valid: true } } });
    const attribution = async (from: number, to: number): Promise<Record<string, unknown>[]> =>
      (await world.read(`${at}/diff?from_version=${from}&to_version=${to}`)).body.attribution;
    expect(await attribution(1, 2)).toContainEqual({ path, from: null, to: refs });
    expect(await attribution(2, 1)).toContainEqual({ path, from: refs, to: null });
    expect(await attribution(2, 3)).toEqual([{ path, from: refs, to: refs, evidence_unchanged: true }]);
  });

  itInDatabase('verifies back to version 1 with depth=all, and detects older tampering', async () => {
    const subject = await world.lineage(30);
    const chainOf = async (query: string): Promise<Record<string, unknown>> =>
      (await world.read(`${pathOf(form, subject)}/snapshots/latest?view=header&verify=chain${query}`)).body.verification
        .chain;
    expect(await chainOf('')).toMatchObject({ valid: true, depth: 1, complete: false });
    expect(await chainOf('&depth=all')).toMatchObject({ valid: true, depth: 29, complete: true });
    await world.tamper(subject, 2, `envelope = replace(envelope, '"attributes":{', '"attributes":{"forged":1,')`);
    expect(await chainOf('')).toMatchObject({ valid: true });
    expect(await chainOf('&depth=all')).toMatchObject({ valid: false });
  });

  it('lists the known query parameters when it refuses an unknown one', async () => {
    const { body } = await world.read(`${pathOf(form, await world.lineage(1))}/snapshots/latest?vew=full`, 400);
    expect(body.error.details).toEqual([
      {
        path: '/query/vew',
        message: 'Unknown query parameter `vew`. This route takes verify, depth, view, as_of, basis.',
        code: 'unknown_field',
      },
    ]);
  });

  it('names the latest version in a 404 only to the owner', async () => {
    const subject = await world.written(2);
    const { body } = await world.read(`${pathOf(form, subject)}/snapshots/3`, 404);
    expect(body.error.message).toBe('No version 3 of this subject: the latest is 2.');
    const diff = await world.read(`${pathOf(form, subject)}/diff?from_version=1&to_version=9`, 404);
    expect(diff.body.error.details).toMatchObject([{ path: '/query/to_version', message: 'must be from 1 to 2' }]);
    const path = `${pathOf('/v1', subject)}/snapshots/3`;
    expect((await world.read(path, 404, 'stranger')).body.error.message).toMatch(/^No such subject or snapshot/);
  });
});

test('depth=all stops at VERIFY_MAX_DEPTH, and reports an incomplete chain', async () => {
  const bounded = await ReadWorld.open({ VERIFY_MAX_DEPTH: '10' });
  try {
    const path = `${pathOf('/v1', await bounded.lineage(30))}/snapshots/latest?verify=chain&depth=all`;
    const { body } = await bounded.read(path);
    expect(body.verification.chain).toMatchObject({ valid: true, depth: 10, complete: false });
  } finally {
    await bounded.close();
  }
});
