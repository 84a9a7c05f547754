import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import { RecentMap } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { readAccessToken, readBearerToken, requireCurrent, type AccessToken } from './access-token';
import { AUTH_SETTINGS } from './auth-settings';
import type { AuthSettings } from './auth-settings';
import { ClaimedTypes } from './claimed-types';
import { findSigningKey, KeySet, type SigningKeys } from './key-set';
import type { Principal } from './principal';
import { unauthorized } from './unauthorized';

/** A token whose signature was valid under `keys`. Another key set requires a new verification. */
interface VerifiedToken {
  token: AccessToken;
  keys: SigningKeys;
}

/** An `Authorization` header, its token, and the token's SHA-256. */
interface Credentials {
  header: string | undefined;
  text: string;
  digest: string;
}

/** About 4 MB. Only tokens with a valid signature are cached, so nobody else can displace them. */
const VERIFIED_TOKENS = 5_000;

@Injectable()
export class TokenVerifier {
  /** Keyed by the token's SHA-256. The token itself is not stored. */
  private readonly verified = new RecentMap<string, VerifiedToken>(VERIFIED_TOKENS);
  /** The last header of each connection, because a connection nearly always sends the same again. */
  private readonly last = new WeakMap<Socket, Credentials>();

  constructor(
    @Inject(AUTH_SETTINGS) private readonly settings: AuthSettings,
    private readonly keySet: KeySet,
    private readonly claimedTypes: ClaimedTypes,
  ) {}

  /**
   * Returns the principal of a request. Throws `unauthorized` with the remedy, or `unavailable` if no key of the issuer
   * can be obtained. Checks that need no key come first, so that foreign tokens never cause a request to the issuer.
   */
  async verify(request: Request): Promise<Principal> {
    const { text, digest } = this.credentialsOf(request);
    const known = this.verified.get(digest);
    const token = known?.token ?? readAccessToken(text, this.settings);
    requireCurrent(token, this.settings.clockSkewSeconds);
    let keys = await this.keySet.current();
    if (known?.keys === keys) return token.principal;
    keys = await this.verifySignature(request, text, token, keys);
    this.verified.set(digest, { token, keys });
    await this.claimedTypes.remember(token.principal);
    return token.principal;
  }

  private credentialsOf(request: Request): Credentials {
    const values = authorizationOf(request);
    const last = this.last.get(request.socket);
    if (last !== undefined && values.length === 1 && values[0] === last.header) return last;
    const text = readBearerToken(values, this.settings.maxTokenBytes);
    const credentials = { header: values[0], text, digest: hash('sha256', text, 'base64') };
    this.last.set(request.socket, credentials);
    return credentials;
  }

  /** Returns the key set under which the signature is valid. It is a newer one if `keys` had no key for the token. */
  private async verifySignature(
    request: Request,
    text: string,
    { keyId, algorithm }: AccessToken,
    keys: SigningKeys,
  ): Promise<SigningKeys> {
    let key = findSigningKey(keys, keyId, algorithm);
    if (!key) {
      keys = await this.keySet.afterRefresh();
      key = findSigningKey(keys, keyId, algorithm);
    }
    if (!key) throw unauthorized(`the access token is not signed with a current key of ${this.settings.issuer}`);
    await this.runStrategy(request, text, key.publicKey, algorithm);
    return keys;
  }

  /**
   * Runs a passport-jwt strategy for this one key and algorithm, so that neither can be confused with another token's.
   */
  private runStrategy(
    request: Request,
    text: string,
    publicKey: string,
    algorithm: AccessToken['algorithm'],
  ): Promise<void> {
    const strategy = new Strategy(
      {
        jwtFromRequest: () => text,
        secretOrKey: publicKey,
        algorithms: [algorithm],
        issuer: this.settings.issuer,
        audience: this.settings.audience,
        jsonWebTokenOptions: { clockTolerance: this.settings.clockSkewSeconds },
      },
      (claims, done) => done(null, claims),
    );
    return new Promise((resolve, reject) => {
      strategy.success = () => resolve();
      strategy.fail = () => reject(unauthorized('the signature of the access token is wrong'));
      strategy.error = reject;
      strategy.authenticate(request);
    });
  }
}

/** Returns every `Authorization` header. `headersDistinct` would do the same, but it collects all headers. */
function authorizationOf({ rawHeaders }: Request): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1];
    const isIt = name.length === 'authorization'.length && name.toLowerCase() === 'authorization';
    if (isIt && value !== undefined) values.push(value);
  }
  return values;
}
