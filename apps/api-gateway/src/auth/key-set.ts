import { createPublicKey } from 'node:crypto';
import { DomainError, isJsonObject, type JsonObject, type JsonValue } from '@iss/domain';
import { type DependencyCheck, reachable, Unfit } from '@iss/platform';
import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { JwksClient, JwksError } from 'jwks-rsa';
import { AUTH_SETTINGS } from './auth-settings';
import type { AuthSettings } from './auth-settings';
import { fetchJson } from './fetch-json';
import { algorithmsOf, type SigningAlgorithm } from './signing-algorithms';

export interface IssuerKey {
  keyId: string | undefined;
  algorithms: readonly SigningAlgorithm[];
  /** SPKI, PEM. */
  publicKey: string;
}

/** One state of the issuer's keys. A later state with the same keys is the same object. */
export type SigningKeys = readonly IssuerKey[];

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** Discovery and keys together. */
const FETCH_TIMEOUT_MS = 5 * SECOND_MS;
/** Time between two fetches, even if many unknown key ids arrive: at most six requests per minute reach the issuer. */
const COOLDOWN_MS = 10 * SECOND_MS;
/**
 * The time between two fetches after a failure. It is short, so that a gateway that started before its issuer becomes
 * ready soon after the issuer does.
 */
const FAILURE_COOLDOWN_MS = 2 * SECOND_MS;
/** Time after a failure until keys are fetched again, even if no request needs them. */
const RETRY_MS = 15 * SECOND_MS;
/** Keys of this age are refreshed, while requests continue with the old ones. */
const REFRESH_AGE_MS = 5 * MINUTE_MS;
/** If keys have this age, requests wait for the refresh, unless the issuer is known to be down. */
const MAX_AGE_MS = 10 * MINUTE_MS;
/** Keys of this age are no longer trusted. A withdrawn key can stay in use this long while the issuer is down. */
const MAX_AGE_WITHOUT_ISSUER_MS = 60 * MINUTE_MS;

/**
 * The issuer's signing keys. They are fetched when first needed, so that the process starts without the issuer.
 * jwks-rsa parses the keys. Its own cache and rate limit are off. It caches by key id, so each unknown id causes a
 * fetch: a flood of them would use up the limit, and the fetch that finds a rotated key would be refused.
 */
@Injectable()
export class KeySet implements OnModuleDestroy {
  private readonly logger = new Logger(KeySet.name);
  private keys: SigningKeys | undefined;
  private fetchedAtMs = -Infinity;
  private attemptedAtMs = -Infinity;
  private lastAttemptFailed = false;
  /** The fault in the issuer's answer, if that made the last attempt fail. */
  private fault: string | undefined;
  private pending: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;

  constructor(@Inject(AUTH_SETTINGS) private readonly settings: AuthSettings) {}

  /** Returns the current keys. Throws `unavailable` if there are none and the issuer provides none. */
  async current(): Promise<SigningKeys> {
    const ageMs = this.ageMs();
    if (this.keys && ageMs < REFRESH_AGE_MS) return this.keys;
    const refreshed = this.refresh();
    const isGoodMeanwhile = ageMs < MAX_AGE_MS || (this.lastAttemptFailed && ageMs < MAX_AGE_WITHOUT_ISSUER_MS);
    if (!isGoodMeanwhile) await refreshed;
    return this.requireKeys();
  }

  /** Returns the keys for a token that no current key fits. Asks the issuer again first, at most once per cooldown. */
  async afterRefresh(): Promise<SigningKeys> {
    await this.refresh();
    return this.requireKeys();
  }

  onModuleDestroy(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
  }

  /**
   * Checks the keys for readiness, and fetches them if there are none.
   * - `failed`: the gateway has no trusted key.
   * - `degraded`: the issuer does not answer and the keys are due for a refresh. Requests still succeed with them.
   * - `ok`: the keys are fresh, even if a fetch failed, because any token with an unknown key id causes a fetch.
   */
  async check(): Promise<DependencyCheck> {
    if (this.settings.mode === 'disabled') return { status: 'ok' };
    const { status } = await reachable(() => this.current(), 'failed');
    if (status !== 'ok')
      return { status, detail: `no signing keys of ${this.settings.issuer}: ${this.fault ?? 'is it reachable?'}` };
    return this.lastAttemptFailed && this.ageMs() >= REFRESH_AGE_MS
      ? {
          status: 'degraded',
          detail: `${this.settings.issuer} ${this.fault === undefined ? 'does not answer' : `gives no keys (${this.fault})`}: its previous keys are trusted for an hour`,
        }
      : { status };
  }

  private ageMs(): number {
    return Date.now() - this.fetchedAtMs;
  }

  private requireKeys(): SigningKeys {
    if (this.keys && this.ageMs() < MAX_AGE_WITHOUT_ISSUER_MS) return this.keys;
    throw new DomainError(
      'unavailable',
      'The identity provider cannot be reached to check access tokens. Try again soon.',
    );
  }

  private refresh(): Promise<void> {
    const cooldownMs = this.lastAttemptFailed ? FAILURE_COOLDOWN_MS : COOLDOWN_MS;
    if (!this.pending && Date.now() - this.attemptedAtMs >= cooldownMs) {
      this.pending = this.load().finally(() => {
        this.attemptedAtMs = Date.now();
        this.pending = undefined;
      });
    }
    return this.pending ?? Promise.resolve();
  }

  private async load(): Promise<void> {
    try {
      const keys = await fetchSigningKeys(this.settings, AbortSignal.timeout(FETCH_TIMEOUT_MS));
      if (!isSame(keys, this.keys)) {
        this.keys = keys;
        this.logger.log(`${keys.length} signing keys of ${this.settings.issuer}`);
      }
      this.fetchedAtMs = Date.now();
      this.lastAttemptFailed = false;
    } catch (error) {
      this.lastAttemptFailed = true;
      this.fault = error instanceof Unfit ? error.message : undefined;
      this.retry ??= setTimeout(() => {
        this.retry = undefined;
        // `load` reports its own failures.
        this.refresh().catch(() => undefined);
      }, RETRY_MS).unref();
      this.logger.warn(`No signing keys from ${this.settings.issuer}: ${describe(error)}`);
    }
  }
}

/**
 * Returns the only key that matches. Returns none if the choice is ambiguous: a duplicate key id, or no id and several
 * keys.
 */
export function findSigningKey(
  keys: SigningKeys,
  keyId: string | undefined,
  algorithm: SigningAlgorithm,
): IssuerKey | undefined {
  const [key, ...others] = keys.filter(
    (candidate) => (keyId === undefined || candidate.keyId === keyId) && candidate.algorithms.includes(algorithm),
  );
  return others.length === 0 ? key : undefined;
}

const NO_KEY = 'the key set has no key that can verify an access token';

async function fetchSigningKeys(settings: AuthSettings, signal: AbortSignal): Promise<SigningKeys> {
  const client = new JwksClient({
    jwksUri: settings.jwksUri ?? (await discoverJwksUri(settings.issuer, signal)),
    fetcher: async (url) => ({ keys: readVerificationJwks(await fetchJson(url, signal)) }),
    cache: false,
    rateLimit: false,
  });
  const found = await client.getSigningKeys().catch((error: unknown) => {
    throw error instanceof JwksError ? new Unfit(NO_KEY) : error;
  });
  const keys = found.map((key): IssuerKey => {
    const publicKey = key.getPublicKey();
    return { keyId: key.kid, algorithms: algorithmsOf(createPublicKey(publicKey), key.alg), publicKey };
  });
  const usable = keys.filter((key) => key.algorithms.length > 0);
  if (usable.length === 0) throw new Unfit(NO_KEY);
  return usable;
}

/**
 * Returns the issuer's `jwks_uri`. The document must name the issuer that was asked (OpenID Connect Discovery 1.0,
 * section 4).
 */
async function discoverJwksUri(issuer: string, signal: AbortSignal): Promise<string> {
  const url = `${issuer}/.well-known/openid-configuration`;
  const document = await fetchJson(url, signal);
  if (!isJsonObject(document) || document['issuer'] !== issuer) throw new Unfit(`${url} names another issuer`);
  const { jwks_uri: jwksUri } = document;
  const protocol = typeof jwksUri === 'string' ? URL.parse(jwksUri)?.protocol : undefined;
  // An issuer on https must not send us to plain http for its keys.
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'));
  if (typeof jwksUri !== 'string' || !isAllowed) throw new Unfit(`${url} has no acceptable jwks_uri`);
  return jwksUri;
}

/**
 * Returns the keys that may verify. Ignores keys for other uses and members that are not understood (RFC 7517, sections
 * 4.3 and 5). jwks-rsa checks `kty` and `use`.
 */
function readVerificationJwks(document: JsonValue): JsonObject[] {
  if (!isJsonObject(document) || !Array.isArray(document['keys'])) throw new Unfit('the key set has no list "keys"');
  const isName = (value: JsonValue | undefined): boolean =>
    value === undefined || (typeof value === 'string' && value !== '');
  return document['keys']
    .filter(isJsonObject)
    .filter(({ kid, alg }) => isName(kid) && isName(alg))
    .filter(({ key_ops: uses }) => uses === undefined || (Array.isArray(uses) && uses.includes('verify')));
}

function isSame(keys: SigningKeys, known: SigningKeys | undefined): boolean {
  return JSON.stringify(keys) === JSON.stringify(known);
}

/** Describes an error with its cause, because `fetch` itself says only "fetch failed". */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
