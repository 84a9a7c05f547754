import { randomBytes } from 'node:crypto';
import { EnvError, gatewayEnv, sharedEnv, workerEnv } from './env';
import { DEFAULT_CAPS, DEFAULT_LIMITS } from './limits';

const SECRETS_KEYS = `k1:${randomBytes(32).toString('base64')}`;
const shared = { DATABASE_URL: 'postgres://iss:dbpass@localhost/iss', SECRETS_KEYS };
const local = { ...shared, OIDC_ISSUER: 'http://127.0.0.1:3020', OIDC_PROJECT_ID: 'dev' };
const production = {
  ...shared,
  APP_ENV: 'production',
  OIDC_ISSUER: 'https://id.example.com/',
  OIDC_PROJECT_ID: 'p1',
  SNAPSHOT_ID_SECRET: randomBytes(24).toString('hex'),
  QUEUE_URL: 'rediss://redis:6379',
};

function faults(read: (source: NodeJS.ProcessEnv) => unknown, source: NodeJS.ProcessEnv): readonly string[] {
  try {
    read(source);
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.lines;
    throw error;
  }
}

function faultyVariables(source: NodeJS.ProcessEnv): string[] {
  return faults(gatewayEnv, source).map((line) => line.split(' ')[0] ?? '');
}

describe('gatewayEnv', () => {
  it('fills in the defaults', () => {
    expect(gatewayEnv(local)).toMatchObject({
      appEnv: 'local',
      databasePoolSize: 10,
      queueUrl: undefined,
      logLevel: 'info',
      shutdownTimeoutMs: 10_000,
      allowPrivateTargets: false,
      retryScheduleMs: [1000, 5000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000],
      port: 3000,
      metricsPort: 3001,
      host: '127.0.0.1',
      limits: DEFAULT_LIMITS,
      auth: {
        mode: 'oidc',
        issuer: 'http://127.0.0.1:3020/dev',
        projectId: 'dev',
        audience: 'dev',
        principalTypeClaim: 'principal_type',
      },
      metaRequiresAuth: false,
      globalReads: 'authorized',
      membershipConsent: 'trusted',
    });
  });

  it.each([
    [production, 'required'],
    [{ ...production, APP_ENV: 'staging' }, 'required'],
    [{ ...production, MEMBERSHIP_CONSENT: 'trusted' }, 'trusted'],
    [{ ...local, APP_ENV: 'development' }, 'trusted'],
    [{ ...local, MEMBERSHIP_CONSENT: 'required' }, 'required'],
  ])('derives membershipConsent from the environment (%#)', (source, consent) => {
    expect(gatewayEnv(source).membershipConsent).toBe(consent);
  });

  it.each([
    [local, 0, 0],
    [{ ...local, APP_ENV: 'development' }, 0, 0],
    [{ ...production, APP_ENV: 'staging' }, 600, 60],
    [production, 600, 60],
    [{ ...production, RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_MINUTE_ANONYMOUS: '0' }, 0, 0],
    [{ ...local, RATE_LIMIT_PER_MINUTE: '5', RATE_LIMIT_PER_MINUTE_ANONYMOUS: '7' }, 5, 7],
  ])('limits the request rate in staging and production by default (%#)', (source, rateLimitPerMinute, anonymous) => {
    expect(gatewayEnv(source)).toMatchObject({ rateLimitPerMinute, anonymousRateLimitPerMinute: anonymous });
  });

  it('defaults drainDelayMs to five seconds in production and to zero locally', () => {
    expect([local, production].map((source) => gatewayEnv(source).drainDelayMs)).toEqual([0, 5_000]);
    expect(gatewayEnv({ ...production, DRAIN_DELAY_MS: '0' }).drainDelayMs).toBe(0);
  });

  it('enables telemetry only if an endpoint is set', () => {
    const on = { ...local, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(gatewayEnv({ ...local, OTEL_TRACES_SAMPLER: 'always_on' }).telemetry).toBeNull();
    expect(gatewayEnv({ ...on, OTEL_SDK_DISABLED: 'true' }).telemetry).toBeNull();
    expect(gatewayEnv(on).telemetry).toMatchObject({ traces: true, metrics: true, sampler: 'parentbased_always_on' });
    expect(
      gatewayEnv({ ...on, OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_SAMPLER_ARG: '0.25' }).telemetry,
    ).toMatchObject({ traces: true, metrics: false, samplerRatio: 0.25 });
    for (const [name, value] of [
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'no header'],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%'],
      ['OTEL_TRACES_SAMPLER', 'sometimes'],
      ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ] as const) {
      expect(faultyVariables({ ...on, [name]: value })).toEqual([name]);
    }
  });

  it('trusts only the proxies in TRUSTED_PROXIES', () => {
    expect(gatewayEnv(production).trustedProxies).toEqual([]);
    const trusting = gatewayEnv({ ...production, TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::1' });
    expect(trusting.trustedProxies).toEqual(['10.0.0.0/8', '2001:db8::1']);
    expect(faultyVariables({ ...production, TRUSTED_PROXIES: 'proxy.example.com' })).toEqual(['TRUSTED_PROXIES']);
  });

  it('defaults to the documented caps and accepts an override', () => {
    expect(gatewayEnv(local).caps).toEqual(DEFAULT_CAPS);
    expect(gatewayEnv({ ...local, MAX_MEMBERS_PER_TENANT: '0' }).caps.members_per_tenant).toBe(0);
    expect(faultyVariables({ ...local, MAX_MEMBERS_PER_TENANT: 'many' })).toEqual(['MAX_MEMBERS_PER_TENANT']);
  });

  it('defaults to the documented limits', () => {
    expect(DEFAULT_LIMITS).toEqual({
      bodyBytes: 1_048_576,
      jsonDepth: 64,
      patchOperations: 1000,
      requestedPaths: 100,
      eventTypes: 16,
      verifyDepth: 1000,
      historyPage: 200,
      chainProofPage: 200,
      erasureVersions: 1000,
      exportSnapshots: 1000,
      tokenBytes: 8192,
      batchBytes: 67_108_864,
      batchLines: 100_000,
      batches: 8,
      batchLineMs: 30_000,
      grantBatch: 1000,
    });
  });

  it('uses the variables that are set', () => {
    const env = gatewayEnv({
      ...production,
      OIDC_AUDIENCE: 'api',
      QUEUE_URL: 'rediss://cache:6380',
      WEBHOOK_RETRY_SCHEDULE_MS: '0, 10,20',
      EXPORT_MAX_SNAPSHOTS: '5',
      META_REQUIRES_AUTH: 'true',
      PUBLIC_ORIGIN: 'https://identity.example.com',
      PORT: '0',
    });
    expect(env).toMatchObject({
      port: 0,
      host: undefined,
      queueUrl: 'rediss://cache:6380',
      retryScheduleMs: [0, 10, 20],
      metaRequiresAuth: true,
      auth: { issuer: 'https://id.example.com/p1', audience: 'api', publicOrigin: 'https://identity.example.com' },
      limits: { exportSnapshots: 5 },
    });
    expect(env.secretBox.currentKeyId).toBe('k1');
  });

  it('reports every fault in one line each, including rules between variables', () => {
    expect(
      faultyVariables({
        APP_ENV: 'staging',
        AUTH_MODE: 'disabled',
        PORT: 'eighty',
        GLOBAL_READS: 'public',
        LOG_LEVEL: 'loud',
      }).sort(),
    ).toEqual([
      ...['AUTH_MODE', 'DATABASE_URL', 'GLOBAL_READS', 'LOG_LEVEL', 'PORT', 'QUEUE_URL', 'SECRETS_KEYS'],
      'SNAPSHOT_ID_SECRET',
    ]);
  });

  it('treats an empty variable as unset', () => {
    expect(faults(gatewayEnv, { ...local, DATABASE_URL: '', PORT: '' })).toEqual([
      'DATABASE_URL is not set: it must be a URL starting with postgres:// or postgresql://',
    ]);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['APP_ENV', { ...local, APP_ENV: 'prod' }],
    ['DATABASE_URL', { ...local, DATABASE_URL: 'mysql://localhost/iss' }],
    ['QUEUE_URL', { ...local, QUEUE_URL: 'localhost:6379' }],
    ['QUEUE_URL', { ...production, QUEUE_URL: undefined }],
    ['QUEUE_URL', { ...production, QUEUE_URL: 'redis://redis' }],
    ['QUEUE_URL', { ...production, QUEUE_URL: 'redis+sentinel://localhost,redis?master=iss' }],
    ['QUEUE_URL', { ...production, QUEUE_URL: 'rediss+sentinel://redis' }],
    ['QUEUE_TLS', { ...production, QUEUE_TLS: 'no' }],
    ['SECRETS_KEYS', { ...production, SECRETS_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` }],
    ['SECRETS_KEYS', { ...production, SECRETS_KEYS: `${SECRETS_KEYS},k0:${Buffer.alloc(32, 1).toString('base64')}` }],
    ['SECRETS_KEYS', { ...production, SECRETS_KEYS: `k1:${Buffer.alloc(32, 'abcdefgh').toString('base64')}` }],
    ['SNAPSHOT_ID_SECRET', { ...production, SNAPSHOT_ID_SECRET: 'x'.repeat(64) }],
    ['SNAPSHOT_ID_SECRET', { ...production, SNAPSHOT_ID_SECRET: 'abcdef'.repeat(10) }],
    ['DATABASE_URL', { ...production, DATABASE_URL: 'postgres://iss@db/iss' }],
    ['DATABASE_URL', { ...production, DATABASE_URL: 'postgres://iss@db/iss?sslmode=prefer' }],
    ['DATABASE_URL', { ...production, DATABASE_URL: 'postgres://iss@localhost,db/iss' }],
    ['DATABASE_URL', { ...production, DATABASE_URL: 'postgres:///iss?host=db' }],
    ['DATABASE_REPLICA_URL', { ...production, DATABASE_REPLICA_URL: 'postgres://iss@10.0.0.1/iss' }],
    ['DATABASE_TLS', { ...production, DATABASE_TLS: 'no' }],
    ['SNAPSHOT_ID_SECRET', { ...production, SNAPSHOT_ID_SECRET: '0'.repeat(32) }],
    ['SNAPSHOT_ID_SECRET', { ...production, SNAPSHOT_ID_SECRET: 'replace-by-at-least-32-characters' }],
    ['QUEUE_BACKEND', { ...production, QUEUE_BACKEND: 'postgresql' }],
    ['QUEUE_BACKEND', { ...local, QUEUE_BACKEND: 'redis' }],
    ['QUEUE_BACKEND', { ...local, QUEUE_BACKEND: 'kafka' }],
    ['CORS_ORIGINS', { ...local, CORS_ORIGINS: '*' }],
    ['CORS_ORIGINS', { ...local, CORS_ORIGINS: 'https://app.example.com/' }],
    ['CORS_ORIGINS', { ...local, CORS_ORIGINS: 'https://a.example,' }],
    ['WRITE_TIMEOUT_MS', { ...local, WRITE_TIMEOUT_MS: '0' }],
    ['MAX_UNSENT_BYTES', { ...local, MAX_UNSENT_BYTES: '0' }],
    ['METRICS_PORT', { ...local, METRICS_PORT: 'x' }],
    ['SECRETS_KEYS', { ...local, SECRETS_KEYS: 'k1:short' }],
    ['OIDC_ISSUER', { ...local, OIDC_ISSUER: undefined }],
    ['OIDC_ISSUER', { ...local, OIDC_ISSUER: 'id.example.com' }],
    ['OIDC_ISSUER', { ...production, OIDC_ISSUER: 'HTTP://id.example.com' }],
    ['OIDC_JWKS_URI', { ...production, OIDC_JWKS_URI: 'http://id.example.com/keys' }],
    ['PUBLIC_ORIGIN', { ...production, PUBLIC_ORIGIN: 'http://identity.example.com' }],
    ['QUEUE_URL', { ...local, DATABASE_URL: 'postgres://iss@localhost,127.0.0.1/iss' }],
    ['ARCHIVE_MIRROR_URL', { ...local, ARCHIVE_MIRROR_URL: 's3://one' }],
    ['ARCHIVE_MIRROR_URL', { ...local, ARCHIVE_URL: 's3://one', ARCHIVE_MIRROR_URL: 's3://one' }],
    ['OIDC_PROJECT_ID', { ...local, OIDC_PROJECT_ID: undefined }],
    ['OIDC_PROJECT_ID', { ...local, OIDC_PROJECT_ID: 'a#b' }],
    ['AUTH_MODE', { ...production, AUTH_MODE: 'disabled' }],
    ['GLOBAL_READS', { ...production, GLOBAL_READS: 'public' }],
    ['WEBHOOK_ALLOW_PRIVATE_TARGETS', { ...production, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' }],
    ['WEBHOOK_ALLOW_PRIVATE_TARGETS', { ...local, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'yes' }],
    ['WEBHOOK_RETRY_SCHEDULE_MS', { ...local, WEBHOOK_RETRY_SCHEDULE_MS: '1000,,5' }],
    ['WEBHOOK_RETRY_SCHEDULE_MS', { ...local, WEBHOOK_RETRY_SCHEDULE_MS: '1e9' }],
    ['SNAPSHOT_ID_SECRET', { ...production, SNAPSHOT_ID_SECRET: undefined }],
    ['SNAPSHOT_ID_SECRET', { ...production, SNAPSHOT_ID_SECRET: 'short' }],
    ['BODY_LIMIT_BYTES', { ...local, BODY_LIMIT_BYTES: '-1' }],
    ['JSON_MAX_DEPTH', { ...local, JSON_MAX_DEPTH: '64.5' }],
    ['BUILD_AT', { ...local, BUILD_AT: 'today' }],
    ['PORT', { ...local, PORT: '65536' }],
  ])('refuses only the wrong %s (%#)', (variable, source) => expect(faultyVariables(source)).toEqual([variable]));

  it('requires no issuer if authentication is disabled', () => {
    expect(gatewayEnv({ ...shared, AUTH_MODE: 'disabled' }).auth.mode).toBe('disabled');
  });

  it('reports faults without the values of variables', () => {
    const lines = faults(gatewayEnv, {
      ...production,
      SECRETS_KEYS: 'k1:hunter2',
      SNAPSHOT_ID_SECRET: 'hunter2',
      DATABASE_URL: 'mysql://u:hunter2@h/d',
    });
    expect(lines).toHaveLength(3);
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});

describe('DATABASE_URL in staging and production', () => {
  it.each([
    'postgres://iss@db/iss?sslmode=verify-full',
    'postgres://iss@one,two/iss?sslmode=require&target_session_attrs=read-write',
    'postgres:///iss?host=/var/run/postgresql',
    'postgres://iss@[::1]:5432/iss',
  ])('accepts %s', (url) => expect(faultyVariables({ ...production, DATABASE_URL: url })).toEqual([]));

  it('can be used without TLS if DATABASE_TLS is off, and locally', () => {
    const url = { DATABASE_URL: 'postgres://iss@db/iss' };
    expect(faultyVariables({ ...production, ...url, DATABASE_TLS: 'off' })).toEqual([]);
    expect(faultyVariables({ ...local, ...url })).toEqual([]);
  });
});

describe('the log of a worker in staging and production', () => {
  const worker = { ...production, OIDC_ISSUER: undefined };
  const key = { LOG_ORIGIN: 'log.example', LOG_SIGNING_KEY: 'PRIVATE+KEY+log.example+00000000+AA==' };

  it('requires a signing key unless LOG is off', () => {
    expect(faults(workerEnv, worker)).toEqual([expect.stringMatching(/^LOG_SIGNING_KEY is not set: .*LOG=off/)]);
    for (const source of [{ ...worker, LOG: 'off' }, { ...worker, ...key }, shared])
      expect(faults(workerEnv, source)).toEqual([]);
    expect(faults(workerEnv, { ...worker, ...key, LOG: 'off' })).toEqual([
      expect.stringMatching(/^LOG may be off only/),
    ]);
  });

  it.each([
    ['LOG_ORIGIN', { ...worker, ...key, LOG_ORIGIN: 'other.example' }],
    [
      'LOG_ORIGIN',
      { ...worker, ...key, LOG_SIGNING_KEY: `${key.LOG_SIGNING_KEY}, PRIVATE+KEY+other.example+00000000+AA==` },
    ],
    ['LOG_SIGNING_KEY', { ...shared, LOG_POLICY_FILE: '/policy' }],
  ])('refuses an inconsistent %s', (variable, source) => {
    expect(faults(workerEnv, source).map((line) => line.split(' ')[0])).toEqual([variable]);
  });
});

describe('the queue in staging and production', () => {
  it.each([
    [{ QUEUE_URL: 'rediss://redis' }, 'rediss://redis'],
    [{ QUEUE_URL: 'rediss://redis', QUEUE_BACKEND: 'redis' }, 'rediss://redis'],
    [{ QUEUE_URL: 'redis://redis', QUEUE_TLS: 'off' }, 'redis://redis'],
    [{ QUEUE_URL: 'redis://127.0.0.1:6379' }, 'redis://127.0.0.1:6379'],
    [{ QUEUE_URL: 'rediss+cluster://one,two' }, 'rediss+cluster://one,two'],
    [{ QUEUE_URL: '', QUEUE_BACKEND: 'postgresql' }, undefined],
  ])('is read from %j', (change, queueUrl) => {
    expect(gatewayEnv({ ...production, ...change }).queueUrl).toBe(queueUrl);
    expect(workerEnv({ ...shared, APP_ENV: 'staging', LOG: 'off', ...change }).queueUrl).toBe(queueUrl);
  });

  it('is in PostgreSQL only if QUEUE_BACKEND is postgresql', () => {
    expect(faults(workerEnv, { ...shared, APP_ENV: 'staging', LOG: 'off' })).toEqual([
      'QUEUE_URL is not set: it must be the URL of Redis in staging and production (or set QUEUE_BACKEND=postgresql to have the queue there)',
    ]);
  });
});

describe('the egress settings of the worker', () => {
  const worker = { ...production, OIDC_ISSUER: undefined, LOG: 'off' };

  it('default to direct DNS, and to system DNS with private targets', () => {
    expect(workerEnv(worker)).toMatchObject({ dns: 'direct', egressProxyUrl: undefined });
    expect(workerEnv({ ...worker, WEBHOOK_DNS: 'system' }).dns).toBe('system');
    expect(workerEnv({ ...shared, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' }).dns).toBe('system');
  });

  it.each(['proxy:3128', 'socks5://proxy:1080', 'http://proxy:3128/path', 'http://user:%@proxy:3128'])(
    'refuse the proxy %s without repeating it',
    (WEBHOOK_EGRESS_PROXY) => {
      const [line, ...others] = faults(workerEnv, { ...worker, WEBHOOK_EGRESS_PROXY });
      expect([others, line]).toEqual([[], expect.stringMatching(/^WEBHOOK_EGRESS_PROXY must be http:/)]);
      expect(line).not.toContain(WEBHOOK_EGRESS_PROXY);
    },
  );
});

describe('sharedEnv and workerEnv', () => {
  it('require no variables of the gateway', () => {
    expect(sharedEnv(shared).databaseUrl).toBe(shared.DATABASE_URL);
    expect(workerEnv(shared)).toMatchObject({
      port: 3010,
      metricsPort: 3011,
      host: '127.0.0.1',
      disableAfterMs: 432_000_000,
      retentionDays: 30,
    });
    expect(workerEnv({ ...shared, WEBHOOK_RETENTION_DAYS: '0' }).retentionDays).toBe(0);
    expect(faults(workerEnv, { ...shared, WEBHOOK_RETENTION_DAYS: '1.5' })).toHaveLength(1);
    expect(faults(workerEnv, {})).toHaveLength(2);
  });
});
