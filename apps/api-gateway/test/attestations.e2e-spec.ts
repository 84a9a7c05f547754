import { execFileSync } from 'node:child_process';
import { EXAMPLE_CREDENTIAL } from '@iss/contract';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { waitFor } from '../../../tools/testing/wait-for';
import { envelope } from './gateway';
import { GrantWorld } from './grant-world';

const { issuer, vct, key, text, digest } = EXAMPLE_CREDENTIAL;
const TRUSTED = `/v1/tenants/acme/trusted-issuers/${encodeURIComponent(issuer)}`;
const ATTESTATIONS = '/v1/tenants/acme/attestations';

let world: GrantWorld;
beforeAll(async () => {
  world = await GrantWorld.open();
});
afterAll(() => world?.close());

const trust = (body: object) => world.gateway.as('alice', 'put', TRUSTED).send(body);
const add = (body: object = { credential: text }) => world.gateway.as('alice', 'post', ATTESTATIONS).send(body);

it('an attestation is evidence with the issuer and digest of a credential, without its text', async () => {
  await trust({ vcts: [vct], keys: [key] }).expect(200);
  const { body } = await add().expect(201);
  expect(body).toMatchObject({ issuer, vct, digest, status: 'none', has_key_binding: false });
  expect(body.evidence).toEqual({
    evidence_id: body.attestation_id,
    evidence_type: 'attestation',
    source: issuer,
    captured_at: body.verified_at,
    hash: { alg: 'sha-256', value: digest },
    locator: body.attestation_id,
  });
  const found = await world.gateway.as('alice', 'get', `${ATTESTATIONS}/${body.attestation_id}`).expect(200);
  expect(found.body).toEqual(body);
  const { rows } = await world.superuser.query('SELECT row_to_json(a)::text AS row FROM attestations a');
  for (const { row } of rows) expect(row).not.toMatch(/legal_name|Acme Corporation|eyJ/);
});

it('an attestation backs a value until it is revoked', async () => {
  await trust({ vcts: [vct], keys: [key] }).expect(200);
  const { body } = await add().expect(201);
  const subject = { subject_type: 'organization', subject_id: 'attested' };
  const ref = { evidence_id: body.attestation_id, evidence_type: 'attestation' };
  const sent = envelope({
    subject,
    evidence: [body.evidence],
    attribute_paths: { '/attributes/legal/legal_name': [ref] },
  });
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
  const uuid = body.attestation_id.slice('att_'.length);
  const status = async (): Promise<string> => {
    const path = '/v1/tenants/acme/subjects/organization/attested/provenance?path=/attributes/legal';
    return (await world.gateway.as('alice', 'get', path).expect(200)).body.items[0].evidence_status;
  };
  expect(await status()).toBe('current');
  await world.superuser.query('SET session_replication_role = replica');
  await world.superuser.query(
    `UPDATE attestations SET status = 'revoked', status_uri = 'https://registry.example/list', status_idx = 0
      WHERE attestation_id = $1`,
    [uuid],
  );
  await world.superuser.query('RESET session_replication_role');
  expect(await status()).toBe('revoked');
});

it('a credential of an untrusted issuer or type is refused', async () => {
  const refused = async (code: string): Promise<void> => {
    const { body } = await add().expect(400);
    expect(body.error.details).toEqual([expect.objectContaining({ path: '/credential', code })]);
  };
  await trust({ vcts: ['https://registry.example/another'], keys: [key] }).expect(200);
  await refused('untrusted_issuer');
  await trust({ vcts: [vct], keys: [{ ...key, x: key.y, y: key.x }] }).expect(400);
  await world.gateway.as('alice', 'delete', TRUSTED).expect(204);
  await refused('untrusted_issuer');
  await world.gateway.as('alice', 'delete', TRUSTED).expect(404);
});

it('PUT …/trusted-issuers/… replaces the whole entry of an issuer', async () => {
  const made = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-keyout',
    '/dev/null',
    '-subj',
    '/CN=root',
  ];
  const pem = execFileSync('openssl', ['req', '-x509', '-nodes', ...made], { stdio: ['ignore', 'pipe', 'ignore'] });
  const root = pem.toString().replace(/-----[A-Z ]+-----|\s/g, '');
  const { body: first } = await trust({ vcts: [vct], roots: [pem.toString()] }).expect(200);
  expect(first).toMatchObject({ vcts: [vct], keys: [], roots: [root] });
  const { body: second } = await trust({ vcts: ['https://registry.example/another'], keys: [key] }).expect(200);
  expect(second).toMatchObject({ vcts: ['https://registry.example/another'], keys: [key], roots: [] });
  const { body } = await world.gateway.as('alice', 'get', '/v1/tenants/acme/trusted-issuers').expect(200);
  expect(body.items).toEqual([second]);
});

it.each([
  ['/keys/0', { vcts: [vct], keys: [{ ...key, d: 'secret' }] }],
  ['/keys/0', { vcts: [vct], keys: [{ kty: 'oct', k: 'AAAA' }] }],
  ['/roots/0', { vcts: [vct], roots: ['no certificate'] }],
  ['/keys', { vcts: [vct] }],
  ['/vcts', { vcts: [], keys: [key] }],
  ['/vcts/0', { vcts: [7], keys: [key] }],
  ['/vcts/0', { vcts: ['\0'], keys: [key] }],
  ['/keys/0', { vcts: [vct], keys: [{ ...key, kid: '\0' }] }],
  ['/keys', { vcts: [vct], keys: Array.from({ length: 21 }, () => key) }],
])('an invalid entry of an issuer is refused with the path %s', async (path, body) => {
  const { body: answer } = await trust(body).expect(400);
  expect(answer.error.details).toEqual([expect.objectContaining({ path })]);
});

it.each([
  `UPDATE attestations SET issuer = 'https://forged.example'`,
  'DELETE FROM attestations',
  'TRUNCATE attestations CASCADE',
])('the database refuses %s', async (change) => {
  await trust({ vcts: [vct], keys: [key] }).expect(200);
  await add().expect(201);
  await expect(world.superuser.query(change)).rejects.toThrow('attestations stay, and only their status changes');
});

it('an invalid credential or key binding is refused with its path', async () => {
  await trust({ vcts: [vct], keys: [key] }).expect(200);
  for (const [path, body] of [
    ['/credential', { credential: 'eyJ' }],
    ['/credential', { credential: `${text}WyJhIiwiYiIsMV0~` }],
    ['/key_binding', { credential: text, key_binding: { nonce: 'n', audience: 'a' } }],
    ['/key_binding/nonce', { credential: text, key_binding: { audience: 'a' } }],
  ] as const) {
    const { body: answer } = await add(body).expect(400);
    expect(answer.error.details).toEqual([expect.objectContaining({ path })]);
  }
});

it('a principal waits for at most 20 statuses at once; further requests return immediately', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  await trust({ vcts: [vct], keys: [await exportJWK(publicKey)] }).expect(200);
  const status = { status_list: { idx: 0, uri: 'https://registry.example/status' } };
  const token = await new SignJWT({ iss: issuer, vct, status })
    .setProtectedHeader({ alg: 'ES256', typ: 'dc+sd-jwt' })
    .sign(privateKey);
  let isOver = 0;
  const all = Array.from({ length: 25 }, async () => {
    await world.gateway
      .as('alice', 'post', `${ATTESTATIONS}?wait=3`)
      .send({ credential: `${token}~` })
      .expect(201);
    isOver += 1;
  });
  await Promise.race(all);
  await waitFor(() => isOver === 5);
  await Promise.all(all);
});
