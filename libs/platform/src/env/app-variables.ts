import { isDateTime } from '@iss/domain';
import { IsOptional } from 'class-validator';
import { isNetwork } from '../address';
import { archiveUrlFault } from './archive-url';
import { replicaUrls, serverUrls } from './database-url';
import { CAPS, CONNECTION_LIMITS, LIMITS, MAX_LIMIT_VALUE, WORK_LIMITS } from './limits';
import { readQueueUrl } from './queue-url';
import { SecretBox } from '../secret-box';
import { type SamplerName, SAMPLERS } from '../telemetry';
import { CheckedText, Flag, Parsed, Text, Url, WholeNumber, withBounds, Word } from './variables';

const DAY_MS = 86_400_000;
const MAX_TIMEOUT_MS = 600_000;

/** The variables of PostgreSQL, the queue and the archive, which the operator's commands read too. */
class StoreVariables {
  @Text('must be a URL starting with postgres:// or postgresql://', (text) => serverUrls(text).length > 0)
  DATABASE_URL!: string;

  @IsOptional()
  @CheckedText(queueUrlFault)
  QUEUE_URL?: string;

  @IsOptional()
  @CheckedText(archiveUrlFault)
  ARCHIVE_URL?: string;

  @IsOptional()
  @CheckedText(archiveUrlFault)
  ARCHIVE_MIRROR_URL?: string;
}

/** The variables of every process. */
export class SharedVariables extends StoreVariables {
  @Word(['local', 'development', 'staging', 'production'])
  APP_ENV: 'local' | 'development' | 'staging' | 'production' = 'local';

  @WholeNumber(1, 500)
  DATABASE_POOL_SIZE = 10;

  @IsOptional()
  @WholeNumber(0, 9_999)
  MAX_GATEWAYS?: number;

  @IsOptional()
  @WholeNumber(0, 9_999)
  MAX_WORKERS?: number;

  @Word(['required', 'off'])
  DATABASE_TLS: 'required' | 'off' = 'required';

  @IsOptional()
  @Word(['redis', 'postgresql'])
  QUEUE_BACKEND?: 'redis' | 'postgresql';

  @Word(['required', 'off'])
  QUEUE_TLS: 'required' | 'off' = 'required';

  @Text('must be a key ring "id:base64 of 32 bytes,…" (make a key with: openssl rand -base64 32)', isKeyRing)
  SECRETS_KEYS!: string;

  @Word(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
  LOG_LEVEL: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent' = 'info';

  @IsOptional()
  @Text('must be the VRF key of the map, PRIVATE+VRF+<base64 of 32 bytes>', (text) =>
    /^PRIVATE\+VRF\+[A-Za-z0-9+/]{43}=$/.test(text),
  )
  LOG_VRF_KEY?: string;

  @WholeNumber(100, MAX_TIMEOUT_MS)
  SHUTDOWN_TIMEOUT_MS = 10_000;

  @Flag()
  WEBHOOK_ALLOW_PRIVATE_TARGETS = false;

  @Parsed('must be 1 to 32 delays in milliseconds, each up to 7 days, separated by commas', readDelays)
  WEBHOOK_RETRY_SCHEDULE_MS: readonly number[] = [
    1000, 5000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000,
  ];

  @IsOptional()
  @Url(['http:', 'https:'])
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @IsOptional()
  @Text('must be name=value,…, percent-encoded', areHeaders)
  OTEL_EXPORTER_OTLP_HEADERS?: string;

  @Word(['http/protobuf'])
  OTEL_EXPORTER_OTLP_PROTOCOL = 'http/protobuf' as const;

  @Flag()
  OTEL_SDK_DISABLED = false;

  @IsOptional()
  @Text()
  OTEL_SERVICE_NAME?: string;

  @IsOptional()
  @Text()
  OTEL_RESOURCE_ATTRIBUTES?: string;

  @Word(['otlp', 'none'])
  OTEL_TRACES_EXPORTER: 'otlp' | 'none' = 'otlp';

  @Word(['otlp', 'none'])
  OTEL_METRICS_EXPORTER: 'otlp' | 'none' = 'otlp';

  @Word(SAMPLERS)
  OTEL_TRACES_SAMPLER: SamplerName = 'parentbased_always_on';

  @Parsed('must be a number from 0 to 1', readRatio)
  OTEL_TRACES_SAMPLER_ARG: number = 1;

  @WholeNumber(1, 100_000)
  OTEL_BSP_MAX_QUEUE_SIZE = 2048;

  @WholeNumber(1, MAX_TIMEOUT_MS)
  OTEL_BSP_SCHEDULE_DELAY = 5000;

  @WholeNumber(100, MAX_TIMEOUT_MS)
  OTEL_METRIC_EXPORT_INTERVAL = 60_000;

  @IsOptional()
  @Text()
  BUILD_GIT_SHA?: string;

  @IsOptional()
  @Text('must be an RFC 3339 date-time', isDateTime)
  BUILD_AT?: string;
}

/** The variables of the gateway. */
export class GatewayVariables extends withBounds(SharedVariables, {
  ...LIMITS,
  ...CONNECTION_LIMITS,
  ...CAPS,
  ...WORK_LIMITS,
}) {
  @WholeNumber(0, 65_535)
  PORT = 3000;

  @IsOptional()
  @WholeNumber(0, MAX_TIMEOUT_MS)
  DRAIN_DELAY_MS?: number;

  @WholeNumber(0, 65_535)
  METRICS_PORT = 3001;

  @IsOptional()
  @Text(
    'must be a URL starting with postgres:// or postgresql://, of servers that need take no writes',
    (text) => replicaUrls(text).length > 0,
  )
  DATABASE_REPLICA_URL?: string;

  @Word(['oidc', 'disabled'])
  AUTH_MODE: 'oidc' | 'disabled' = 'oidc';

  @IsOptional()
  @Url(['https:', 'http:'])
  OIDC_ISSUER?: string;

  @IsOptional()
  @Text('must be a word without spaces and "#"', (text) => /^[^\s#]+$/.test(text))
  OIDC_PROJECT_ID?: string;

  @IsOptional()
  @Text()
  OIDC_AUDIENCE?: string;

  @IsOptional()
  @Url(['https:', 'http:'])
  OIDC_JWKS_URI?: string;

  @Text()
  OIDC_PRINCIPAL_TYPE_CLAIM = 'principal_type';

  @WholeNumber(0, 60)
  OIDC_CLOCK_SKEW_SECONDS = 60;

  @Word(['on', 'off'])
  DOCS: 'on' | 'off' = 'on';

  @Text()
  DOCS_OIDC_CLIENT_ID = 'swagger-ui';

  @Word(['on', 'off'])
  CONSOLE: 'on' | 'off' = 'on';

  @Text()
  CONSOLE_OIDC_CLIENT_ID = 'console';

  @Text('must be scopes separated by spaces, openid among them', (text) => text.split(' ').includes('openid'))
  CONSOLE_OIDC_SCOPE = 'openid profile';

  @Flag()
  META_REQUIRES_AUTH = false;

  @Word(['authorized', 'public', 'off'])
  GLOBAL_READS: 'authorized' | 'public' | 'off' = 'authorized';

  @IsOptional()
  @Word(['required', 'trusted'])
  MEMBERSHIP_CONSENT?: 'required' | 'trusted';

  @IsOptional()
  @Word(['enabled', 'disabled'])
  LEGACY_ENTITY_STATES?: 'enabled' | 'disabled';

  @Text('must be a tenant id: 1-128 characters of [A-Za-z0-9._-], starting alphanumeric', (text) =>
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(text),
  )
  LEGACY_TENANT_ID = 'legacy';

  @IsOptional()
  @Text('must be a principal id: oidc:{project_id}#{user_id}', (text) =>
    /^oidc:[^#\p{Cc}]{1,255}#[^\p{Cc}]{1,255}$/u.test(text),
  )
  LEGACY_TENANT_OWNER?: string;

  @IsOptional()
  @Text('must be an origin, as https://identity.example.com', isOrigin)
  PUBLIC_ORIGIN?: string;

  @Parsed('must be origins of browsers, as https://app.example.com, separated by commas', (text) =>
    readList(text, isOrigin),
  )
  CORS_ORIGINS: readonly string[] = [];

  @IsOptional()
  @WholeNumber(0, MAX_LIMIT_VALUE)
  RATE_LIMIT_PER_MINUTE?: number;

  @IsOptional()
  @WholeNumber(0, MAX_LIMIT_VALUE)
  RATE_LIMIT_PER_MINUTE_ANONYMOUS?: number;

  @Parsed('must be IP addresses or networks, as 10.0.0.0/8, separated by commas', (text) => readList(text, isNetwork))
  TRUSTED_PROXIES: readonly string[] = [];

  @IsOptional()
  @Text('must be a secret of at least 32 characters', (text) => text.length >= 32)
  SNAPSHOT_ID_SECRET?: string;
}

/** The variables of the worker. */
export class WorkerVariables extends SharedVariables {
  @WholeNumber(0, 65_535)
  WORKER_PORT = 3010;

  @WholeNumber(0, 65_535)
  METRICS_PORT = 3011;

  @WholeNumber(3, 1000)
  WORKER_CONCURRENCY = 512;

  @WholeNumber(1, MAX_TIMEOUT_MS)
  WEBHOOK_CONNECT_TIMEOUT_MS = 5000;

  @WholeNumber(1, MAX_TIMEOUT_MS)
  WEBHOOK_HEADERS_TIMEOUT_MS = 10_000;

  @WholeNumber(1, MAX_TIMEOUT_MS)
  WEBHOOK_TOTAL_TIMEOUT_MS = 15_000;

  @WholeNumber(1000, 365 * DAY_MS)
  WEBHOOK_DISABLE_AFTER_MS = 5 * DAY_MS;

  @IsOptional()
  @Text('must be http://[user:password@]host:port, or https://…, of a proxy that takes CONNECT', isProxyUrl)
  WEBHOOK_EGRESS_PROXY?: string;

  @IsOptional()
  @Word(['system', 'direct'])
  WEBHOOK_DNS?: 'system' | 'direct';

  @WholeNumber(0, 36_500)
  WEBHOOK_RETENTION_DAYS = 30;

  @WholeNumber(10, MAX_TIMEOUT_MS)
  SWEEP_INTERVAL_MS = 1000;

  @WholeNumber(0, 36_500)
  ARCHIVE_AFTER_DAYS = 30;

  @Word(['on', 'off'])
  LOG: 'on' | 'off' = 'on';

  @IsOptional()
  @Text('must be a name without spaces and "+", the same for ever', (text) => /^[^\s+]{1,255}$/.test(text))
  LOG_ORIGIN?: string;

  @IsOptional()
  @Text('must be C2SP signing keys, PRIVATE+KEY+<LOG_ORIGIN>+…, separated by commas', (text) =>
    text.split(',').every((key) => key.trim().startsWith('PRIVATE+KEY+')),
  )
  LOG_SIGNING_KEY?: string;

  @IsOptional()
  @Text('must be a C2SP signing key of ML-DSA-44, PRIVATE+KEY+<LOG_ORIGIN>+…', (text) =>
    text.startsWith('PRIVATE+KEY+'),
  )
  LOG_PQ_SIGNING_KEY?: string;

  @WholeNumber(10, MAX_TIMEOUT_MS)
  LOG_CHECKPOINT_INTERVAL_MS = 1000;

  @WholeNumber(1000, 365 * DAY_MS)
  LOG_CHECKPOINT_MAX_AGE_MS = DAY_MS;

  @IsOptional()
  @Text()
  LOG_CHECKPOINT_FILE?: string | undefined;

  @IsOptional()
  @CheckedText(archiveUrlFault)
  LOG_PUBLISH_URL?: string;

  @IsOptional()
  @Text()
  LOG_POLICY_FILE?: string;
}

/** The variables of the operator's commands. */
export class OperatorVariables extends withBounds(StoreVariables, CAPS) {
  @IsOptional()
  @WholeNumber(0, MAX_LIMIT_VALUE)
  RATE_LIMIT_PER_MINUTE?: number;
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

function readRatio(text: string): number | undefined {
  return /^(0(\.\d{1,15})?|1(\.0{1,15})?)$/.test(text) ? Number(text) : undefined;
}

function areHeaders(text: string): boolean {
  try {
    decodeURIComponent(text);
    return text.split(',').every((pair) => /^\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*=/.test(pair));
  } catch {
    return false;
  }
}

function isKeyRing(text: string): boolean {
  try {
    SecretBox.fromKeyRing(text);
    return true;
  } catch {
    return false;
  }
}

/** Checks for an origin as browsers send it: in lower case, without a default port, a path or a final slash. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

/** Reads a list whose parts are separated by commas; undefined if a part is not valid. */
function readList(text: string, isValid: (part: string) => boolean): readonly string[] | undefined {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every(isValid) ? parts : undefined;
}

function readDelays(text: string): readonly number[] | undefined {
  const delays = readList(text, (part) => /^\d{1,12}$/.test(part))?.map(Number);
  return delays === undefined || delays.length > 32 || delays.some((delay) => delay > 7 * DAY_MS) ? undefined : delays;
}

/** Returns the fault of a queue's URL, or undefined. */
function queueUrlFault(text: string): string | undefined {
  const address = readQueueUrl(text);
  return typeof address === 'string' ? address : undefined;
}
