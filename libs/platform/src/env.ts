import { connectionsOf } from './connection-budget';
import { serverUrls } from './database-url';
import {
  gatewayRules,
  GatewayVariables,
  isDeployed,
  OperatorVariables,
  sharedRules,
  SharedVariables,
  workerRules,
  WorkerVariables,
} from './env-schemas';
import {
  CAPS,
  type Caps,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  LIMITS,
  type Limits,
  type OverridableName,
  RATES,
  WORK_LIMITS,
  type WorkLimits,
} from './limits';
import { SecretBox } from './secret-box';
import type { TelemetrySettings } from './telemetry';
import { readVariables, valuesOf } from './variables';

export { EnvError } from './variables';

/** Ids of applied updates need no secrecy on a developer's machine, but should be the same on every machine. */
const DEVELOPMENT_SNAPSHOT_ID_SECRET = 'snapshot ids of local and development deployments';

/** Long enough for a load balancer that checks every two seconds and reacts to the second failure. */
const DEPLOYED_DRAIN_DELAY_MS = 5_000;

/** The settings of every process. */
export interface SharedEnv {
  appEnv: 'local' | 'development' | 'staging' | 'production';
  databaseUrl: string;
  databasePoolSize: number;
  /** Connections that all processes need at their maximum numbers; undefined if those are unknown. */
  neededConnections: number | undefined;
  /** Undefined if the queue is in PostgreSQL. */
  queueUrl: string | undefined;
  secretBox: SecretBox;
  logLevel: SharedVariables['LOG_LEVEL'];
  /** The address to listen on. Undefined for all addresses; in `local` only loopback. */
  host: string | undefined;
  shutdownTimeoutMs: number;
  allowPrivateTargets: boolean;
  /** The delay before each retry of a delivery. After the last retry the delivery is dead. */
  retryScheduleMs: readonly number[];
  build: { gitSha: string | undefined; at: string | undefined };
  /** Null if no traces and metrics are sent. */
  telemetry: TelemetrySettings | null;
}

/** The settings of an app's metrics server. */
export interface MetricsEnv {
  /** 0 for any free port. */
  metricsPort: number;
}

export interface GatewayEnv extends SharedEnv, MetricsEnv {
  port: number;
  /**
   * How long the gateway continues to serve after a stop signal, so that load balancers notice. Precedes
   * `shutdownTimeoutMs`.
   */
  drainDelayMs: number;
  /** Replicas of the database, for reads that may be stale; undefined if there are none. */
  databaseReplicaUrl: string | undefined;
  limits: Limits;
  connections: ConnectionLimits;
  caps: Caps;
  work: WorkLimits;
  /** Origins whose browser scripts may read responses. If empty, scripts of other origins may not. */
  corsOrigins: readonly string[];
  auth: {
    /** With `disabled`, every caller is `oidc:local#dev`. Allowed only in `local` and `development`. */
    mode: 'oidc' | 'disabled';
    /** `{OIDC_ISSUER}/{OIDC_PROJECT_ID}`, compared exactly with `iss`. Empty if authentication is disabled. */
    issuer: string;
    /** Contains no `#`. */
    projectId: string;
    audience: string;
    /** The URL of the keys; undefined if the issuer's discovery document has it. */
    jwksUri: string | undefined;
    /** The service's origin as callers know it; undefined to use that of the request. */
    publicOrigin: string | undefined;
    /** The claim with the values `human`, `service_account` and `ai_agent`. */
    principalTypeClaim: string;
    /** Allowed only in `local` and `development`. */
    globalReadsArePublic: boolean;
    /** True in `local` and `development`. */
    legacyPathsArePublic: boolean;
    /** From 0 to 60. */
    clockSkewSeconds: number;
    /** 8 KiB in the contract, "Numbers". */
    maxTokenBytes: number;
  };
  /** OpenAPI and Swagger UI at `/docs`, and the public client that Swagger UI signs in with. */
  docs: { isOn: boolean; clientId: string };
  /** The page at `/console`, and the client and scopes that it signs in with. */
  console: { isOn: boolean; clientId: string; scope: string };
  metaRequiresAuth: boolean;
  globalReads: 'authorized' | 'public' | 'off';
  /** `trusted`: principals that an admin adds become members immediately. `required`: they are invited. */
  membershipConsent: 'required' | 'trusted';
  snapshotIdSecret: string;
  /** The paths without a tenant, `/v1/entity-states`. */
  legacy: {
    enabled: boolean;
    /** The tenant that owns the data written there. */
    tenantId: string;
    /** The owner of that tenant if it is created at start; undefined for none. */
    ownerId: string | undefined;
  };
  /** Requests per minute and principal, over all gateways; 0 for no limit. */
  rateLimitPerMinute: number;
  /** Requests without a valid token per minute and address, for this gateway; 0 for no limit. */
  anonymousRateLimitPerMinute: number;
  /** Networks whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
}

export interface WorkerEnv extends SharedEnv, MetricsEnv {
  port: number;
  concurrency: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  totalTimeoutMs: number;
  /** A subscription whose deliveries have all failed for this long is disabled. */
  disableAfterMs: number;
  /** The proxy for deliveries; undefined to connect directly. Secret, because it may contain a password. */
  egressProxyUrl: string | undefined;
  /** The resolver for receivers' names: the name servers directly, or the operating system. */
  dns: 'system' | 'direct';
  /** How long finished deliveries and their events are stored; 0 for ever. */
  retentionDays: number;
  sweepIntervalMs: number;
  log: LogSettings;
}

/** The settings for signing and publishing the transparency log. */
export interface LogSettings {
  /** The log's name; empty if nothing is signed. */
  origin: string;
  /** C2SP signing keys: several during a key rotation, none if nothing is signed. Secret. */
  signingKeys: readonly string[];
  /** An additional ML-DSA-44 signing key. Secret. */
  pqSigningKey: string | undefined;
  /** The minimum time between two checkpoints. */
  checkpointIntervalMs: number;
  /** The maximum time between two checkpoints. */
  checkpointMaxAgeMs: number;
  /** The file that stores the newest checkpoint outside the database. */
  checkpointFile: string | undefined;
  /** The policy file with the witnesses and the required quorum (C2SP tlog-policy); undefined for none. */
  policyFile: string | undefined;
}

/** Reads the environment of tools that use only database, queue and secrets. @throws EnvError */
export function sharedEnv(source: NodeJS.ProcessEnv = process.env): SharedEnv {
  return toShared(readVariables(SharedVariables, sharedRules, source));
}

/** The settings of the operator's commands. */
export interface OperatorEnv {
  /** The URL with the login that owns the tables. */
  databaseUrl: string;
  /** Undefined if the queue's tables are in the database. */
  queueUrl: string | undefined;
  /** The default limits, as far as this process has the gateway's variables. */
  limits: Readonly<Record<OverridableName, number>>;
}

/** Reads the environment of `iss`. @throws EnvError */
export function operatorEnv(source: NodeJS.ProcessEnv = process.env): OperatorEnv {
  const env = readVariables(OperatorVariables, [], source);
  const requests_per_minute = env.RATE_LIMIT_PER_MINUTE ?? RATES.requests_per_minute.default;
  return {
    databaseUrl: env.DATABASE_URL,
    queueUrl: env.QUEUE_URL,
    limits: { ...valuesOf(CAPS, env), requests_per_minute },
  };
}

/** Reads the gateway's environment (contract, "Environment" and "Numbers"). @throws EnvError */
export function gatewayEnv(source: NodeJS.ProcessEnv = process.env): GatewayEnv {
  const env = readVariables(GatewayVariables, gatewayRules, source);
  const limits = valuesOf(LIMITS, env);
  const projectId = env.OIDC_PROJECT_ID ?? 'local';
  return {
    ...toShared(env),
    metricsPort: env.METRICS_PORT,
    port: env.PORT,
    drainDelayMs: env.DRAIN_DELAY_MS ?? (isDeployed(env) ? DEPLOYED_DRAIN_DELAY_MS : 0),
    databaseReplicaUrl: env.DATABASE_REPLICA_URL,
    limits,
    connections: valuesOf(CONNECTION_LIMITS, env),
    caps: valuesOf(CAPS, env),
    work: valuesOf(WORK_LIMITS, env),
    corsOrigins: env.CORS_ORIGINS,
    auth: {
      mode: env.AUTH_MODE,
      issuer: env.OIDC_ISSUER === undefined ? '' : `${env.OIDC_ISSUER.replace(/\/+$/, '')}/${projectId}`,
      projectId,
      audience: env.OIDC_AUDIENCE ?? projectId,
      jwksUri: env.OIDC_JWKS_URI,
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
      ownerId: env.LEGACY_TENANT_OWNER,
    },
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE ?? (isDeployed(env) ? RATES.requests_per_minute.default : 0),
    anonymousRateLimitPerMinute:
      env.RATE_LIMIT_PER_MINUTE_ANONYMOUS ?? (isDeployed(env) ? RATES.anonymous_requests_per_minute.default : 0),
    trustedProxies: env.TRUSTED_PROXIES,
  };
}

/** Reads the worker's environment. @throws EnvError */
export function workerEnv(source: NodeJS.ProcessEnv = process.env): WorkerEnv {
  const env = readVariables(WorkerVariables, workerRules, source);
  return {
    ...toShared(env),
    metricsPort: env.METRICS_PORT,
    port: env.WORKER_PORT,
    concurrency: env.WORKER_CONCURRENCY,
    connectTimeoutMs: env.WEBHOOK_CONNECT_TIMEOUT_MS,
    headersTimeoutMs: env.WEBHOOK_HEADERS_TIMEOUT_MS,
    totalTimeoutMs: env.WEBHOOK_TOTAL_TIMEOUT_MS,
    disableAfterMs: env.WEBHOOK_DISABLE_AFTER_MS,
    egressProxyUrl: env.WEBHOOK_EGRESS_PROXY,
    // Only the operating system knows the names in a developer's own network.
    dns: env.WEBHOOK_DNS ?? (env.WEBHOOK_ALLOW_PRIVATE_TARGETS ? 'system' : 'direct'),
    retentionDays: env.WEBHOOK_RETENTION_DAYS,
    sweepIntervalMs: env.SWEEP_INTERVAL_MS,
    log: {
      origin: env.LOG_ORIGIN ?? '',
      signingKeys: env.LOG_SIGNING_KEY?.split(',').map((key) => key.trim()) ?? [],
      pqSigningKey: env.LOG_PQ_SIGNING_KEY,
      checkpointIntervalMs: env.LOG_CHECKPOINT_INTERVAL_MS,
      checkpointMaxAgeMs: env.LOG_CHECKPOINT_MAX_AGE_MS,
      checkpointFile: env.LOG_CHECKPOINT_FILE,
      policyFile: env.LOG_POLICY_FILE,
    },
  };
}

function hostOf(env: { APP_ENV: SharedEnv['appEnv'] }): string | undefined {
  return env.APP_ENV === 'local' ? '127.0.0.1' : undefined;
}

function toShared(env: SharedVariables): SharedEnv {
  return {
    appEnv: env.APP_ENV,
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    neededConnections: toNeededConnections(env),
    queueUrl: env.QUEUE_URL,
    secretBox: SecretBox.fromKeyRing(env.SECRETS_KEYS),
    logLevel: env.LOG_LEVEL,
    host: hostOf(env),
    shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT_MS,
    allowPrivateTargets: env.WEBHOOK_ALLOW_PRIVATE_TARGETS,
    retryScheduleMs: env.WEBHOOK_RETRY_SCHEDULE_MS,
    build: { gitSha: env.BUILD_GIT_SHA, at: env.BUILD_AT },
    telemetry: toTelemetry(env),
  };
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
