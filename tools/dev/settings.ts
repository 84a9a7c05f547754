import { UserError } from '../processes.ts';

const SEEDS = { true: 'world', small: 'small world', false: 'nothing' } as const;
export type Seed = (typeof SEEDS)[keyof typeof SEEDS];

/** The settings that `npm start` itself reads from the environment. The apps read the others. */
export interface StartSettings {
  /** True for `local` and `development`, where missing settings get defaults. */
  local: boolean;
  ports: {
    gateway: number;
    gatewayMetrics: number;
    worker: number;
    workerMetrics: number;
    identityProvider: number;
    inbox: number;
    witness: number;
  };
  databaseUrl: string | undefined;
  queueUrl: string | undefined;
  /** Absent for our own issuer. */
  foreignIssuer: string | undefined;
  projectId: string;
  audience: string;
  seed: Seed;
}

/** @throws UserError that names the invalid variable */
export function readStartSettings(env: NodeJS.ProcessEnv): StartSettings {
  const local = ['local', 'development'].includes(env['APP_ENV'] || 'local');
  const databaseUrl = env['DATABASE_URL'] || undefined;
  const foreignIssuer = env['OIDC_ISSUER']?.replace(/\/+$/, '') || undefined;
  if (!local && databaseUrl === undefined)
    throw new UserError(`DATABASE_URL is missing: APP_ENV=${env['APP_ENV']} has no embedded database.`);
  if (!local && foreignIssuer === undefined)
    throw new UserError(`OIDC_ISSUER is missing: APP_ENV=${env['APP_ENV']} has no development issuer.`);
  const projectId = env['OIDC_PROJECT_ID'] || 'dev';
  if (foreignIssuer === undefined && !/^[\w.-]+$/.test(projectId)) {
    throw new UserError('OIDC_PROJECT_ID: letters, digits and . _ - with the development identity provider.');
  }
  const ports = {
    gateway: readPort(env, 'PORT', 3000),
    gatewayMetrics: readPort(env, 'METRICS_PORT', 3001),
    worker: readPort(env, 'WORKER_PORT', 3010),
    workerMetrics: readPort(env, 'WORKER_METRICS_PORT', 3011),
    identityProvider: readPort(env, 'IDP_PORT', 3020),
    inbox: readPort(env, 'INBOX_PORT', 3030),
    witness: readPort(env, 'WITNESS_PORT', 3040),
  };
  return {
    local,
    ports,
    databaseUrl,
    queueUrl: env['QUEUE_URL'] || undefined,
    foreignIssuer,
    projectId,
    audience: env['OIDC_AUDIENCE'] || projectId,
    seed: readSeed(env['SEED'] || 'true'),
  };
}

/** Returns the ports of this run with the variables that set them. */
export function portsByVariable({ ports, foreignIssuer }: StartSettings): [string, number][] {
  const identityProvider: [string, number][] =
    foreignIssuer === undefined ? [['IDP_PORT', ports.identityProvider]] : [];
  return [
    ['PORT', ports.gateway],
    ['METRICS_PORT', ports.gatewayMetrics],
    ['WORKER_PORT', ports.worker],
    ['WORKER_METRICS_PORT', ports.workerMetrics],
    ...identityProvider,
    ['INBOX_PORT', ports.inbox],
    ['WITNESS_PORT', ports.witness],
  ];
}

function readSeed(text: string): Seed {
  if (text === 'true' || text === 'small' || text === 'false') return SEEDS[text];
  throw new UserError(`SEED: ${text} is not one of ${Object.keys(SEEDS).join(', ')}.`);
}

function readPort(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name] || String(fallback);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new UserError(`${name}: ${text} is not a port (1 to 65535).`);
  return port;
}
