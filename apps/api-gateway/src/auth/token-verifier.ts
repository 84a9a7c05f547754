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

/** A token whose signature was good under `keys`. It counts for nothing under any other key set. */
interface VerifiedToken {
  token: AccessToken;
  keys: SigningKeys;
}

/** An `Authorization` header as it was sent, its token, and that one's SHA-256. */
interface Credentials {
  header: string | undefined;
  text: string;
  digest: string;
}

/** About 4 MB. Only tokens with a good signature take a place, so nobody else can push them out. */
const VERIFIED_TOKENS = 5_000;

@Injectable()
export class TokenVerifier {
  /** By SHA-256 of the token. The token itself is not kept. */
  private readonly verified = new RecentMap<string, VerifiedToken>(VERIFIED_TOKENS);
  /** What each connection sent last: nearly always it sends the same again. */
  private readonly last = new WeakMap<Socket, Credentials>();

  constructor(
    @Inject(AUTH_SETTINGS) private readonly settings: AuthSettings,
    private readonly keySet: KeySet,
    private readonly claimedTypes: ClaimedTypes,
  ) {}

  /**
   * Who sent the request. Throws `unauthorized` with what to do, or `unavailable` when no key of the issuer can be had.
   * What needs no key is checked first, so that tokens of others never make us ask the issuer.
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

  /** Returns the key set that it was good under: a newer one when `keys` had no key for it. */
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

  /** A passport-jwt strategy for this one key and algorithm, so that neither can be mixed up with another's. */
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

/** Every `Authorization` header, as `headersDistinct` has it, which collects all headers for one. */
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
