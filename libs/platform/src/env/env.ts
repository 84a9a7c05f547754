import { connectionsOf } from './connection-budget';
import { serverUrls } from './database-url';
import { GatewayVariables, OperatorVariables, SharedVariables, WorkerVariables } from './app-variables';
import { gatewayRules, isDeployed, sharedRules, workerRules } from './rules';
import { CAPS, CONNECTION_LIMITS, LIMITS, RATES, WORK_LIMITS } from './limits';
import { SecretBox } from '../secret-box';
import type { TelemetrySettings } from '../telemetry';
import { readVariables, boundValues } from './variables';

export { EnvError } from './variables';

/** Ids of applied updates need no secrecy on a developer's machine, but should be the same on every machine. */
const DEVELOPMENT_SNAPSHOT_ID_SECRET = 'snapshot ids of local and development deployments';

/** Long enough for a load balancer that checks every two seconds and reacts to the second failure. */
const DEPLOYED_DRAIN_DELAY_MS = 5_000;

export type GatewayEnv = ReturnType<typeof gatewayEnv>;
export type WorkerEnv = ReturnType<typeof workerEnv>;
export type OperatorEnv = ReturnType<typeof operatorEnv>;
/** The settings for signing and publishing the transparency log. */
export type LogSettings = WorkerEnv['log'];

/** Reads the environment of tools that use only database, queue and secrets. @throws EnvError */
export function sharedEnv(source: NodeJS.ProcessEnv = process.env) {
  return toShared(readVariables(SharedVariables, sharedRules, source));
}

/** Reads the environment of `iss`. @throws EnvError */
export function operatorEnv(source: NodeJS.ProcessEnv = process.env) {
  const env = readVariables(OperatorVariables, [], source);
  const requests_per_minute = env.RATE_LIMIT_PER_MINUTE ?? RATES.requests_per_minute.default;
  return {
    /** The URL with the login that owns the tables. */
    databaseUrl: env.DATABASE_URL,
    /** Undefined if the queue's tables are in the database. */
    queueUrl: env.QUEUE_URL,
    archive: toArchive(env),
    /** The default limits, as far as this process has the gateway's variables. */
    limits: { ...boundValues(CAPS, env), requests_per_minute },
  };
}

/** Reads the gateway's environment (contract, "Environment" and "Numbers"). @throws EnvError */
export function gatewayEnv(source: NodeJS.ProcessEnv = process.env) {
  const env = readVariables(GatewayVariables, gatewayRules, source);
  const limits = boundValues(LIMITS, env);
  const projectId = env.OIDC_PROJECT_ID ?? 'local';
  return {
    ...toShared(env),
    metricsPort: env.METRICS_PORT,
    port: env.PORT,
    /** How long the gateway still serves after a stop signal, so that load balancers notice, before `shutdownTimeoutMs`. */
    drainDelayMs: env.DRAIN_DELAY_MS ?? (isDeployed(env) ? DEPLOYED_DRAIN_DELAY_MS : 0),
    /** Replicas of the database, for reads that may be stale. */
    databaseReplicaUrl: env.DATABASE_REPLICA_URL,
    limits,
    connections: boundValues(CONNECTION_LIMITS, env),
    caps: boundValues(CAPS, env),
    work: boundValues(WORK_LIMITS, env),
    /** Origins whose browser scripts may read responses. If empty, scripts of other origins may not. */
    corsOrigins: env.CORS_ORIGINS,
    auth: {
      /** With `disabled`, every caller is `oidc:local#dev`. */
      mode: env.AUTH_MODE,
      /** Compared exactly with `iss`. Empty if authentication is disabled. */
      issuer: env.OIDC_ISSUER === undefined ? '' : `${env.OIDC_ISSUER.replace(/\/+$/, '')}/${projectId}`,
      projectId,
      audience: env.OIDC_AUDIENCE ?? projectId,
      /** Undefined if the issuer's discovery document has it. */
      jwksUri: env.OIDC_JWKS_URI,
      /** The service's origin as callers know it; undefined to use that of the request. */
      publicOrigin: env.PUBLIC_ORIGIN,
      principalTypeClaim: env.OIDC_PRINCIPAL_TYPE_CLAIM,
      globalReadsArePublic: env.GLOBAL_READS === 'public',
      legacyPathsArePublic: !isDeployed(env),
      clockSkewSeconds: env.OIDC_CLOCK_SKEW_SECONDS,
      maxTokenBytes: limits.tokenBytes,
    },
    docs: { isOn: env.DOCS === 'on', clientId: env.DOCS_OIDC_CLIENT_ID },
    console: { isOn: env.CONSOLE === 'on', clientId: env.CONSOLE_OIDC_CLIENT_ID, scope: env.CONSOLE_OIDC_SCOPE },
    metaRequiresAuth: env.META_REQUIRES_AUTH,
    globalReads: env.GLOBAL_READS,
    membershipConsent: env.MEMBERSHIP_CONSENT ?? (isDeployed(env) ? 'required' : 'trusted'),
    snapshotIdSecret: env.SNAPSHOT_ID_SECRET ?? DEVELOPMENT_SNAPSHOT_ID_SECRET,
    legacy: {
      enabled: (env.LEGACY_ENTITY_STATES ?? (isDeployed(env) ? 'disabled' : 'enabled')) === 'enabled',
      tenantId: env.LEGACY_TENANT_ID,
      /** The owner of the tenant if it is created at start; undefined for none. */
      ownerId: env.LEGACY_TENANT_OWNER,
    },
    /** Requests per principal, over all gateways; 0 for no limit. */
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE ?? (isDeployed(env) ? RATES.requests_per_minute.default : 0),
    /** Requests without a valid token per address, for this gateway; 0 for no limit. */
    anonymousRateLimitPerMinute:
      env.RATE_LIMIT_PER_MINUTE_ANONYMOUS ?? (isDeployed(env) ? RATES.anonymous_requests_per_minute.default : 0),
    /** Networks whose `X-Forwarded-For` is trusted. */
    trustedProxies: env.TRUSTED_PROXIES,
  };
}

/** Reads the worker's environment. @throws EnvError */
export function workerEnv(source: NodeJS.ProcessEnv = process.env) {
  const env = readVariables(WorkerVariables, workerRules, source);
  return {
    ...toShared(env),
    metricsPort: env.METRICS_PORT,
    port: env.WORKER_PORT,
    concurrency: env.WORKER_CONCURRENCY,
    connectTimeoutMs: env.WEBHOOK_CONNECT_TIMEOUT_MS,
    headersTimeoutMs: env.WEBHOOK_HEADERS_TIMEOUT_MS,
    totalTimeoutMs: env.WEBHOOK_TOTAL_TIMEOUT_MS,
    /** A subscription whose deliveries have all failed for this long is disabled. */
    disableAfterMs: env.WEBHOOK_DISABLE_AFTER_MS,
    /** Undefined to connect directly. Secret, because it may contain a password. */
    egressProxyUrl: env.WEBHOOK_EGRESS_PROXY,
    // Only the operating system knows the names in a developer's own network.
    dns: env.WEBHOOK_DNS ?? (env.WEBHOOK_ALLOW_PRIVATE_TARGETS ? 'system' : 'direct'),
    /** How long finished deliveries and their events are stored; 0 for ever. */
    retentionDays: env.WEBHOOK_RETENTION_DAYS,
    sweepIntervalMs: env.SWEEP_INTERVAL_MS,
    /** The age from which the text of a version that is not the latest is archived; 0 for at once. */
    archiveAfterDays: env.ARCHIVE_AFTER_DAYS,
    /** Object storage for the public files of the log. Undefined if only gateways serve them. */
    logPublishUrl: env.LOG_PUBLISH_URL,
    log: {
      /** The log's name; empty if nothing is signed. */
      origin: env.LOG_ORIGIN ?? '',
      /** C2SP signing keys: several during a key rotation, none if nothing is signed. Secret. */
      signingKeys: env.LOG_SIGNING_KEY?.split(',').map((key) => key.trim()) ?? [],
      /** An additional ML-DSA-44 signing key. Secret. */
      pqSigningKey: env.LOG_PQ_SIGNING_KEY,
      checkpointIntervalMs: env.LOG_CHECKPOINT_INTERVAL_MS,
      checkpointMaxAgeMs: env.LOG_CHECKPOINT_MAX_AGE_MS,
      /** Stores the newest checkpoint outside the database. */
      checkpointFile: env.LOG_CHECKPOINT_FILE,
      /** The witnesses and the required quorum (C2SP tlog-policy). */
      policyFile: env.LOG_POLICY_FILE,
    },
  };
}

/** Reads the address of the store from the standard variables. The client of S3 reads the credentials itself. */
export function s3Env(source: NodeJS.ProcessEnv = process.env): { endpoint: string | undefined; region: string } {
  const first = (...names: string[]): string | undefined => names.map((name) => source[name]).find((value) => value);
  return {
    /** The address of the store; undefined for Amazon's own. */
    endpoint: first('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'),
    region: first('AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1',
  };
}

function toShared(env: SharedVariables) {
  return {
    appEnv: env.APP_ENV,
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    /** Connections that all processes need at their maximum numbers; undefined if those are unknown. */
    neededConnections: toNeededConnections(env),
    /** Undefined if the queue is in PostgreSQL. */
    queueUrl: env.QUEUE_URL,
    secretBox: SecretBox.fromKeyRing(env.SECRETS_KEYS),
    /** The secret with which keys of the map are made; undefined without a map. Secret. */
    vrfKey: env.LOG_VRF_KEY,
    /** Object storage for old texts, and a second copy of it. Null if there is none. */
    archive: toArchive(env),
    logLevel: env.LOG_LEVEL,
    /** The address to listen on. Undefined for all addresses; in `local` only loopback. */
    host: env.APP_ENV === 'local' ? '127.0.0.1' : undefined,
    shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT_MS,
    allowPrivateTargets: env.WEBHOOK_ALLOW_PRIVATE_TARGETS,
    /** The delay before each retry of a delivery. After the last retry the delivery is dead. */
    retryScheduleMs: env.WEBHOOK_RETRY_SCHEDULE_MS,
    build: { gitSha: env.BUILD_GIT_SHA, at: env.BUILD_AT },
    /** Null if no traces and metrics are sent. */
    telemetry: toTelemetry(env),
  };
}

function toArchive({ ARCHIVE_URL: url, ARCHIVE_MIRROR_URL: mirrorUrl }: OperatorVariables | SharedVariables) {
  return url === undefined ? null : { url, mirrorUrl };
}

function toNeededConnections(env: SharedVariables): number | undefined {
  const { MAX_GATEWAYS: gateways, MAX_WORKERS: workers } = env;
  if (gateways === undefined || workers === undefined) return undefined;
  const hosts = serverUrls(env.DATABASE_URL).length;
  return connectionsOf({
    gateways,
    workers,
    poolSize: env.DATABASE_POOL_SIZE,
    hosts,
    isQueueOnPostgres: env.QUEUE_URL === undefined,
  });
}

function toTelemetry(env: SharedVariables): TelemetrySettings | null {
  if (env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || env.OTEL_SDK_DISABLED) return null;
  return {
    endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS,
    traces: env.OTEL_TRACES_EXPORTER === 'otlp',
    metrics: env.OTEL_METRICS_EXPORTER === 'otlp',
    sampler: env.OTEL_TRACES_SAMPLER,
    samplerRatio: env.OTEL_TRACES_SAMPLER_ARG,
    queuedSpans: env.OTEL_BSP_MAX_QUEUE_SIZE,
    spanDelayMs: env.OTEL_BSP_SCHEDULE_DELAY,
    metricIntervalMs: env.OTEL_METRIC_EXPORT_INTERVAL,
  };
}
