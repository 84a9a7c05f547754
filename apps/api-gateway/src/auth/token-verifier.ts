import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import { RecentMap } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { readAccessToken, readBearerToken, requireCurrent, type AccessToken } from './access-token';
import { AUTH_SETTINGS } from './auth-settings';
import type { AuthSettings } from './auth-settings';
import { findSigningKey, KeySet, type SigningKeys } from './key-set';
import type { Principal } from './principal';
import { unauthorized } from './unauthorized';

/** A token whose signature was good under `keys`. It counts for nothing under any other key set. */
interface VerifiedToken {
  token: AccessToken;
  keys: SigningKeys;
}

/** About 4 MB. Only tokens with a good signature take a place, so nobody else can push them out. */
const VERIFIED_TOKENS = 5_000;

@Injectable()
export class TokenVerifier {
  /** By SHA-256 of the token. The token itself is not kept. */
  private readonly verified = new RecentMap<string, VerifiedToken>(VERIFIED_TOKENS);
  /** What each connection sent last, with its digest: nearly always it sends the same again. */
  private readonly digests = new WeakMap<Socket, { text: string; digest: string }>();

  constructor(
    @Inject(AUTH_SETTINGS) private readonly settings: AuthSettings,
    private readonly keySet: KeySet,
  ) {}

  /**
   * Who sent the request. Throws `unauthorized` with what to do, or `unavailable` when no key of the issuer can be had.
   * What needs no key is checked first, so that tokens of others never make us ask the issuer.
   */
  async verify(request: Request): Promise<Principal> {
    const text = readBearerToken(valuesOf(request, 'authorization'), this.settings.maxTokenBytes);
    const digest = this.digestOf(text, request.socket);
    const known = this.verified.get(digest);
    const token = known?.token ?? readAccessToken(text, this.settings);
    requireCurrent(token, this.settings.clockSkewSeconds);
    let keys = await this.keySet.current();
    if (known?.keys === keys) return token.principal;
    keys = await this.verifySignature(request, text, token, keys);
    this.verified.set(digest, { token, keys });
    return token.principal;
  }

  private digestOf(text: string, socket: Socket): string {
    const last = this.digests.get(socket);
    if (last?.text === text) return last.digest;
    const digest = hash('sha256', text, 'base64');
    this.digests.set(socket, { text, digest });
    return digest;
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

/** Every value of a header, as `headersDistinct` has it, which collects all headers for one. `name` in lower case. */
function valuesOf({ rawHeaders }: Request, name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}
