import { createHash } from 'node:crypto';
import { publishLog } from './publish-log';
import { FORMS, newSubject, pathOf, ReadWorld, type Subject } from './read-world';

let world: ReadWorld;
/** Subjects with this number of versions, which no test changes. */
let one: Subject;
let five: Subject;
let six: Subject;
const tokens = new Map<string, string>();

beforeAll(async () => {
  world = await ReadWorld.open({ EXPORT_MAX_SNAPSHOTS: '5' });
  for (const user of ['alice', 'bob']) tokens.set(user, await world.gateway.issuer.mint(user));
  [one, five, six] = [await world.lineage(1), await world.lineage(5), await world.lineage(6)];
});

afterAll(() => world?.close());

const NDJSON = 'application/x-ndjson';
/** Returns the response without reading it, so that the client can stop in the middle. */
const open = (path: string, user = 'alice', accept = NDJSON): Promise<Response> =>
  fetch(`${world.gateway.url}${path}`, { headers: { Authorization: `Bearer ${tokens.get(user)}`, Accept: accept } });

interface Snapshot {
  snapshot_id: string;
  snapshot_version: number;
  envelope_hash: string;
  prev_hash: string | null;
  envelope: Record<string, unknown>;
}

async function lines(response: Response): Promise<string[]> {
  const text = await response.text();
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

describe.each(FORMS)('an export at %s', (form) => {
  const path = (subject: Subject): string => `${pathOf(form, subject)}/export`;

  it('returns the versions in BODS 0.4, as an array or as lines', async () => {
    const subject = newSubject();
    const names = ['Alt AG', 'Alt AG', 'Neu AG'];
    for (const [index, legal_name] of names.entries()) {
      await world.write(subject, index + 1, { attributes: { legal: { legal_name }, note: index } });
    }
    const url = `${path(subject)}?format=bods-0.4`;
    const { body } = await world.gateway.as('alice', 'get', url).expect(200);
    const recordId = `organization/${subject.subject_id}`;
    expect(body).toMatchObject([
      { recordId, recordType: 'entity', recordStatus: 'new', recordDetails: { name: 'Alt AG' } },
      { recordId, recordType: 'entity', recordStatus: 'updated', recordDetails: { name: 'Neu AG' } },
    ]);
    expect((await lines(await open(url))).map((line) => JSON.parse(line))).toEqual(body);
    await world.gateway.as('alice', 'get', `${url}&proofs=log`).set('Accept', NDJSON).expect(400);
    await world.gateway.as('alice', 'get', `${path(subject)}?format=bods-0.3`).expect(400);
  });

  it('contains every snapshot as its own read returns it, in ascending order', async () => {
    const subject = newSubject();
    for (const version of [1, 2, 3]) {
      await world.write(subject, version, { attributes: { 'Zürich Öl': version, '': '\u2028' } });
    }
    const { body, headers } = await world.gateway.as('alice', 'get', path(subject)).expect(200);
    const single = await Promise.all(
      [1, 2, 3].map(
        async (version) =>
          (await world.gateway.as('alice', 'get', `${pathOf(form, subject)}/snapshots/${version}`)).body,
      ),
    );
    expect(body).toEqual({
      subject,
      canonicalization_method: 'json-canonicalize-rfc8785',
      hash_algorithm: 'sha-256',
      snapshots: single,
    });
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', vary: 'Accept' });
    const streamed = await open(path(subject));
    expect(streamed.headers.get('content-type')).toBe(NDJSON);
    expect((await lines(streamed)).map((line) => JSON.parse(line))).toEqual(single);
  });

  it.each([
    ['application/json', 'json'],
    ['*/*', 'json'],
    ['text/html', 'json'],
    ['application/x-ndjson, application/json;q=0.5', 'lines'],
    ['application/x-ndjson;q=0.5, application/json', 'json'],
    ['application/x-ndjson;q=0, */*', 'json'],
    ['application/*;q=0.1, application/x-ndjson', 'lines'],
  ])('is negotiated by Accept: %s returns %s', async (accept, kind) => {
    const response = await open(path(one), 'alice', accept);
    expect(response.headers.get('content-type')?.startsWith(NDJSON)).toBe(kind === 'lines');
    expect(Object.keys(JSON.parse(await response.text()))).toContain(kind === 'lines' ? 'snapshot_id' : 'snapshots');
  });

  it.each(['application/json', '*/*', 'text/html', NDJSON])(
    'returns lines at .ndjson for Accept: %s',
    async (accept) => {
      const negotiated = await open(path(six));
      const response = await open(`${path(six)}.ndjson`, 'alice', accept);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, NDJSON]);
      expect(await response.text()).toBe(await negotiated.text());
    },
  );

  it('refuses too many versions as one document, and names NDJSON as the alternative', async () => {
    await world.gateway.as('alice', 'get', path(five)).expect(200);
    const { body } = await world.gateway.as('alice', 'get', path(six)).expect(400);
    expect(body.error).toMatchObject({
      code: 'validation_error',
      details: [{ path: '/path/subject_id', code: 'too_large' }],
    });
    expect(body.error.message).toContain(NDJSON);
    await world.gateway.as('alice', 'get', `${path(six)}?format=bods-0.4`).expect(400);
    expect(await lines(await open(path(six)))).toHaveLength(6);
  });

  it('is complete, ordered and intact for 600 versions as lines', async () => {
    // The gateway reads 256 versions with each statement.
    const count = 600;
    const subject = await world.lineage(count, 100);
    const snapshots = (await lines(await open(path(subject)))).map((line): Snapshot => JSON.parse(line));
    expect(snapshots.map(({ snapshot_version }) => snapshot_version)).toEqual(
      Array.from({ length: count }, (_, index) => index + 1),
    );
    let parent: string | null = null;
    for (const { envelope_hash, prev_hash, envelope: stored } of snapshots) {
      expect(prev_hash).toBe(parent);
      expect(createHash('sha256').update(JSON.stringify(stored)).digest('hex')).toBe(envelope_hash);
      parent = envelope_hash;
    }
  });

  it('is complete with large envelopes', async () => {
    const subject = await world.lineage(5, 1_000_000);
    const { body } = await world.gateway.as('alice', 'get', path(subject)).expect(200);
    expect(body.snapshots.map(({ snapshot_version }: Snapshot) => snapshot_version)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('a running export', () => {
  /** The stream is long enough that it has to wait for its reader, in spite of the sockets' buffers. */
  const count = 40;
  let subject: Subject;

  beforeAll(async () => {
    subject = await world.lineage(count, 1_000_000);
  });

  it('is aborted when the grant is revoked', async () => {
    const granted = { grantee_tenant_id: 'beta', ...subject, scopes: ['read_lineage'] };
    const grant = await world.gateway.as('alice', 'post', '/v1/tenants/acme/grants').send(granted).expect(201);
    const response = await open(`${pathOf('/v1/tenants/beta', subject)}/export`, 'bob');
    expect(response.status).toBe(200);
    await world.gateway.as('alice', 'post', `/v1/tenants/acme/grants/${grant.body.grant_id}/revoke`).expect(200);
    await expect(response.text()).rejects.toThrow('terminated');
    for (const name of ['export', 'export.ndjson']) {
      await world.gateway.as('bob', 'get', `${pathOf('/v1/tenants/beta', subject)}/${name}`).expect(403);
    }
  });

  it('contains the versions that existed at its start, each unchanged or marked as erased', async () => {
    await publishLog(world.gateway.databaseUrl);
    const admin = encodeURIComponent('oidc:test#admin');
    await world.gateway
      .as('alice', 'put', `/v1/tenants/acme/members/${admin}`)
      .send({ role: 'tenant_admin' })
      .expect(200);
    const path = pathOf('/v1/tenants/acme', subject);
    const { body } = await world.gateway
      .as('alice', 'post', `${path}/erasure`)
      .send({ versions: 'all', reason: 'asked for', reference: 'R-1' })
      .expect(201);
    const response = await open(`${path}/export`);
    expect(response.status).toBe(200);
    await world.write(subject, count + 1);
    await world.gateway.as('admin', 'post', `${path}/erasures/${body.erasure_id}/confirm`).expect(200);
    const snapshots = (await lines(response)).map((line): Snapshot & { erased?: unknown } => JSON.parse(line));
    expect(snapshots.map(({ snapshot_version }) => snapshot_version)).toEqual(
      Array.from({ length: count }, (_, index) => index + 1),
    );
    let parent: string | null = null;
    for (const { envelope: stored, envelope_hash, prev_hash, erased: isErased } of snapshots) {
      expect(prev_hash).toBe(parent);
      parent = envelope_hash;
      if (isErased !== undefined) expect(stored).toBeUndefined();
      else expect(createHash('sha256').update(JSON.stringify(stored)).digest('hex')).toBe(envelope_hash);
    }
    expect(snapshots.at(0)?.erased).toBeUndefined();
    expect(snapshots.at(-1)?.erased).toBeDefined();
  });
});
