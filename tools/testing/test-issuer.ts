import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { LONG_LIVED } from '../processes.ts';

export interface TestIssuer {
  /** The value of OIDC_ISSUER. */
  readonly oidcIssuer: string;
  /** The value of OIDC_PROJECT_ID, and the default audience. */
  readonly projectId: string;
  /** `{oidcIssuer}/{projectId}`, the `iss` of tokens. */
  readonly issuer: string;
  readonly jwksUri: string;
  /** The number of fetches of the key set. */
  readonly keySetRequests: number;
  /**
   * Returns a signed access token. `claims` override the default claims; an `undefined` claim is left out. Times are in seconds
   * since 1970.
   */
  mint(sub: string, claims?: Record<string, unknown>): Promise<string>;
  /** Replaces the key. New tokens use it, and the key set contains only it. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an OpenID Connect issuer on a free loopback port, with discovery, a key set, and tokens on demand (RS256). */
export async function startTestIssuer({ projectId = 'test' }: { projectId?: string } = {}): Promise<TestIssuer> {
  let key = await makeKey();
  let keySetRequests = 0;
  const server = createServer(LONG_LIVED, (request, response) => {
    const answer = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (request.url) {
      case `/${projectId}/.well-known/openid-configuration`:
        return answer({
          issuer,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
        });
      case `/${projectId}/jwks`:
        keySetRequests += 1;
        return answer({ keys: [key.publicKey] });
      default:
        return response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const oidcIssuer = `http://127.0.0.1:${port}`;
  const issuer = `${oidcIssuer}/${projectId}`;
  return {
    oidcIssuer,
    projectId,
    issuer,
    jwksUri: `${issuer}/jwks`,
    get keySetRequests() {
      return keySetRequests;
    },
    mint(sub, claims = {}) {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: issuer, aud: projectId, sub, iat: now, exp: now + 3600, jti: randomUUID() };
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: key.kid })
        .sign(key.privateKey);
    },
    async rotate() {
      key = await makeKey();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function makeKey(): Promise<{ kid: string; privateKey: CryptoKey; publicKey: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const kid = randomUUID();
  return { kid, privateKey, publicKey: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } };
}
