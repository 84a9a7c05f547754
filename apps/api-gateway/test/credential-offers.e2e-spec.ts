import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { clientAuthenticationNone, type CallbackContext, type Jwk, setGlobalConfig } from '@openid4vc/oauth2';
import { Openid4vciClient } from '@openid4vc/openid4vci';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { compactVerify, createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import type { Response } from 'supertest';
import { envelope } from './gateway';
import { GrantWorld } from './grant-world';

jest.setTimeout(60_000);
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

/** A wallet of others, with a key of its own. */
async function foreignWallet() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const { kty, crv = '', x = '', y = '' } = await exportJWK(publicKey);
  const publicJwk: Jwk = { kty, crv, x, y };
  const refuse = (): never => {
    throw new Error('not used');
  };
  const callbacks: CallbackContext = {
    hash: (data, alg) => createHash(alg.replace('-', '')).update(data).digest(),
    generateRandom: (length) => randomBytes(length),
    clientAuthentication: clientAuthenticationNone({ clientId: 'wallet' }),
    signJwt: async (_signer, { header, payload }) => ({
      jwt: await new SignJWT({ ...payload } as JWTPayload).setProtectedHeader({ ...header }).sign(privateKey),
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
  return { take, privateKey, publicJwk };
}

/** A verifier of others, which gets keys and statuses from the service. */
async function foreignVerifier() {
  const { body } = await world.gateway
    .as(null, 'get', '/.well-known/jwt-vc-issuer/tenants/acme')
    .expect(200);
  const keys = createLocalJWKSet(body.jwks);
  return new SDJwtVcInstance({
    hasher: (data: string | ArrayBuffer, alg: string) =>
      createHash(alg.replace('-', ''))
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
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

it('a wallet of others takes an offered credential, and presents it', async () => {
  const version = await write();
  const made = await offer(version, { paths: [NAME] });
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
  expect(JSON.stringify(payload)).not.toContain(HIDDEN);
  const { body } = await world.gateway.as('alice', 'get', '/v1/tenants/acme/credentials').expect(200);
  expect(body.items[0]).toMatchObject({ offer_id: made.id, has_holder_key: true, paths: [NAME], snapshot_version: 1 });
});
