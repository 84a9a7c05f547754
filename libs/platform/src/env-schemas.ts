import { isDateTime } from '@iss/domain';
import { z } from 'zod';
import { isNetwork } from './address';
import { replicaUrls, serverUrls } from './database-url';
import { capVariables, connectionVariables, limitVariables, MAX_LIMIT_VALUE, workVariables } from './limits';
import { isPlainQueueUrl, readQueueUrl } from './queue-url';
import { SecretBox } from './secret-box';
import { SAMPLERS } from './telemetry';
import { checkedText, flag, url, wholeNumber, word } from './variables';

const DAY_MS = 86_400_000;
const MAX_TIMEOUT_MS = 600_000;

const sharedVariables = {
  APP_ENV: word(['local', 'development', 'staging', 'production']).default('local'),
  DATABASE_URL: checkedText(
    'must be a URL starting with postgres:// or postgresql://',
    (text) => serverUrls(text).length > 0,
  ),
  DATABASE_POOL_SIZE: wholeNumber(1, 500).default(10),
  MAX_GATEWAYS: wholeNumber(0, 9_999).optional(),
  MAX_WORKERS: wholeNumber(0, 9_999).optional(),
  DATABASE_TLS: word(['required', 'off']).default('required'),
  QUEUE_URL: queueUrl().optional(),
  QUEUE_BACKEND: word(['redis', 'postgresql']).optional(),
  QUEUE_TLS: word(['required', 'off']).default('required'),
  SECRETS_KEYS: checkedText(
    'must be a key ring "id:base64 of 32 bytes,…" (make a key with: openssl rand -base64 32)',
    isKeyRing,
  ),
  LOG_LEVEL: word(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  SHUTDOWN_TIMEOUT_MS: wholeNumber(100, MAX_TIMEOUT_MS).default(10_000),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag().default(false),
  WEBHOOK_RETRY_SCHEDULE_MS: checkedText(
    'must be 1 to 32 delays in milliseconds, each up to 7 days, separated by commas',
    (text) => toDelays(text).length <= 32 && toDelays(text).every((delay) => delay >= 0 && delay <= 7 * DAY_MS),
  )
    .transform(toDelays)
    .default([1000, 5000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000]),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:']).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: checkedText('must be name=value,…, percent-encoded', areHeaders).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: word(['http/protobuf']).default('http/protobuf'),
  OTEL_SDK_DISABLED: flag().default(false),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  OTEL_TRACES_EXPORTER: word(['otlp', 'none']).default('otlp'),
  OTEL_METRICS_EXPORTER: word(['otlp', 'none']).default('otlp'),
  OTEL_TRACES_SAMPLER: word(SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: checkedText('must be a number from 0 to 1', isRatio).transform(Number).default(1),
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber(1, 100_000).default(2048),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(1, MAX_TIMEOUT_MS).default(5000),
  OTEL_METRIC_EXPORT_INTERVAL: wholeNumber(100, MAX_TIMEOUT_MS).default(60_000),
  BUILD_GIT_SHA: z.string().optional(),
  BUILD_AT: checkedText('must be an RFC 3339 date-time', isDateTime).optional(),
};

const gatewayVariables = {
  ...sharedVariables,
  ...limitVariables,
  ...connectionVariables,
  ...capVariables,
  ...workVariables,
  PORT: wholeNumber(0, 65_535).default(3000),
  DRAIN_DELAY_MS: wholeNumber(0, MAX_TIMEOUT_MS).optional(),
  METRICS_PORT: wholeNumber(0, 65_535).default(3001),
  DATABASE_REPLICA_URL: checkedText(
    'must be a URL starting with postgres:// or postgresql://, of servers that need take no writes',
    (text) => replicaUrls(text).length > 0,
  ).optional(),
  AUTH_MODE: word(['oidc', 'disabled']).default('oidc'),
  OIDC_ISSUER: url(['https:', 'http:']).optional(),
  OIDC_PROJECT_ID: checkedText('must be a word without spaces and "#"', (text) => /^[^\s#]+$/.test(text)).optional(),
  OIDC_AUDIENCE: z.string().optional(),
  OIDC_JWKS_URI: url(['https:', 'http:']).optional(),
  OIDC_PRINCIPAL_TYPE_CLAIM: z.string().default('principal_type'),
  OIDC_CLOCK_SKEW_SECONDS: wholeNumber(0, 60).default(60),
  DOCS: word(['on', 'off']).default('on'),
  DOCS_OIDC_CLIENT_ID: z.string().default('swagger-ui'),
  CONSOLE: word(['on', 'off']).default('on'),
  CONSOLE_OIDC_CLIENT_ID: z.string().default('console'),
  CONSOLE_OIDC_SCOPE: checkedText('must be scopes separated by spaces, openid among them', (text) =>
    text.split(' ').includes('openid'),
  ).default('openid profile'),
  META_REQUIRES_AUTH: flag().default(false),
  GLOBAL_READS: word(['authorized', 'public', 'off']).default('authorized'),
  MEMBERSHIP_CONSENT: word(['required', 'trusted']).optional(),
  LEGACY_ENTITY_STATES: word(['enabled', 'disabled']).optional(),
  LEGACY_TENANT_ID: checkedText(
    'must be a tenant id: 1-128 characters of [A-Za-z0-9._-], starting alphanumeric',
    (text) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(text),
  ).default('legacy'),
  LEGACY_TENANT_OWNER: checkedText('must be a principal id: oidc:{project_id}#{user_id}', (text) =>
    /^oidc:[^#\p{Cc}]{1,255}#[^\p{Cc}]{1,255}$/u.test(text),
  ).optional(),
  PUBLIC_ORIGIN: checkedText('must be an origin, as https://identity.example.com', isOrigin).optional(),
  CORS_ORIGINS: checkedText('must be origins of browsers, as https://app.example.com, separated by commas', (text) =>
    toOrigins(text).every(isOrigin),
  )
    .transform(toOrigins)
    .default([]),
  RATE_LIMIT_PER_MINUTE: wholeNumber(0, MAX_LIMIT_VALUE).optional(),
  RATE_LIMIT_PER_MINUTE_ANONYMOUS: wholeNumber(0, MAX_LIMIT_VALUE).optional(),
  TRUSTED_PROXIES: checkedText('must be IP addresses or networks, as 10.0.0.0/8, separated by commas', (text) =>
    toNetworks(text).every(isNetwork),
  )
    .transform(toNetworks)
    .default([]),
  SNAPSHOT_ID_SECRET: checkedText('must be a secret of at least 32 characters', (text) => text.length >= 32).optional(),
};

const workerVariables = {
  ...sharedVariables,
  WORKER_PORT: wholeNumber(0, 65_535).default(3010),
  METRICS_PORT: wholeNumber(0, 65_535).default(3011),
  WORKER_CONCURRENCY: wholeNumber(3, 1000).default(512),
  WEBHOOK_CONNECT_TIMEOUT_MS: wholeNumber(1, MAX_TIMEOUT_MS).default(5000),
  WEBHOOK_HEADERS_TIMEOUT_MS: wholeNumber(1, MAX_TIMEOUT_MS).default(10_000),
  WEBHOOK_TOTAL_TIMEOUT_MS: wholeNumber(1, MAX_TIMEOUT_MS).default(15_000),
  WEBHOOK_DISABLE_AFTER_MS: wholeNumber(1000, 365 * DAY_MS).default(5 * DAY_MS),
  WEBHOOK_EGRESS_PROXY: checkedText(
    'must be http://[user:password@]host:port, or https://…, of a proxy that takes CONNECT',
    isProxyUrl,
  ).optional(),
  WEBHOOK_DNS: word(['system', 'direct']).optional(),
  WEBHOOK_RETENTION_DAYS: wholeNumber(0, 36_500).default(30),
  SWEEP_INTERVAL_MS: wholeNumber(10, MAX_TIMEOUT_MS).default(1000),
  LOG: word(['on', 'off']).default('on'),
  LOG_ORIGIN: checkedText('must be a name without spaces and "+", the same for ever', (text) =>
    /^[^\s+]{1,255}$/.test(text),
  ).optional(),
  LOG_SIGNING_KEY: checkedText('must be C2SP signing keys, PRIVATE+KEY+<LOG_ORIGIN>+…, separated by commas', (text) =>
    text.split(',').every((key) => key.trim().startsWith('PRIVATE+KEY+')),
  ).optional(),
  LOG_PQ_SIGNING_KEY: checkedText('must be a C2SP signing key of ML-DSA-44, PRIVATE+KEY+<LOG_ORIGIN>+…', (text) =>
    text.startsWith('PRIVATE+KEY+'),
  ).optional(),
  LOG_CHECKPOINT_INTERVAL_MS: wholeNumber(10, MAX_TIMEOUT_MS).default(1000),
  LOG_CHECKPOINT_MAX_AGE_MS: wholeNumber(1000, 365 * DAY_MS).default(DAY_MS),
  LOG_CHECKPOINT_FILE: z.string().optional(),
  LOG_POLICY_FILE: z.string().optional(),
};

/** Rules between variables. They run beside the checks of single variables, so they meet unchecked text as well. */
type Unchecked = Readonly<Record<string, unknown>>;
interface Rule {
  variable: string;
  expectation: string;
  holds: (env: Unchecked) => boolean;
}

/** Whether others than developers depend on it. */
export const isDeployed = (env: Unchecked): boolean => env['APP_ENV'] === 'staging' || env['APP_ENV'] === 'production';
const isOidc = (env: Unchecked): boolean => env['AUTH_MODE'] !== 'disabled';
const isSecureOutside = (variable: string): Rule => ({
  variable,
  expectation: 'must be an https:// URL in staging and production',
  holds: (env) => !isDeployed(env) || !isPlainHttp(String(env[variable])),
});

const sharedRules: readonly Rule[] = [
  {
    variable: 'WEBHOOK_ALLOW_PRIVATE_TARGETS',
    expectation: 'may be true only where APP_ENV is local or development',
    holds: (env) => env['WEBHOOK_ALLOW_PRIVATE_TARGETS'] !== true || !isDeployed(env),
  },
  {
    variable: 'SECRETS_KEYS',
    expectation: 'must have random keys in staging and production (make one with: openssl rand -base64 32)',
    holds: (env) => !isDeployed(env) || !hasPatternedKey(String(env['SECRETS_KEYS'])),
  },
];

/** Of the apps, not of the tools that need no queue. */
const queueRules: readonly Rule[] = [
  {
    variable: 'QUEUE_URL',
    expectation:
      'must be the URL of Redis in staging and production (or set QUEUE_BACKEND=postgresql to have the queue there)',
    holds: (env) => env['QUEUE_URL'] !== undefined || env['QUEUE_BACKEND'] === 'postgresql' || !isDeployed(env),
  },
  {
    variable: 'QUEUE_URL',
    expectation:
      'must be a rediss:// URL in staging and production (or set QUEUE_TLS=off where nobody else is on that network)',
    holds: (env) => !isDeployed(env) || env['QUEUE_TLS'] === 'off' || !isPlainQueueUrl(String(env['QUEUE_URL'])),
  },
  {
    variable: 'QUEUE_URL',
    expectation: 'must be the URL of Redis where DATABASE_URL names several hosts',
    holds: (env) => env['QUEUE_URL'] !== undefined || serverUrls(String(env['DATABASE_URL'])).length < 2,
  },
  {
    variable: 'QUEUE_BACKEND',
    expectation: 'must be redis with a QUEUE_URL, and postgresql without one',
    holds: ({ QUEUE_BACKEND: backend, QUEUE_URL: queueUrl }) =>
      backend === undefined || (backend === 'redis') === (queueUrl !== undefined),
  },
];

const gatewayRules: readonly Rule[] = [
  ...sharedRules,
  isEncrypted('DATABASE_URL', serverUrls),
  isEncrypted('DATABASE_REPLICA_URL', replicaUrls),
  ...queueRules,
  {
    variable: 'AUTH_MODE',
    expectation: 'may be disabled only where APP_ENV is local or development',
    holds: (env) => isOidc(env) || !isDeployed(env),
  },
  {
    variable: 'OIDC_ISSUER',
    expectation: 'must be the URL of the identity provider (or set AUTH_MODE=disabled for local development)',
    holds: (env) => !isOidc(env) || env['OIDC_ISSUER'] !== undefined,
  },
  {
    variable: 'OIDC_PROJECT_ID',
    expectation: 'must be the project id that follows the issuer in the "iss" of tokens',
    holds: (env) => !isOidc(env) || env['OIDC_PROJECT_ID'] !== undefined,
  },
  isSecureOutside('OIDC_ISSUER'),
  isSecureOutside('OIDC_JWKS_URI'),
  isSecureOutside('PUBLIC_ORIGIN'),
  {
    variable: 'GLOBAL_READS',
    expectation: 'must be authorized or off in staging and production',
    holds: (env) => env['GLOBAL_READS'] !== 'public' || !isDeployed(env),
  },
  {
    variable: 'SNAPSHOT_ID_SECRET',
    expectation: 'must be a secret of at least 32 characters in staging and production, the same for ever',
    holds: (env) => env['SNAPSHOT_ID_SECRET'] !== undefined || !isDeployed(env),
  },
  {
    variable: 'SNAPSHOT_ID_SECRET',
    expectation: 'must be random in staging and production (make one with: openssl rand -base64 48)',
    holds: (env) =>
      !isDeployed(env) ||
      !(isPlaceholder(String(env['SNAPSHOT_ID_SECRET'])) || isPatterned([...String(env['SNAPSHOT_ID_SECRET'])])),
  },
];

const workerRules: readonly Rule[] = [
  ...sharedRules,
  isEncrypted('DATABASE_URL', serverUrls),
  ...queueRules,
  {
    variable: 'LOG_ORIGIN',
    expectation: 'must be the name in LOG_SIGNING_KEY, and in LOG_PQ_SIGNING_KEY where that is set',
    holds: ({ LOG_ORIGIN: origin, LOG_SIGNING_KEY: keys, LOG_PQ_SIGNING_KEY: pqKey }) =>
      [keys, pqKey]
        .filter((text) => typeof text === 'string')
        .flatMap((text) => text.split(','))
        .every((key) => key.trim().startsWith(`PRIVATE+KEY+${String(origin)}+`)),
  },
  {
    variable: 'LOG_SIGNING_KEY',
    expectation:
      'must be a key of the transparency log in staging and production (make one with: iss log-key --origin NAME --out FILE; or set LOG=off to prove nothing)',
    holds: (env) => !isDeployed(env) || env['LOG'] === 'off' || env['LOG_SIGNING_KEY'] !== undefined,
  },
  {
    variable: 'LOG',
    expectation: 'may be off only where LOG_SIGNING_KEY is not set',
    holds: (env) => env['LOG'] !== 'off' || env['LOG_SIGNING_KEY'] === undefined,
  },
  {
    variable: 'LOG_SIGNING_KEY',
    expectation: 'must be set where LOG_PQ_SIGNING_KEY or LOG_POLICY_FILE is',
    holds: (env) =>
      env['LOG_SIGNING_KEY'] !== undefined ||
      (env['LOG_PQ_SIGNING_KEY'] === undefined && env['LOG_POLICY_FILE'] === undefined),
  },
];

/** What the operator's command reads. */
export const operatorSchema = z.object({
  DATABASE_URL: sharedVariables.DATABASE_URL,
  QUEUE_URL: sharedVariables.QUEUE_URL,
  RATE_LIMIT_PER_MINUTE: gatewayVariables.RATE_LIMIT_PER_MINUTE,
  ...capVariables,
});
/** What every process reads: which variables, what each may hold, and what they demand of one another. */
export const sharedSchema = withRules(z.object(sharedVariables), sharedRules);
/** The same of the gateway. */
export const gatewaySchema = withRules(z.object(gatewayVariables), gatewayRules);
/** The same of the worker. */
export const workerSchema = withRules(z.object(workerVariables), workerRules);

/** `when` makes a rule run although single variables failed, so that the caller learns of every fault at once. */
function withRules<S extends z.ZodObject>(schema: S, rules: readonly Rule[]): S {
  return rules.reduce(
    (checked, { variable, expectation, holds }) =>
      checked.refine(holds, { path: [variable], error: expectation, when: () => true }),
    schema,
  );
}

/** A URL of Redis, kept as written; what is wrong with another is said by its own sentence. */
function queueUrl() {
  return z.string().superRefine((text, context) => {
    const address = readQueueUrl(text);
    if (typeof address === 'string') context.addIssue({ code: 'custom', message: address });
  });
}

function isProxyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search + url.hash !== '')
    return false;
  try {
    decodeURIComponent(url.username + url.password);
    return true;
  } catch {
    return false;
  }
}

function isRatio(text: string): boolean {
  return /^(0(\.\d{1,15})?|1(\.0{1,15})?)$/.test(text);
}

function areHeaders(text: string): boolean {
  try {
    decodeURIComponent(text);
    return text.split(',').every((pair) => /^\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*=/.test(pair));
  } catch {
    return false;
  }
}

function isPlainHttp(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'http:';
}

function hasPatternedKey(ring: string): boolean {
  return ring.split(',').some((entry) => isPatterned([...Buffer.from(entry.slice(entry.indexOf(':') + 1), 'base64')]));
}

/** Random bytes of a key have fewer than 16 values once in 10^13 keys; of random letters 8 or more are in any secret. */
function isPatterned(parts: readonly (number | string)[]): boolean {
  return new Set(parts).size < (typeof parts[0] === 'number' ? 16 : 8);
}

/** Modes of libpq that never send a password, or a row, without TLS. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full'];

/** PostgreSQL on another host is reached by TLS. */
function isEncrypted(variable: string, urlsOf: (text: string) => string[]): Rule {
  const isSafe = (text: string): boolean => {
    const { hostname, searchParams } = new URL(text);
    const host = hostname === '' ? (searchParams.get('host') ?? '') : hostname;
    return (
      /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|\/.*|)$/i.test(host) ||
      TLS_MODES.includes(searchParams.get('sslmode') ?? '')
    );
  };
  return {
    variable,
    expectation:
      'must have sslmode=verify-full in staging and production where PostgreSQL is on another host (or set DATABASE_TLS=off where nobody else is on that network)',
    holds: (env) => !isDeployed(env) || env['DATABASE_TLS'] === 'off' || urlsOf(String(env[variable])).every(isSafe),
  };
}

/** Zeros, or what stands in examples. */
function isPlaceholder(text: string): boolean {
  return /^0+$|change.?me|placeholder|replace.?(me|this|by)|example/i.test(text);
}

function isKeyRing(text: string): boolean {
  try {
    SecretBox.fromKeyRing(text);
    return true;
  } catch {
    return false;
  }
}

function toOrigins(text: string): string[] {
  return text.split(',').map((origin) => origin.trim());
}

/** As browsers send it: in lower case, without a default port, a path or a slash at its end. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

function toNetworks(text: string): string[] {
  return text.split(',').map((network) => network.trim());
}

function toDelays(text: string): number[] {
  return text.split(',').map((delay) => (/^\s*\d{1,12}\s*$/.test(delay) ? Number(delay) : Number.NaN));
}
