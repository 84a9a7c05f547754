import { replicaUrls, serverUrls } from './database-url';
import { isPlainQueueUrl } from './queue-url';
import type { Rule, Unchecked } from './variables';

/** Checks whether anyone other than developers depends on the deployment. */
export const isDeployed = ({ APP_ENV: env }: { readonly APP_ENV?: unknown }): boolean =>
  env === 'staging' || env === 'production';
const isOidc = (env: Unchecked): boolean => env['AUTH_MODE'] !== 'disabled';

function rule(variable: string, expectation: string, holds: Rule['holds']): Rule {
  return { variable, expectation, holds };
}

/** Returns a rule for deployments that somebody depends on. */
function deployedRule(variable: string, expectation: string, holds: Rule['holds']): Rule {
  return rule(variable, expectation, (env) => !isDeployed(env) || holds(env));
}

function isSecureOutside(variable: string): Rule {
  return deployedRule(
    variable,
    'must be an https:// URL in staging and production',
    (env) => !isPlainHttp(String(env[variable])),
  );
}

export const sharedRules: readonly Rule[] = [
  rule(
    'ARCHIVE_MIRROR_URL',
    'must be another store than ARCHIVE_URL, which must be set too',
    ({ ARCHIVE_URL: url, ARCHIVE_MIRROR_URL: mirror }) => mirror === undefined || (url !== undefined && url !== mirror),
  ),
  deployedRule(
    'WEBHOOK_ALLOW_PRIVATE_TARGETS',
    'may be true only where APP_ENV is local or development',
    (env) => env['WEBHOOK_ALLOW_PRIVATE_TARGETS'] !== true,
  ),
  deployedRule(
    'SECRETS_KEYS',
    'must have random keys in staging and production (make one with: openssl rand -base64 32)',
    (env) => !hasPatternedKey(String(env['SECRETS_KEYS'])),
  ),
];

/** For the apps, but not for tools that need no queue. */
const queueRules: readonly Rule[] = [
  deployedRule(
    'QUEUE_URL',
    'must be the URL of Redis in staging and production (or set QUEUE_BACKEND=postgresql to have the queue there)',
    (env) => env['QUEUE_URL'] !== undefined || env['QUEUE_BACKEND'] === 'postgresql',
  ),
  deployedRule(
    'QUEUE_URL',
    'must be a rediss:// URL in staging and production (or set QUEUE_TLS=off where nobody else is on that network)',
    (env) => env['QUEUE_TLS'] === 'off' || !isPlainQueueUrl(String(env['QUEUE_URL'])),
  ),
  rule(
    'QUEUE_URL',
    'must be the URL of Redis where DATABASE_URL names several hosts',
    (env) => env['QUEUE_URL'] !== undefined || serverUrls(String(env['DATABASE_URL'])).length < 2,
  ),
  rule(
    'QUEUE_BACKEND',
    'must be redis with a QUEUE_URL, and postgresql without one',
    ({ QUEUE_BACKEND: backend, QUEUE_URL: queueUrl }) =>
      backend === undefined || (backend === 'redis') === (queueUrl !== undefined),
  ),
];

export const gatewayRules: readonly Rule[] = [
  ...sharedRules,
  isEncrypted('DATABASE_URL', serverUrls),
  isEncrypted('DATABASE_REPLICA_URL', replicaUrls),
  ...queueRules,
  deployedRule('AUTH_MODE', 'may be disabled only where APP_ENV is local or development', (env) => isOidc(env)),
  rule(
    'OIDC_ISSUER',
    'must be the URL of the identity provider (or set AUTH_MODE=disabled for local development)',
    (env) => !isOidc(env) || env['OIDC_ISSUER'] !== undefined,
  ),
  rule(
    'OIDC_PROJECT_ID',
    'must be the project id that follows the issuer in the "iss" of tokens',
    (env) => !isOidc(env) || env['OIDC_PROJECT_ID'] !== undefined,
  ),
  isSecureOutside('OIDC_ISSUER'),
  isSecureOutside('OIDC_JWKS_URI'),
  isSecureOutside('PUBLIC_ORIGIN'),
  deployedRule(
    'GLOBAL_READS',
    'must be authorized or off in staging and production',
    (env) => env['GLOBAL_READS'] !== 'public',
  ),
  deployedRule(
    'SNAPSHOT_ID_SECRET',
    'must be a secret of at least 32 characters in staging and production, the same for ever',
    (env) => env['SNAPSHOT_ID_SECRET'] !== undefined,
  ),
  deployedRule(
    'SNAPSHOT_ID_SECRET',
    'must be random in staging and production (make one with: openssl rand -base64 48)',
    (env) => !(isPlaceholder(String(env['SNAPSHOT_ID_SECRET'])) || isPatterned([...String(env['SNAPSHOT_ID_SECRET'])])),
  ),
];

export const workerRules: readonly Rule[] = [
  ...sharedRules,
  isEncrypted('DATABASE_URL', serverUrls),
  ...queueRules,
  rule(
    'LOG_ORIGIN',
    'must be the name in LOG_SIGNING_KEY, and in LOG_PQ_SIGNING_KEY where that is set',
    ({ LOG_ORIGIN: origin, LOG_SIGNING_KEY: keys, LOG_PQ_SIGNING_KEY: pqKey }) =>
      [keys, pqKey]
        .filter((text) => typeof text === 'string')
        .flatMap((text) => text.split(','))
        .every((key) => key.trim().startsWith(`PRIVATE+KEY+${String(origin)}+`)),
  ),
  deployedRule(
    'LOG_SIGNING_KEY',
    'must be a key of the transparency log in staging and production (make one with: iss log-key --origin NAME --out FILE; or set LOG=off to prove nothing)',
    (env) => env['LOG'] === 'off' || env['LOG_SIGNING_KEY'] !== undefined,
  ),
  rule(
    'LOG',
    'may be off only where LOG_SIGNING_KEY is not set',
    (env) => env['LOG'] !== 'off' || env['LOG_SIGNING_KEY'] === undefined,
  ),
  rule(
    'LOG_SIGNING_KEY',
    'must be set where LOG_PQ_SIGNING_KEY or LOG_POLICY_FILE is',
    (env) =>
      env['LOG_SIGNING_KEY'] !== undefined ||
      (env['LOG_PQ_SIGNING_KEY'] === undefined && env['LOG_POLICY_FILE'] === undefined),
  ),
];

function isPlainHttp(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'http:';
}

function hasPatternedKey(ring: string): boolean {
  return ring.split(',').some((entry) => isPatterned([...Buffer.from(entry.slice(entry.indexOf(':') + 1), 'base64')]));
}

/**
 * Checks whether a secret is too regular. A random key has fewer than 16 different bytes once in 10^13 keys, and any
 * random text has at least 8 different characters.
 */
function isPatterned(parts: readonly (number | string)[]): boolean {
  return new Set(parts).size < (typeof parts[0] === 'number' ? 16 : 8);
}

/** libpq's modes that never send a password or a row without TLS. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full'];

/** Requires TLS for PostgreSQL on another host. */
function isEncrypted(variable: string, urlsOf: (text: string) => string[]): Rule {
  const isSafe = (text: string): boolean => {
    const { hostname, searchParams } = new URL(text);
    const host = hostname === '' ? (searchParams.get('host') ?? '') : hostname;
    return (
      /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|\/.*|)$/i.test(host) ||
      TLS_MODES.includes(searchParams.get('sslmode') ?? '')
    );
  };
  return deployedRule(
    variable,
    'must have sslmode=verify-full in staging and production where PostgreSQL is on another host (or set DATABASE_TLS=off where nobody else is on that network)',
    (env) => env['DATABASE_TLS'] === 'off' || urlsOf(String(env[variable])).every(isSafe),
  );
}

/** Checks for zeros and words from examples. */
function isPlaceholder(text: string): boolean {
  return /^0+$|change.?me|placeholder|replace.?(me|this|by)|example/i.test(text);
}
