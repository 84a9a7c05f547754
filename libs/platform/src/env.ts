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

/** Ids of applied updates need no secrecy on a developer's machine, and should be the same on each. */
const DEVELOPMENT_SNAPSHOT_ID_SECRET = 'snapshot ids of local and development deployments';

/** Time enough for a load balancer that asks every two seconds and believes the second refusal. */
const DEPLOYED_DRAIN_DELAY_MS = 5_000;

/** What every process of the service reads. */
export interface SharedEnv {
  appEnv: 'local' | 'development' | 'staging' | 'production';
  databaseUrl: string;
  databasePoolSize: number;
  /** Connections that all processes need at their maxima; undefined: those are not known. */
  neededConnections: number | undefined;
  /** Undefined: the queue lives in PostgreSQL. */
  queueUrl: string | undefined;
  secretBox: SecretBox;
  logLevel: SharedVariables['LOG_LEVEL'];
  /** The address to listen on; undefined: all of the machine. A developer's processes are nobody else's. */
  host: string | undefined;
  shutdownTimeoutMs: number;
  allowPrivateTargets: boolean;
  /** The wait before each retry of a delivery; after the last, the delivery is dead. */
  retryScheduleMs: readonly number[];
  build: { gitSha: string | undefined; at: string | undefined };
  /** Null: no traces and figures are sent anywhere. */
  telemetry: TelemetrySettings | null;
}

/** Where an app serves its figures. */
export interface MetricsEnv {
  /** 0: any that is free. */
  metricsPort: number;
}

export interface GatewayEnv extends SharedEnv, MetricsEnv {
  port: number;
  /** For so long it goes on serving after it was told to stop, so that load balancers can notice; on top of `shutdownTimeoutMs`. */
  drainDelayMs: number;
  /** Copies of the database, for reads that may be late; undefined: there are none. */
  databaseReplicaUrl: string | undefined;
  limits: Limits;
  connections: ConnectionLimits;
  caps: Caps;
  work: WorkLimits;
  /** Of browsers whose scripts may read answers; none: no script of another origin may. */
  corsOrigins: readonly string[];
  auth: {
    /** `disabled`: every caller is `oidc:local#dev`. The environment allows it in `local` and `development` only. */
    mode: 'oidc' | 'disabled';
    /** `{OIDC_ISSUER}/{OIDC_PROJECT_ID}`, compared with `iss` character by character. Empty when disabled. */
    issuer: string;
    /** Has no `#`. */
    projectId: string;
    audience: string;
    /** Where the keys are; undefined: where the issuer's discovery document says. */
    jwksUri: string | undefined;
    /** The origin under which callers know the service; undefined: the one that a request names. */
    publicOrigin: string | undefined;
    /** The claim that says `human`, `service_account` or `ai_agent`. */
    principalTypeClaim: string;
    /** The environment allows it in `local` and `development` only. */
    globalReadsArePublic: boolean;
    /** In `local` and `development`. */
    legacyPathsArePublic: boolean;
    /** 0–60. */
    clockSkewSeconds: number;
    /** Contract, "Numbers": 8 KiB. */
    maxTokenBytes: number;
  };
  /** OpenAPI and Swagger UI at `/docs`, and as which public client that signs in. */
  docs: { isOn: boolean; clientId: string };
  /** The page at `/console`, and as which client and with which scopes it signs in. */
  console: { isOn: boolean; clientId: string; scope: string };
  metaRequiresAuth: boolean;
  globalReads: 'authorized' | 'public' | 'off';
  /** Whether an admin makes principals of the identity project members at once, or invites them. */
  membershipConsent: 'required' | 'trusted';
  snapshotIdSecret: string;
  /** The paths without a tenant, `/v1/entity-states`. */
  legacy: {
    enabled: boolean;
    /** Owns what is written there. */
    tenantId: string;
    /** Who owns that tenant where it is made at boot; undefined: nobody. */
    ownerId: string | undefined;
  };
  /** Requests of one principal a minute, over all gateways; 0: no limit. */
  rateLimitPerMinute: number;
  /** Requests without a valid token from one address a minute, of this gateway; 0: no limit. */
  anonymousRateLimitPerMinute: number;
  /** Networks of which `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
}

export interface WorkerEnv extends SharedEnv, MetricsEnv {
  port: number;
  concurrency: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  totalTimeoutMs: number;
  /** A subscription that only failed for so long is disabled. */
  disableAfterMs: number;
  /** The proxy through which deliveries leave; undefined: they leave from here. Secret: it may hold a password. */
  egressProxyUrl: string | undefined;
  /** Who is asked for the addresses of receivers: the name servers, or whatever the machine asks. */
  dns: 'system' | 'direct';
  /** For so long finished deliveries and their events are kept; 0: for ever. */
  retentionDays: number;
  sweepIntervalMs: number;
  log: LogSettings;
}

/** How the transparency log is signed and published. */
export interface LogSettings {
  /** The log's name; empty where nothing is signed. */
  origin: string;
  /** C2SP signing keys: several while one takes another's place, none where nothing is signed. Secret. */
  signingKeys: readonly string[];
  /** One of ML-DSA-44 that signs beside them. Secret. */
  pqSigningKey: string | undefined;
  /** A new checkpoint at most so often, */
  checkpointIntervalMs: number;
  /** and at least so often. */
  checkpointMaxAgeMs: number;
  /** Where the newest checkpoint is kept outside of the database. */
  checkpointFile: string | undefined;
  /** Says which witnesses cosign and how many must (C2SP tlog-policy); undefined: none. */
  policyFile: string | undefined;
}

/** The environment of tools that stand on database, queue and secrets only. @throws EnvError */
export function sharedEnv(source: NodeJS.ProcessEnv = process.env): SharedEnv {
  return toShared(readVariables(SharedVariables, sharedRules, source));
}

/** What the operator's command reads. */
export interface OperatorEnv {
  /** Of the login that owns the tables. */
  databaseUrl: string;
  /** Undefined: the queue's tables stand in the database too. */
  queueUrl: string | undefined;
  /** The limits that hold where no other was set, as far as the variables of this process are the gateway's. */
  limits: Readonly<Record<OverridableName, number>>;
}

/** The environment of `iss`. @throws EnvError */
export function operatorEnv(source: NodeJS.ProcessEnv = process.env): OperatorEnv {
  const env = readVariables(OperatorVariables, [], source);
  const requests_per_minute = env.RATE_LIMIT_PER_MINUTE ?? RATES.requests_per_minute.default;
  return {
    databaseUrl: env.DATABASE_URL,
    queueUrl: env.QUEUE_URL,
    limits: { ...valuesOf(CAPS, env), requests_per_minute },
  };
}

/** The gateway's environment, contract "Environment" and "Numbers". @throws EnvError */
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

/** The worker's environment. @throws EnvError */
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
    // Only the machine itself knows the names of a developer's own network.
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
