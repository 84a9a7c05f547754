import { createHash, KeyObject, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import { PROFILES } from '@iss/attestation';
import { CREDENTIAL_PROFILES, type JsonObject, vctOf } from '@iss/domain';
import { clientAuthenticationNone, type CallbackContext, setGlobalConfig } from '@openid4vc/oauth2';
import { Openid4vciClient } from '@openid4vc/openid4vci';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { compactVerify, createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Response, Test } from 'supertest';
import { COMPANY, companyContent } from '../../../libs/attestation/src/testing/company';
import { envelope } from './gateway';
import { GrantWorld } from './grant-world';
import { publishLog } from './publish-log';

// The gateway under test has no certificate.
setGlobalConfig({ allowInsecureUrls: true });

const NAME = '/attributes/legal/legal_name';
const HIDDEN = 'h1dden';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

let world: GrantWorld;
let issuer: string;
beforeAll(async () => {
  world = await GrantWorld.open();
  const { body } = await world.gateway.as('alice', 'post', '/v1/tenants/acme/issuing-keys').expect(201);
  issuer = body.issuer;
});
afterAll(() => world?.close());

interface Version {
  subject: { subject_type: string; subject_id: string };
  snapshotId: string;
  version: number;
}

async function write(attributes: object = {}, version = 1, id: string = randomUUID()): Promise<Version> {
  const subject = { subject_type: 'organization', subject_id: id };
  const body = envelope({
    subject,
    snapshot_version: version,
    attributes: { legal: { legal_name: 'Acme AG', form: HIDDEN }, ...attributes },
  });
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
  return { subject, snapshotId: String(body['snapshot_id']), version };
}

const offersOf = ({ snapshotId }: Version, tenant = 'acme'): string =>
  `/v1/tenants/${tenant}/snapshots/${snapshotId}/credential-offers`;

interface Offer {
  id: string;
  link: string;
  code: string;
  txCode: string | null;
}

async function offer(of: Version, body: object = {}): Promise<Offer> {
  return offered(await world.gateway.as('alice', 'post', offersOf(of)).send(body).expect(201));
}

const offered = ({ body }: Response): Offer => ({
  id: body.offer_id,
  link: body.credential_offer_uri,
  code: body.credential_offer.grants[GRANT_TYPE]['pre-authorized_code'],
  txCode: body.tx_code,
});

/** A third-party wallet with its own key. */
async function foreignWallet() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const { kty = '', crv = '', x = '', y = '' } = await exportJWK(publicKey);
  const publicJwk = { kty, crv, x, y };
  const refuse = (): never => {
    throw new Error('not used');
  };
  const callbacks: CallbackContext = {
    hash: (data, alg) => createHash(alg.replace('-', '')).update(data).digest(),
    generateRandom: (length) => randomBytes(length),
    clientAuthentication: clientAuthenticationNone({ clientId: 'wallet' }),
    signJwt: async (_signer, { header: { alg, typ }, payload }) => ({
      jwt: await new SignJWT(JSON.parse(JSON.stringify(payload)))
        .setProtectedHeader({ alg, typ: typ ?? '', jwk: { kty, crv, x, y } })
        .sign(privateKey),
      signerJwk: publicJwk,
    }),
    verifyJwt: refuse,
    decryptJwe: refuse,
    encryptJwe: refuse,
  };
  const client = new Openid4vciClient({ callbacks });
  const take = async ({ link, txCode }: Offer): Promise<string> => {
    const credentialOffer = await client.resolveCredentialOffer(link);
    const issuerMetadata = await client.resolveIssuerMetadata(credentialOffer.credential_issuer);
    const { accessTokenResponse } = await client.retrievePreAuthorizedCodeAccessTokenFromOffer({
      credentialOffer,
      issuerMetadata,
      ...(txCode === null ? {} : { txCode }),
    });
    const { c_nonce: nonce } = await client.requestNonce({ issuerMetadata });
    const [credentialConfigurationId = ''] = credentialOffer.credential_configuration_ids;
    const { jwt } = await client.createCredentialRequestJwtProof({
      issuerMetadata,
      credentialConfigurationId,
      nonce,
      signer: { method: 'jwk', alg: 'ES256', publicJwk },
    });
    const { credentialResponse } = await client.retrieveCredentials({
      issuerMetadata,
      credentialConfigurationId,
      accessToken: accessTokenResponse.access_token,
      proofs: { jwt: [jwt] },
    });
    const [first] = credentialResponse.credentials ?? [];
    return typeof first === 'object' && 'credential' in first ? String(first.credential) : '';
  };
  return { take, privateKey: KeyObject.from(privateKey), publicJwk };
}

const hashOf = (data: string | ArrayBuffer, alg: string): Uint8Array =>
  createHash(alg.replace('-', ''))
    .update(typeof data === 'string' ? data : Buffer.from(data))
    .digest();

/** A third-party verifier, which gets keys and statuses from the service. */
async function foreignVerifier(kbVerifier?: (data: string, signature: string) => Promise<boolean>) {
  const { body } = await world.gateway.as(null, 'get', '/.well-known/jwt-vc-issuer/tenants/acme').expect(200);
  const keys = createLocalJWKSet(body.jwks);
  return new SDJwtVcInstance({
    hasher: hashOf,
    ...(kbVerifier === undefined ? {} : { kbVerifier }),
    verifier: (data: string, signature: string) =>
      compactVerify(`${data}.${signature}`, keys).then(
        () => true,
        () => false,
      ),
    statusListFetcher: async (uri: string) => {
      const { text } = await world.gateway.as(null, 'get', new URL(uri).pathname).expect(200);
      return text;
    },
    statusValidator: async (status: number) => {
      if (status !== 0) throw new Error(`status ${status}`);
    },
  });
}

it('a third-party wallet receives an offered credential that a third-party verifier accepts', async () => {
  const version = await write();
  const made = await offer(version, { paths: [NAME], expires_in: 3_600 });
  expect(made.txCode).toMatch(/^\d{6}$/);
  const wallet = await foreignWallet();
  const credential = await wallet.take(made);
  const verifier = await foreignVerifier();
  const { payload } = await verifier.verify(credential);
  expect(payload).toMatchObject({
    iss: issuer,
    vct: 'urn:identity-state:entity-state:1',
    attributes: { legal: { legal_name: 'Acme AG' } },
    cnf: { jwk: wallet.publicJwk },
  });
  expect(Number(payload.exp) - Number(payload.iat)).toBe(3_600);
  expect(JSON.stringify(payload)).not.toContain(HIDDEN);
  const { body } = await world.gateway.as('alice', 'get', '/v1/tenants/acme/credentials').expect(200);
  expect(body.items[0]).toMatchObject({ offer_id: made.id, has_holder_key: true, paths: [NAME], snapshot_version: 1 });
});

const token = (form: object, tenant = 'acme'): Test =>
  world.gateway.as(null, 'post', `/tenants/${tenant}/token`).type('form').send(form);
const formOf = ({ code, txCode }: Offer, change: object = {}): object => ({
  grant_type: GRANT_TYPE,
  'pre-authorized_code': code,
  ...(txCode === null ? {} : { tx_code: txCode }),
  ...change,
});

async function tokenOf(made: Offer): Promise<string> {
  return (await token(formOf(made)).expect(200)).body.access_token;
}

const nonceOf = async (tenant = 'acme'): Promise<string> =>
  (await world.gateway.as(null, 'post', `/tenants/${tenant}/nonce`).expect(200)).body.c_nonce;

interface ProofParts {
  header?: object;
  payload?: object;
}

/** Signs a proof as a wallet does, with these changes. */
async function proofOf({ header = {}, payload = {} }: ProofParts = {}): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const claims = { aud: issuer, iat: Math.floor(Date.now() / 1000), nonce: await nonceOf(), ...payload };
  const jwk = await exportJWK(publicKey);
  const protectedHeader = { alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk, ...header };
  return new SignJWT(claims).setProtectedHeader(protectedHeader).sign(privateKey);
}

const takeWith = (accessToken: string, body: object, tenant = 'acme'): Test =>
  world.gateway.withToken(accessToken, 'post', `/tenants/${tenant}/credential`).send(body);
const requestWith = (proof: string, change: object = {}): object => ({
  credential_configuration_id: 'entity_state',
  proofs: { jwt: [proof] },
  ...change,
});

const errorOf = ({ status, body }: Response): unknown[] => [status, body.error];
const INVALID_GRANT = [400, 'invalid_grant'];

it('an offer contains a whole version by value, and omits the tx_code on request', async () => {
  const version = await write();
  const { body } = await world.gateway.as('alice', 'post', offersOf(version)).send({ has_tx_code: false }).expect(201);
  expect(body.tx_code).toBeNull();
  expect(JSON.parse(new URL(body.credential_offer_uri).searchParams.get('credential_offer') ?? '')).toEqual(
    body.credential_offer,
  );
  expect(body.credential_offer).toMatchObject({
    credential_issuer: issuer,
    credential_configuration_ids: ['entity_state'],
  });
  const made = offered({ body } as Response);
  expect(errorOf(await token(formOf(made, { tx_code: '000000' })))).toEqual([400, 'invalid_request']);
  const wallet = await foreignWallet();
  const { payload } = await (await foreignVerifier()).verify(await wallet.take(made));
  expect(payload).toMatchObject({ attributes: { legal: { form: HIDDEN } } });
});

it('a third-party verifier accepts a partial presentation with the key of the holder', async () => {
  const wallet = await foreignWallet();
  const credential = await wallet.take(await offer(await writeCompany(), { profile: 'company_info' }));
  const holder = new SDJwtVcInstance({
    hasher: hashOf,
    kbSignAlg: 'ES256',
    kbSigner: async (data: string) =>
      sign('sha256', Buffer.from(data), { key: wallet.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
  });
  const payload = { nonce: 'n', aud: 'https://verifier.example', iat: Math.floor(Date.now() / 1000) };
  const presented = await holder.present(credential, { number_of_employees: true }, { kb: { payload } });
  const verifier = await foreignVerifier(async (data, signature) => {
    const key = { key: { ...wallet.publicJwk }, format: 'jwk', dsaEncoding: 'ieee-p1363' } as const;
    return verify('sha256', Buffer.from(data), key, Buffer.from(signature, 'base64url'));
  });
  const seen = await verifier.verify(presented, { keyBindingNonce: 'n' });
  expect(seen.payload).toMatchObject({ number_of_employees: '1250', attestation_legal_category: 'EAA' });
  expect(seen.payload).not.toHaveProperty('legal_entity');
  await expect(verifier.verify(presented, { keyBindingNonce: 'another' })).rejects.toThrow();
});

it('the database stores only hashes of codes and tokens', async () => {
  const made = await offer(await write());
  const accessToken = await tokenOf(made);
  const { rows } = await world.superuser.query('SELECT to_jsonb(o)::text AS text FROM credential_offers o');
  const texts = [made.code, made.txCode ?? '', accessToken].flatMap((text) => [
    text,
    text.split('.')[0] ?? '',
    Buffer.from(text).toString('hex'),
  ]);
  const stored = rows
    .map(({ text }) => text)
    .join()
    .replaceAll(/"[\w]+_at": "[^"]*"|"(?:offer|snapshot)_id": "[^"]*"/g, '');
  expect(texts.filter((text) => text.length > 6 && stored.includes(text))).toEqual([]);
});

it.each<[string, object, string]>([
  ['without a grant_type', { grant_type: '' }, 'unsupported_grant_type'],
  ['with another grant_type', { grant_type: 'authorization_code' }, 'unsupported_grant_type'],
  ['without a code', { 'pre-authorized_code': undefined }, 'invalid_request'],
  ['with two codes', { 'pre-authorized_code': ['a', 'b'] }, 'invalid_request'],
  ['with an invented code', { 'pre-authorized_code': 'a.a' }, 'invalid_grant'],
  ['without a tx_code', { tx_code: undefined }, 'invalid_request'],
])('a token request %s is refused', async (_, change, code) => {
  const made = await offer(await write());
  const answer = await token(formOf(made, change));
  expect(errorOf(answer)).toEqual([400, code]);
  expect(answer.headers['cache-control']).toBe('no-store');
  await tokenOf(made);
});

it('an offer ends after five wrong values of tx_code', async () => {
  const wrong = { tx_code: 'wrong' };
  const [ended, lasting] = [await offer(await write()), await offer(await write())];
  for (let count = 1; count <= 4; count++) expect(errorOf(await token(formOf(lasting, wrong)))).toEqual(INVALID_GRANT);
  await tokenOf(lasting);
  const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => token(formOf(ended, wrong))));
  expect(answers.map(errorOf)).toEqual(answers.map(() => INVALID_GRANT));
  expect(errorOf(await token(formOf(ended)))).toEqual(INVALID_GRANT);
});

it('concurrent requests exchange a code only once', async () => {
  const made = await offer(await write());
  const answers = await Promise.all(Array.from({ length: 8 }, () => token(formOf(made))));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 400)]);
  const token_type = 'Bearer';
  expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({ token_type, expires_in: 300 });
});

it('the database refuses to reset or prolong an offer', async () => {
  const [taken, redeemed, missed] = [
    await offer(await write()),
    await offer(await write()),
    await offer(await write()),
  ];
  await takeWith(await tokenOf(taken), requestWith(await proofOf())).expect(200);
  await tokenOf(redeemed);
  await token(formOf(missed, { tx_code: 'x' })).expect(400);
  for (const [{ id }, change] of [
    [taken, 'taken_at = NULL'],
    [redeemed, 'token_hash = NULL, token_expires_at = NULL'],
    [redeemed, `token_hash = 'other'`],
    [redeemed, `token_expires_at = token_expires_at + interval '1 minute'`],
    [missed, 'wrong_tx_codes = 0'],
    [missed, `expires_at = expires_at + interval '1 minute'`],
  ] as const) {
    const changed = world.superuser.query(`UPDATE credential_offers SET ${change} WHERE offer_id = $1`, [id]);
    await expect(changed).rejects.toThrow('offers are used once');
  }
});

it('concurrent requests with one token get only one credential', async () => {
  const accessToken = await tokenOf(await offer(await write()));
  const proofs = await Promise.all(Array.from({ length: 4 }, () => proofOf()));
  const answers = await Promise.all(proofs.map((proof) => takeWith(accessToken, requestWith(proof))));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const refused of answers.filter(({ status }) => status !== 200)) {
    expect([DENIED, [401, 'invalid_token']]).toContainEqual(errorOf(refused));
  }
  expect(errorOf(await takeWith(accessToken, requestWith(await proofOf())))).toEqual([401, 'invalid_token']);
});

it.each<[string, string]>([
  ['code', 'expires_at'],
  ['token', 'token_expires_at'],
])('an expired %s is refused', async (kind, column) => {
  const made = await offer(await write());
  const accessToken = kind === 'token' ? await tokenOf(made) : '';
  await world.superuser.query('SET session_replication_role = replica');
  await world.superuser.query(`UPDATE credential_offers SET ${column} = now() WHERE offer_id = $1`, [made.id]);
  await world.superuser.query('RESET session_replication_role');
  const answer =
    kind === 'code' ? await token(formOf(made)) : await takeWith(accessToken, requestWith(await proofOf()));
  expect(errorOf(answer)).toEqual(kind === 'code' ? INVALID_GRANT : [401, 'invalid_token']);
});

it('codes, tokens and nonces of another tenant are refused', async () => {
  await world.gateway.as('bob', 'post', '/v1/tenants/beta/issuing-keys').expect(201);
  const made = await offer(await write());
  expect(errorOf(await token(formOf(made), 'beta'))).toEqual(INVALID_GRANT);
  const accessToken = await tokenOf(made);
  const proof = requestWith(await proofOf());
  expect(errorOf(await takeWith(accessToken, proof, 'beta'))).toEqual([401, 'invalid_token']);
  const foreign = requestWith(await proofOf({ payload: { nonce: await nonceOf('beta') } }));
  expect(errorOf(await takeWith(accessToken, foreign))).toEqual([400, 'invalid_nonce']);
  await takeWith(accessToken, proof).expect(200);
});

const PROOFS: readonly [name: string, parts: ProofParts | (() => Promise<string>), code: string][] = [
  ['of another audience', { payload: { aud: 'https://other.example' } }, 'invalid_proof'],
  ['of another type', { header: { typ: 'JWT' } }, 'invalid_proof'],
  ['of an hour ago', { payload: { iat: 1_700_000_000 } }, 'invalid_proof'],
  ['of the future', { payload: { iat: 4_000_000_000 } }, 'invalid_proof'],
  ['without a time', { payload: { iat: undefined } }, 'invalid_proof'],
  ['without a key', { header: { jwk: undefined } }, 'invalid_proof'],
  [
    'of another key',
    { header: { jwk: { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } } },
    'invalid_proof',
  ],
  ['with a second key', { header: { kid: 'key' } }, 'invalid_proof'],
  ['without a nonce', { payload: { nonce: undefined } }, 'invalid_proof'],
  ['with an invented nonce', { payload: { nonce: 'a.a' } }, 'invalid_nonce'],
  ['with a nonce of another kind', { payload: { nonce: `${(Date.now() + 9e6).toString(36)}-a.a` } }, 'invalid_nonce'],
  ['without a signature', async () => unsigned(await proofOf()), 'invalid_proof'],
  ['with a secret key', async () => withSecret(), 'invalid_proof'],
  ['that is no token', async () => 'proof', 'invalid_proof'],
];

/** The same proof with the algorithm `none`. */
function unsigned(proof: string): string {
  const [head = '', payload = ''] = proof.split('.');
  const header = { ...JSON.parse(Buffer.from(head, 'base64url').toString()), alg: 'none' };
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.`;
}

/** A valid proof, but with the private part of its key. */
async function withSecret(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const claims = { aud: issuer, iat: Math.floor(Date.now() / 1000), nonce: await nonceOf() };
  const header = { alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: await exportJWK(privateKey) };
  return new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
}

it('invalid proofs are refused, and a valid one is accepted afterwards', async () => {
  const accessToken = await tokenOf(await offer(await write()));
  for (const [name, parts, code] of PROOFS) {
    const proof = typeof parts === 'function' ? await parts() : await proofOf(parts);
    expect([name, ...errorOf(await takeWith(accessToken, requestWith(proof)))]).toEqual([name, 400, code]);
  }
  const proof = await proofOf();
  const requests: [object | string, string][] = [
    ['[]', 'invalid_credential_request'],
    ['{', 'invalid_credential_request'],
    [requestWith(proof, { credential_configuration_id: undefined }), 'invalid_credential_request'],
    [requestWith(proof, { credential_configuration_id: 'ubo' }), 'unknown_credential_configuration'],
    [requestWith(proof, { credential_identifier: 'a' }), 'unknown_credential_identifier'],
    [requestWith(proof, { credential_response_encryption: {} }), 'invalid_encryption_parameters'],
    [requestWith(proof, { proofs: undefined }), 'invalid_proof'],
    [requestWith(proof, { proofs: { jwt: [proof, proof] } }), 'invalid_proof'],
  ];
  for (const [sent, code] of requests) {
    const answer = await takeWith(accessToken, {}).type('json').send(sent);
    expect([sent, ...errorOf(answer)]).toEqual([sent, 400, code]);
  }
  await takeWith(accessToken, requestWith(proof)).expect(200);
});

it('bodies that are too large are refused, and invented tokens before that', async () => {
  await token({ grant_type: 'a'.repeat(20_000) }).expect(413);
  const accessToken = await tokenOf(await offer(await write()));
  await takeWith(accessToken, requestWith('a'.repeat(20_000))).expect(413);
  await takeWith('a.a', requestWith('a'.repeat(20_000))).expect(401);
});

it('invented codes and tokens cause no query of the database', async () => {
  world.gateway.sent.length = 0;
  await token({ grant_type: GRANT_TYPE, 'pre-authorized_code': 'a.a' });
  await takeWith('a.a', requestWith('a'));
  await nonceOf();
  expect(world.gateway.sent).toEqual([]);
});

const DENIED = [400, 'credential_request_denied'];

it('an offer ends if its version is erased', async () => {
  const version = await write();
  await write({}, 2, version.subject.subject_id);
  const [waiting, redeemed] = [await offer(version), await offer(version)];
  const accessToken = await tokenOf(redeemed);
  await publishLog(world.gateway.databaseUrl);
  const path = `/v1/tenants/acme/subjects/organization/${version.subject.subject_id}`;
  const asked = await world.gateway
    .as('alice', 'post', `${path}/erasure`)
    .send({ versions: [1], reason: 'Letter' })
    .expect(201);
  await world.gateway.as('admin', 'post', `${path}/erasures/${asked.body.erasure_id}/confirm`).expect(200);
  expect(errorOf(await token(formOf(waiting)))).toEqual(INVALID_GRANT);
  expect(errorOf(await takeWith(accessToken, requestWith(await proofOf())))).toEqual([401, 'invalid_token']);
});

it('a credential of an offer has the status superseded if there is a newer version', async () => {
  const version = await write();
  const made = await offer(version);
  await write({}, 2, version.subject.subject_id);
  await world.superuser.query('DELETE FROM status_list_waiting');
  const { body } = await takeWith(await tokenOf(made), requestWith(await proofOf())).expect(200);
  // The worker signs its list with the status.
  expect((await world.superuser.query('SELECT FROM status_list_waiting')).rowCount).toBe(1);
  expect(decodeJwt(String(body.credentials[0].credential).split('~')[0] ?? '')).toMatchObject({ snapshot_version: 1 });
  const issued = await world.gateway.as('alice', 'get', '/v1/tenants/acme/credentials').expect(200);
  expect(issued.body.items[0]).toMatchObject({ offer_id: made.id, status: 'superseded' });
});

it('a grantee’s wallet gets a credential signed by the owner while the grant is live', async () => {
  const version = await write();
  const grantId = await world.grantOn(version.subject, { scopes: ['issue_view'], paths: [NAME] });
  const make = () => world.gateway.as('bob', 'post', offersOf(version, 'beta'));
  await make()
    .send({ paths: [NAME] })
    .expect(400);
  const [taken, revoked] = [offered(await make().expect(201)), offered(await make().expect(201))];
  const wallet = await foreignWallet();
  const { payload } = await (await foreignVerifier()).verify(await wallet.take(taken));
  expect(payload).toMatchObject({ iss: issuer, attributes: { legal: { legal_name: 'Acme AG' } } });
  expect(JSON.stringify(payload)).not.toContain(HIDDEN);
  const { body } = await world.gateway
    .as('alice', 'get', `/v1/tenants/acme/subjects/organization/${version.subject.subject_id}/disclosures`)
    .expect(200);
  expect(body.items).toMatchObject([
    { via: 'credential', grantee_tenant_id: 'beta', grant_id: grantId, paths: [NAME] },
  ]);
  const accessToken = await tokenOf(revoked);
  await world.gateway.as('alice', 'post', `/v1/tenants/acme/grants/${grantId}/revoke`).expect(200);
  expect(errorOf(await takeWith(accessToken, requestWith(await proofOf())))).toEqual(DENIED);
});

it('an offer ends if its key is retired, but not if the key is replaced', async () => {
  const made = await offer(await write());
  const keys = '/v1/tenants/acme/issuing-keys';
  const accessToken = await tokenOf(made);
  await world.gateway.as('alice', 'post', keys).expect(201);
  await takeWith(accessToken, requestWith(await proofOf())).expect(200);
  const second = await offer(await write());
  const { body } = await world.gateway.as('alice', 'get', keys).expect(200);
  await world.gateway.as('alice', 'post', `${keys}/${body.items[0].kid}/retire`).expect(200);
  expect(errorOf(await token(formOf(second)))).toEqual(INVALID_GRANT);
});

it('the owner of the tables cannot change an offer', async () => {
  const { id } = await offer(await write(), { paths: [NAME] });
  for (const change of ['paths = NULL', 'wrong_tx_codes = -1', `created_by = 'oidc:test#bob'`]) {
    await expect(
      world.superuser.query(`UPDATE credential_offers SET ${change} WHERE offer_id = $1`, [id]),
    ).rejects.toThrow();
  }
});

/** Writes a version of a company that has all that profiles need. */
async function writeCompany(attributes: JsonObject = COMPANY): Promise<Version> {
  const subject = { subject_type: 'organization', subject_id: randomUUID() };
  const body = envelope({ subject, ...companyContent(attributes) });
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
  return { subject, snapshotId: String(body['snapshot_id']), version: 1 };
}

it.each(CREDENTIAL_PROFILES)('a third-party wallet receives an attestation of the type %s', async (profile) => {
  const version = await writeCompany();
  const wallet = await foreignWallet();
  const credential = await wallet.take(await offer(version, { profile }));
  const { payload } = await (await foreignVerifier()).verify(credential);
  expect(payload).toMatchObject({ vct: vctOf(profile), iss: issuer, cnf: { jwk: wallet.publicJwk } });
  const { body } = await world.gateway.as('alice', 'get', '/v1/tenants/acme/credentials').expect(200);
  expect(body.items[0]).toMatchObject({ profile, paths: PROFILES[profile].paths });
});

it('an attestation of a published type is issued directly, with a place in the status list', async () => {
  const { snapshotId } = await writeCompany();
  const path = `/v1/tenants/acme/snapshots/${snapshotId}/credentials`;
  const { body } = await world.gateway.as('alice', 'post', path).send({ profile: 'company_info' }).expect(201);
  const { payload } = await (await foreignVerifier()).verify(body.credential);
  const { uri, idx } = body.status_list;
  expect(payload['status']).toMatchObject({ status_list: { uri, idx }, status_list_credential: uri });
  expect(body).toMatchObject({ profile: 'company_info', offer_id: null, has_holder_key: false });
});

it('a version that lacks members of a profile is refused with their places', async () => {
  const version = await writeCompany({ ...COMPANY, owners: { 'p-1': { percent: '100' } } });
  for (const path of [offersOf(version), offersOf(version).replace('credential-offers', 'credentials')]) {
    const { body } = await world.gateway.as('alice', 'post', path).send({ profile: 'ownership' }).expect(409);
    const messages = body.error.details.map(({ message }: { message: string }) => message);
    expect(messages).toEqual(
      expect.arrayContaining([
        '/attributes/owners/p-1 must have one of person, entity',
        '/attributes/owners/p-1/since is absent',
      ]),
    );
  }
  await world.gateway
    .as('alice', 'post', offersOf(version))
    .send({ profile: 'ubo', paths: [NAME] })
    .expect(400);
});

it('an attestation for a grantee contains only the granted parts', async () => {
  const version = await writeCompany();
  await world.grantOn(version.subject, { scopes: ['issue_view'], paths: ['/attributes/owners/p-1'] });
  const ask = (profile: string) => world.gateway.as('bob', 'post', offersOf(version, 'beta')).send({ profile });
  await ask('ubo').expect(409);
  const wallet = await foreignWallet();
  const credential = await wallet.take(offered(await ask('ownership').expect(201)));
  const { payload } = await (await foreignVerifier()).verify(credential);
  expect(payload).toMatchObject({ owner: [{ person: { first_name: 'Anna' } }] });
  expect(JSON.stringify(payload)).not.toContain('Trust');
});
