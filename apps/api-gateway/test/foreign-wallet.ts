import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { setGlobalConfig } from '@openid4vc/oauth2';
import { Openid4vpClient } from '@openid4vc/openid4vp';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { CompactEncrypt, exportJWK, importJWK, type JWK } from 'jose';

// The gateway under test has no certificate.
setGlobalConfig({ allowInsecureUrls: true });

const hash = (data: string | ArrayBuffer, alg: string): Uint8Array =>
  createHash(alg.replace('-', ''))
    .update(typeof data === 'string' ? data : Buffer.from(data))
    .digest();

/** A key pair of a third party. */
export interface Keys {
  publicJwk: JWK;
  sign: (data: string) => Promise<string>;
}

export async function makeKeys(): Promise<Keys> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return {
    publicJwk: await exportJWK(publicKey),
    sign: async (data) => sign('sha256', Buffer.from(data), key).toString('base64url'),
  };
}

/** Signs claims with a header, without the help of a library that refuses wrong ones. */
export async function signed(keys: Keys, header: object, claims: object): Promise<string> {
  const parts = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${parts.join('.')}.${await keys.sign(parts.join('.'))}`;
}

/** The claims that each extract has. */
const EXTRACT = { legal_name: 'Acme AG', address: { country: 'CH' } };

/** Issues a credential as a third-party register does: `legal_name` and `address` are disclosures. */
export function issued(keys: Keys, claims: { iss: string; vct: string } & Record<string, unknown>): Promise<string> {
  const issuer = new SDJwtVcInstance({
    signer: keys.sign,
    signAlg: 'ES256',
    hasher: hash,
    hashAlg: 'sha-256',
    saltGenerator: async () => randomBytes(16).toString('base64url'),
  });
  return issuer.issue<typeof EXTRACT & { iss: string; vct: string }>(
    { ...EXTRACT, ...claims },
    { _sd: ['legal_name', 'address'] },
  );
}

/** The request that a link contains, as the third-party library reads it. */
export type WalletRequest = Awaited<ReturnType<typeof readRequest>>;

/** Reads the link of a request as a third-party wallet does, and checks it against OpenID4VP 1.0. */
export async function readRequest(link: string) {
  const client = clientOf();
  const parsed = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest: link });
  if (parsed.type !== 'openid4vp') throw new Error('the link is not a request by value');
  const payload = parsed.params;
  await client.resolveOpenId4vpAuthorizationRequest({ authorizationRequestPayload: payload });
  const [key] = payload.client_metadata?.jwks?.keys ?? [];
  if (key === undefined) throw new Error('the request has no key');
  return { payload, key, queryId: String(payload.dcql_query?.credentials?.[0]?.id) };
}

/** Presents the chosen claims of a credential with a key binding, as a third-party wallet does. */
export async function presented(
  credential: string,
  holder: Keys,
  binding: { nonce: string; aud: string; iat?: number },
  claims: Record<string, boolean> = { legal_name: true, address: true },
): Promise<string> {
  const wallet = new SDJwtVcInstance({ hasher: hash, kbSignAlg: 'ES256', kbSigner: holder.sign });
  const payload = { iat: Math.floor(Date.now() / 1000), ...binding };
  return wallet.present(credential, claims, { kb: { payload } });
}

/** Encrypts an answer to a key. */
export async function encrypted(payload: object | string, jwk: object, header: object = {}): Promise<string> {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', ...header })
    .encrypt(await importJWK({ ...jwk }, 'ECDH-ES'));
}

/** Answers a request with the third-party library, which encrypts and sends the presentation. Returns the status. */
export async function answerBy({ payload, queryId }: WalletRequest, presentation: string): Promise<number> {
  const client = clientOf();
  const { authorizationResponsePayload, jarm } = await client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: payload,
    authorizationResponsePayload: { vp_token: { [queryId]: [presentation] } },
    jarm: {
      encryption: { nonce: randomBytes(16).toString('base64url') },
      serverMetadata: {
        authorization_signing_alg_values_supported: [],
        authorization_encryption_alg_values_supported: ['ECDH-ES'],
        authorization_encryption_enc_values_supported: ['A256GCM'],
      },
    },
  });
  const { response } = await client.submitOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: payload,
    authorizationResponsePayload,
    ...(jarm === undefined ? {} : { jarm }),
  });
  return response.status;
}

function clientOf(): Openid4vpClient {
  const refuse = (): never => {
    throw new Error('not used');
  };
  return new Openid4vpClient({
    callbacks: {
      hash: (data, alg) => createHash(alg.replace('-', '')).update(data).digest(),
      encryptJwe: async ({ publicJwk, enc }, data) => ({
        encryptionJwk: publicJwk,
        jwe: await encrypted(data, publicJwk, { enc, ...(publicJwk.kid === undefined ? {} : { kid: publicJwk.kid }) }),
      }),
      signJwt: refuse,
      verifyJwt: refuse,
      decryptJwe: refuse,
      getX509CertificateMetadata: refuse,
    },
  });
}
