import { part, view, type ViewOf } from './describe/view';
import { listOf, shown } from './describe/field';
import { oneOf, sentTime, text } from './describe/fields';
import { answer, operations } from './describe/operation';

export const Health = view('Health', {
  status: shown<'ok'>({ type: 'string', const: 'ok' }).described('The process responds.'),
});
export type Health = ViewOf<typeof Health>;

const Check = view('Check', {
  status: oneOf(['ok', 'degraded', 'failed']).described('`degraded`: the dependency works but needs attention.'),
  detail: text.optional().described('The problem.'),
});

export const Readiness = view('Readiness', {
  status: oneOf(['ready', 'not_ready']).described('The readiness of this process.'),
  checks: part({
    database: Check.described('PostgreSQL answers.'),
    replica: Check.optional().described('A copy of PostgreSQL serves long reads. Absent if none is configured.'),
    archive: Check.optional().described('The archive of old versions answers. Absent if none is configured.'),
    migrations: Check.described('The schema is the one that this code needs.'),
    schema: Check.described('Role, privileges, policies and triggers match the migrations.'),
    clock: Check.described('The clocks of the database and of this machine agree to within seconds.'),
    issuer: Check.described('The signing keys of the identity provider are known.'),
    queue: Check.described('Redis answers.'),
    outbox: Check.described('Events leave the outbox in time.'),
    log: Check.described('Facts reach the published transparency log in time.'),
    map: Check.optional().described('Present only if the log has a map that this gateway cannot use.'),
    feed: Check.described('Log entries reach the change feeds in time.'),
    connections: Check.optional().described(
      'PostgreSQL has enough connections for all processes at their maximum. Absent if the maximums are not ' +
        'configured.',
    ),
  }).described('The dependencies of the process.'),
});

/** Specification, "Utility": the running version. */
export const Meta = view('Meta', {
  service: text.described('The name of the service.'),
  ts: sentTime.described('The current time at the service.'),
  version: text.described('The version of the service.'),
  node: text.described('The version of Node.js.'),
  env: text.described('The environment in which the service runs.'),
  gitSha: text.described('The commit from which the service was built.'),
  builtAt: sentTime.described('When the service was built.'),
});
export type Meta = ViewOf<typeof Meta>;

/** The metadata of a protected resource (RFC 9728, section 2). */
export const ProtectedResource = view('ProtectedResource', {
  resource: text.described('The origin of the service, as callers see it.'),
  authorization_servers: listOf(text).optional().described('The issuer of tokens; absent without authentication.'),
  scopes_supported: listOf(text)
    .optional()
    .described('The scopes to request from the issuer; absent without authentication.'),
  bearer_methods_supported: listOf(shown<'header'>({ type: 'string', const: 'header' })).described(
    'The ways to send a token: the header `Authorization`.',
  ),
  resource_name: text.described('The name of the service.'),
  resource_documentation: text.described('The documentation of the API.'),
});
export type ProtectedResource = ViewOf<typeof ProtectedResource>;

const OK = { status: 'ok' } as const;

const ALL_OK = {
  database: OK,
  migrations: OK,
  schema: OK,
  clock: OK,
  issuer: OK,
  queue: OK,
  outbox: OK,
  log: OK,
  feed: OK,
};

const META_EXAMPLE: Meta = {
  service: 'identity-state-service',
  ts: '2026-01-15T09:00:00.000Z',
  version: '1.0.0',
  node: 'v26.10.0',
  env: 'production',
  gitSha: '3f1c2d4',
  builtAt: '2026-01-10T12:00:00.000Z',
};

const PROTECTED_RESOURCE_EXAMPLE: ProtectedResource = {
  resource: 'https://identity.example.com',
  authorization_servers: ['https://id.example.com/identity'],
  scopes_supported: ['openid', 'profile'],
  bearer_methods_supported: ['header'],
  resource_name: 'Identity State Service',
  resource_documentation: 'https://identity.example.com/docs',
};

export const SYSTEM = operations('Utility', '', {
  getHealth: {
    route: 'GET /health',
    summary: 'Liveness: 200 while the process runs',
    who: 'anyone',
    answers: { 200: answer('Alive.', Health, { status: 'ok' }) },
  },
  getReadiness: {
    route: 'GET /v1/ops/readiness',
    summary: 'Readiness: the state of each dependency; 503 when requests should go elsewhere',
    who: 'anyone',
    answers: {
      200: answer('Ready.', Readiness, { status: 'ready', checks: ALL_OK }),
      503: answer('Not ready.', Readiness, {
        status: 'not_ready',
        checks: { ...ALL_OK, database: { status: 'failed', detail: 'unreachable' } },
      }),
    },
  },
  getMeta: {
    route: 'GET /v1/meta',
    summary: 'Read the version and environment of the service',
    who: 'anyone',
    description: 'Needs a token only if `META_REQUIRES_AUTH` is true.',
    answers: { 200: answer('Version and environment.', Meta, META_EXAMPLE) },
    errors: ['unauthorized'],
  },
  getProtectedResource: {
    route: 'GET /.well-known/oauth-protected-resource',
    summary: 'Read the metadata of the service as a protected resource (RFC 9728)',
    who: 'anyone',
    description:
      'Names the issuer whose tokens the service accepts, and the origin for which a token must be issued. A ' +
      'client uses the metadata only if `resource` equals the origin of its request. It sends that origin to ' +
      'the issuer as `resource` (RFC 8707).',
    answers: { 200: answer('The metadata.', ProtectedResource, PROTECTED_RESOURCE_EXAMPLE) },
  },
});
