import { createHash } from 'node:crypto';
import { SDJwt } from '@sd-jwt/core';
import { OPERATIONS } from '@iss/contract';
import { BundleVerifier, readPolicy } from '@iss/proof';
import type { Response } from 'supertest';
import { envelope } from './gateway';
import { GrantWorld } from './grant-world';
import { publishLog } from './publish-log';
import type { Subject } from './read-world';

/** Every hidden value, key and source contains the first text, and every shown value the second. */
const HIDDEN = 'h1dden';
const SHOWN = 'v1sible';
const SCOPES = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff', 'issue_view'];
const PATHS = ['/attributes/identifiers/lei', '/attributes/legal/legal_name', '/attributes/owners'];

let world: GrantWorld;
let subject: Subject;
let grantId: string;
/** The snapshot ids of versions 1 to 4. */
const ids: string[] = [];

/** Version 2 changes only hidden values, and version 3 a shown one. */
const attributesOf = (version: number) => ({
  legal: { legal_name: `${SHOWN} AG ${version < 3 ? 1 : version}`, form: `${HIDDEN} form ${version}` },
  identifiers: { lei: `${SHOWN}-lei`, vat: `${HIDDEN}-vat` },
  owners: [{ name: `${SHOWN} owner`, share: 26 }],
  [`${HIDDEN}_key`]: { [`${HIDDEN}_inner`]: 81726354, list: [`${HIDDEN} element`] },
});

beforeAll(async () => {
  world = await GrantWorld.open();
  subject = { subject_type: 'organization', subject_id: 'acme-part' };
  for (const version of [1, 2, 3]) {
    const body = envelope({
      subject: { ...subject, note: `${HIDDEN} note` },
      snapshot_version: version,
      generated_at: `2026-01-0${version}T00:00:00Z`,
      attributes: attributesOf(version),
      evidence: [
        {
          evidence_id: 'ev-1',
          evidence_type: 'register',
          source: `${SHOWN} register`,
          captured_at: '2026-01-01T00:00:00Z',
        },
        { evidence_id: `${HIDDEN}-ev`, evidence_type: 'file', source: HIDDEN, captured_at: '2026-01-01T00:00:00Z' },
      ],
      attribute_paths: {
        '/attributes/legal': [{ evidence_id: 'ev-1', evidence_type: 'register' }],
        [`/attributes/${HIDDEN}_key`]: [{ evidence_id: `${HIDDEN}-ev`, evidence_type: 'file' }],
      },
      audit: { created_by: `${HIDDEN} clerk`, created_at: '2026-01-01T00:00:00Z', source: HIDDEN },
      [`${HIDDEN}_root`]: true,
    });
    await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
    ids.push(String(body['snapshot_id']));
  }
  const updates = '/v1/tenants/acme/subjects/organization/acme-part/updates';
  const proposed = await world.gateway
    .as('alice', 'post', updates)
    .send({
      subject_id: subject.subject_id,
      base_snapshot_version: 3,
      change_kind: 'correction',
      patch_ops: [{ op: 'replace', path: `/attributes/${HIDDEN}_key/list/0`, value: `${HIDDEN} patch` }],
    })
    .expect(201);
  const applied = await world.gateway.as('alice', 'post', `${updates}/${proposed.body.update_id}/apply`).expect(200);
  ids.push(applied.body.snapshot_id);
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/issuing-keys').expect(201);
  grantId = await world.grantOn(subject, { scopes: SCOPES, paths: PATHS });
  await publishLog(world.gateway.databaseUrl);
});

afterAll(() => world?.close());

const BETA = '/v1/tenants/beta/subjects/organization/acme-part';
const get = (path: string, status = 200) => world.gateway.as('bob', 'get', path).expect(status);

/** Returns the whole content of an answer, with its disclosures decoded. */
function saidBy({ text, headers, body }: Response): string {
  const decoded: string[] = [];
  JSON.stringify(body ?? null, (_, value) => {
    if (typeof value === 'string' && value.length > 20)
      decoded.push(Buffer.from(value, 'base64url').toString('latin1'));
    return value;
  });
  for (const line of (text ?? '').split(/[",\n.~]/)) decoded.push(Buffer.from(line, 'base64url').toString('latin1'));
  return `${text}${JSON.stringify(headers)}${decoded.join('')}`;
}

/** Queries with which operations return more. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  diffVersions: ['from_version=1&to_version=4', 'from_version=1&to_version=4&include=/&verify=chain'],
  diffSnapshots: ['include=/'],
  getSubject: ['', 'verify=chain', 'as_of=2026-01-02&basis=effective'],
  getLatestSnapshot: ['', 'view=header', 'verify=hash', 'as_of=2026-01-02&basis=effective'],
  getSnapshotVersion: ['', 'verify=chain&depth=all'],
  getSnapshot: ['', 'verify=hash'],
  listSnapshots: [
    'view=full',
    'view=full&order=asc&verify=chain',
    'from=2026-01-01&to=2026-01-03&basis=effective&view=full',
  ],
  listHistory: ['', 'view=full&limit=2'],
  exportSnapshots: ['', 'as_of=2026-01-02&basis=effective', 'proofs=log', 'format=bods-0.4'],
  getProvenance: [
    '',
    'version=2',
    'limit=1',
    'evidence_status=missing',
    `evidence_id=${HIDDEN}-ev`,
    'path=/attributes/legal',
  ],
  listChanges: ['', 'paths=/attributes/legal', `paths=/attributes/${HIDDEN}_key,/attributes/legal/form`],
  listAccessibleSubjects: ['', 'q=v1sible', 'q=h1dden', `identifier=vat:${HIDDEN}-vat`, `identifier=lei:${SHOWN}-lei`],
};
const queriesOf = (id: string): readonly string[] => QUERIES[id.replace(/AcrossTenants$/, '')] ?? [''];

/** If legacy reads are enabled, everybody may use them. */
const OPEN = 'getLegacyEntityState';

function pathOf(path: string): string {
  const values: Record<string, string> = {
    tenant_id: 'beta',
    ...subject,
    snapshot_id: ids[3]!,
    from_snapshot_id: ids[0]!,
    to_snapshot_id: ids[3]!,
    snapshot_version: '2',
    grant_id: grantId,
    principal_id: 'oidc%3Atest%23bob',
  };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10');
}

const CALLS = Object.values(OPERATIONS).filter(({ id }) => id !== OPEN);

it.each(CALLS.map(({ id, method, path }) => [id, method, path] as const))(
  '%s reveals nothing that the grant’s paths hide',
  async (id, method, path) => {
    for (const query of queriesOf(id)) {
      const url = `${pathOf(path)}${query === '' ? '' : `?${query}`}`;
      for (const accept of ['application/json', 'application/x-ndjson']) {
        const call = world.gateway.as('bob', method, url).set('Accept', accept).buffer(true);
        const answer = await (method === 'get' || method === 'delete' ? call : call.send({}));
        expect(saidBy(answer)).not.toMatch(/h1dden|81726354/);
      }
    }
  },
);

it.each<[string, string]>([
  ['a summary', ''],
  ['the latest snapshot', '/snapshots/latest'],
  ['a verified snapshot', '/snapshots/latest?verify=chain&depth=all'],
  ['a snapshot as of a moment', '/snapshots/latest?as_of=2026-01-02&basis=effective'],
  ['a version', '/snapshots/1'],
  ['a list', '/snapshots?view=full'],
  ['an export', '/export'],
  ['a diff', '/diff?from_version=1&to_version=3'],
])('a grantee reads the granted paths, marked as partial: %s', async (_, path) => {
  const { text } = await get(`${BETA}${path}`);
  expect(text).toContain(SHOWN);
  expect(text).toContain(`"partial":true,"disclosed_paths":${JSON.stringify(PATHS)}`);
});

it('the owner reads the whole envelope, not marked as partial', async () => {
  const { text } = await world.gateway
    .as('reader', 'get', BETA.replace('beta', 'acme') + '/snapshots/latest')
    .expect(200);
  expect(text).toContain(HIDDEN);
  expect(text).not.toContain('partial');
});

it('a view verifies in a foreign SD-JWT library, and its hash is in the log', async () => {
  const { body } = await get(`${BETA}/snapshots/latest`);
  const { payload, disclosures } = body.view;
  const hasher = (data: string | ArrayBuffer) =>
    createHash('sha256')
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest();
  const encoded = Buffer.from(JSON.stringify(payload)).toString('base64url');
  const compact = [`${Buffer.from('{"alg":"none"}').toString('base64url')}.${encoded}.`, ...disclosures, ''].join('~');
  const claims = await (await SDJwt.fromEncode(compact, hasher)).getClaims<Record<string, unknown>>(hasher);
  const { attributes, evidence } = body.envelope;
  expect(claims).toMatchObject({ attributes, evidence, envelope_hash: body.envelope_hash, snapshot_version: 4 });
  const proof = await get(`/v1/tenants/beta/snapshots/${ids[3]}/log-proof`);
  const viewHash = createHash('sha256').update(JSON.stringify(payload)).digest('hex');
  expect(JSON.parse(proof.body.entry)).toMatchObject({ view_hash: viewHash });
});

it('lists mark the versions whose visible parts changed', async () => {
  const changed = (items: { snapshot_version: number; changed?: boolean }[]) =>
    items.map((item) => [item.snapshot_version, item.changed]);
  const expected = [
    [4, false],
    [3, true],
    [2, false],
    [1, true],
  ];
  expect(changed((await get(`${BETA}/snapshots`)).body.items)).toEqual(expected);
  expect(changed((await get(`${BETA}/snapshots?view=full&order=asc&limit=2`)).body.items)).toEqual(
    expected.slice(2).reverse(),
  );
  expect(changed((await get(`${BETA}/export`)).body.snapshots)).toEqual(expected.toReversed());
});

it('the change feed reports and filters only changes of visible parts', async () => {
  const feed = async (query: string): Promise<unknown[]> => {
    const { body } = await get(`/v1/tenants/beta/changes?type=snapshot.created&subject_type=organization${query}`);
    return body.items.map((item: { snapshot_version: number; change_kind: string; changed_paths: string[] | null }) => [
      item.snapshot_version,
      item.change_kind,
      item.changed_paths,
    ]);
  };
  const all = [
    [1, 'change', null],
    [2, 'change', []],
    [3, 'change', ['/attributes/legal/legal_name']],
    [4, 'correction', []],
  ];
  expect(await feed('')).toEqual(all);
  expect(await feed('&paths=/attributes/legal')).toEqual([all[0], all[2]]);
  for (const path of [`${HIDDEN}_key/list`, 'legal/form', 'nothing']) {
    expect(await feed(`&paths=/attributes/${path}`)).toEqual([all[0]]);
  }
});

it('provenance returns the same error for hidden and for unknown paths', async () => {
  const messages = await Promise.all(
    [`/attributes/${HIDDEN}_key`, '/attributes/nothing', '/attributes/legal/form', '/attributes/legal/nothing'].map(
      async (path) => {
        const { body } = await get(`${BETA}/provenance?path=${path}`, 404);
        return { ...body.error, request_id: '' };
      },
    ),
  );
  expect(new Set(messages.map((message) => JSON.stringify(message))).size).toBe(1);
});

it('readers with different paths never share a cached page of provenance', async () => {
  const of = async (user: 'alice' | 'bob', tenant: string): Promise<string[]> => {
    const path = BETA.replace('beta', tenant);
    const { body } = await world.gateway.as(user, 'get', `${path}/provenance?version=3`).expect(200);
    return body.items.map((leaf: { path: string }) => leaf.path);
  };
  const [whole, part] = [await of('alice', 'acme'), await of('bob', 'beta')];
  expect(part.join()).not.toContain(HIDDEN);
  expect(whole.length).toBeGreaterThan(part.length);
  expect([await of('alice', 'acme'), await of('bob', 'beta')]).toEqual([whole, part]);
});

it('a reader of parts does not learn the number of the latest version', async () => {
  const { body } = await get(`${BETA}/provenance?version=99`, 404);
  expect(body.error.message).not.toContain('the latest is');
});

it('a change of the grant’s paths takes effect immediately, despite the ETag', async () => {
  const first = await get(`${BETA}/snapshots/latest`);
  await get(`${BETA}/snapshots/latest`, 304).set('If-None-Match', first.headers['etag']!);
  const other = ['/attributes/legal/legal_name'];
  await world.change(grantId, { paths: other }).expect(200);
  const second = await get(`${BETA}/snapshots/latest`).set('If-None-Match', first.headers['etag']!);
  expect(second.body).toMatchObject({ disclosed_paths: other, envelope: { attributes: { legal: expect.anything() } } });
  expect(second.text).not.toContain('"lei"');
  await world.change(grantId, { paths: null }).expect(200);
  const whole = await get(`${BETA}/snapshots/latest`).set('If-None-Match', second.headers['etag']!);
  expect(whole.text).toContain(HIDDEN);
  await world.change(grantId, { paths: PATHS }).expect(200);
});

it('a grantee with two grants reads by the wider one', async () => {
  const all = await world.grantOnAll({ scopes: ['read_latest'] });
  expect((await get(`${BETA}/snapshots/latest`)).text).toContain(HIDDEN);
  expect((await get(`${BETA}/snapshots/4`)).text).not.toContain(HIDDEN);
  await world.revoke(all).expect(200);
  expect((await get(`${BETA}/snapshots/latest`)).text).not.toContain(HIDDEN);
});

it.each([
  ['by a release that commits to views', true],
  ['by an earlier release', false],
])('a bundle of partial views verifies if it was logged %s', async (name, commitsViews) => {
  const { databaseUrl } = world.gateway;
  const logged = await world.addSubject(name.replaceAll(' ', '-'));
  await publishLog(databaseUrl, undefined, true, commitsViews);
  await world.grantOn(logged, { scopes: SCOPES, paths: ['/attributes/legal/legal_name'] });
  const path = `/v1/tenants/beta/subjects/organization/${logged.subject_id}/export`;
  // The first partial read commits to a missing view.
  await get(path);
  const { vkey } = await publishLog(databaseUrl);
  const bundle = await get(`${path}?proofs=log`).set('Accept', 'application/x-ndjson').buffer(true);
  const [head = '', ...lines] = bundle.text.trimEnd().split('\n');
  expect(JSON.parse(lines[0]!)).toMatchObject(commitsViews ? {} : { view: { entry: expect.any(String) } });
  const policy = await readPolicy(vkey);
  const verifier = await BundleVerifier.open(Buffer.from(head), policy);
  for (const line of lines) verifier.add(Buffer.from(line));
  expect((await verifier.end()).json).toMatchObject({ versions: 1, subject: logged });
});
