import { relative, join } from 'node:path';
import { Client } from 'pg';
import { appUrl } from '../app-login.ts';
import { applyMigrations } from '../db/apply-migrations.ts';
import { loadEnvironment } from '../environment.ts';
import { clusterFolder, startPostgres, type PostgresServer } from '../postgres.ts';
import { isPortFree, reservePort, UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from '../testing/wait-for.ts';
import { startApp, type App } from './app-process.ts';
import * as dataFolder from './data-folder.ts';
import {
  CONSOLE_CLIENT_ID,
  mintToken,
  PRINCIPAL_TYPE_CLAIM,
  startIdentityProvider,
  SWAGGER_CLIENT_ID,
} from './identity-provider.ts';
import { startInbox } from './inbox.ts';
import { Lifetime } from './lifetime.ts';
import { seedSmallWorld, seedWorld } from './seed.ts';
import { portsByVariable, readStartSettings, type StartSettings } from './settings.ts';
import { openDevelopmentLog, witnessAnswers } from './transparency-log.ts';

const START_DEADLINE_MS = 60_000;
const APP_STOP_DEADLINE_MS = 12_000;
const DATABASE = 'identity_state';
const SMALL_WORLD = [
  'acme (owner alice) owns organization/acme-corp with three versions and a webhook subscription to the inbox',
  'beta (owner bob) holds a grant on it with all scopes',
];
const WORLD = [
  'acme (owner alice; dora, erik, frida, gustav): 18 subjects, organization/acme-corp first',
  'beta (owner bob; ines, jonas), a bank: 11 subjects, one with 400 versions, and grants on some of acme',
  'gamma (owner carol; gustav), an auditor: 3 subjects, and a grant on all of acme',
];

/** `npm start`: runs the whole service on this machine until SIGINT or SIGTERM. */
const lifetime = new Lifetime();
await lifetime.run(async () => {
  const begin = Date.now();
  await loadEnvironment(lifetime.abort.signal);
  lifetime.checkpoint();
  const settings = readStartSettings(process.env);
  await requireFreePlace(settings);
  const folder = dataFolder.openDataFolder();
  const issuer = `${settings.foreignIssuer ?? `http://localhost:${settings.ports.identityProvider}`}/${settings.projectId}`;
  const run = { pid: process.pid, audience: settings.audience, own_issuer: settings.foreignIssuer === undefined };
  dataFolder.writeRun(run);
  lifetime.onStop(() => dataFolder.removeRun());
  const secrets = await dataFolder.openSecrets(folder);
  const log = await openDevelopmentLog(folder, settings);
  const witness = await log.witness?.start();
  if (witness !== undefined) lifetime.onStop(() => witness.stop(APP_STOP_DEADLINE_MS));

  let server: PostgresServer | undefined;
  if (settings.databaseUrl === undefined) {
    server = await startPostgres({
      folder: clusterFolder(folder),
      logFile: join(folder, 'logs', 'postgres.log'),
      durable: true,
    });
    const { stop } = server;
    lifetime.onStop(stop);
    lifetime.checkpoint();
  }
  const databaseUrl = settings.databaseUrl ?? (await openDatabase(server, secrets.database_password));
  if (run.own_issuer) {
    const identityProvider = await startIdentityProvider({
      port: settings.ports.identityProvider,
      projectId: settings.projectId,
      audience: settings.audience,
      gatewayOrigins: [`http://localhost:${settings.ports.gateway}`, `http://127.0.0.1:${settings.ports.gateway}`],
      signingKey: secrets.signing_key,
      cookieKey: secrets.cookie_key,
    });
    lifetime.onStop(identityProvider.stop);
  }
  const inbox = await startInbox({ port: settings.ports.inbox, secretsFile: join(folder, 'inbox-secrets.json') });
  lifetime.onStop(inbox.stop);

  await applyMigrations(databaseUrl, settings.queueUrl);
  lifetime.checkpoint();
  const empty = await isEmpty(databaseUrl);
  if (log.witness !== undefined && witness !== undefined) await witnessAnswers(log.witness.url, witness);
  lifetime.checkpoint();
  const apps = await startApps(
    folder,
    settings,
    {
      ...log.env,
      ...appEnvironment(settings, secrets, databaseUrl),
    },
    (app) => appUrl(databaseUrl, app, secrets.database_password),
  );
  if (witness !== undefined) apps.push(witness);
  const status: dataFolder.RunStatus = {
    base_url: `http://localhost:${settings.ports.gateway}`,
    docs_url: `http://localhost:${settings.ports.gateway}/docs`,
    worker_url: `http://localhost:${settings.ports.worker}`,
    metrics_url: `http://127.0.0.1:${settings.ports.gatewayMetrics}/metrics`,
    worker_metrics_url: `http://127.0.0.1:${settings.ports.workerMetrics}/metrics`,
    issuer,
    database_url: databaseUrl,
    queue_url: settings.queueUrl ?? databaseUrl,
    inbox_url: `http://localhost:${settings.ports.inbox}`,
    log_url: `http://localhost:${settings.ports.gateway}/log`,
    log_vkey: log.vkey,
    witness_url: log.witness?.url ?? '',
    witness_vkey: log.witness?.vkey ?? '',
    log_policy_file: log.policyFile,
  };
  const unexpectedEnd = watch(apps, server);
  await Promise.race([lifetime.stopRequested(), unexpectedEnd, waitUntilReady(status)]);
  lifetime.checkpoint();

  for (const app of apps) app.settle();
  const seeding = await seedIfWanted(settings, status, secrets, empty);
  lifetime.checkpoint();
  dataFolder.writeRun({ ...run, status });
  printBanner(settings, status, seeding, server?.folder, folder, Date.now() - begin);
  await Promise.race([lifetime.stopRequested(), unexpectedEnd]);
  console.log('Stopping …');
});

async function requireFreePlace(settings: StartSettings): Promise<void> {
  const other = dataFolder.readRun();
  if (other !== undefined) {
    throw new UserError(
      `Running already (process ${other.pid}) with DATA_DIR ${dataFolder.dataFolderPath()}: stop it, or set another DATA_DIR.`,
    );
  }
  const seen = new Map<number, string>();
  const [taken, free]: [string[], string[]] = [[], []];
  for (const [variable, port] of portsByVariable(settings)) {
    const twin = seen.get(port);
    if (twin !== undefined)
      throw new UserError(`${twin} and ${variable} are the same port, ${port}: change one of them.`);
    seen.set(port, variable);
    // On some systems, one address and all addresses can share a port.
    if ((await isPortFree(port)) && (await isPortFree(port, '127.0.0.1'))) continue;
    taken.push(`${port} (${variable})`);
    free.push(`${variable}=${await reservePort()}`);
  }
  if (taken.length > 0) {
    throw new UserError(`Taken ports: ${taken.join(', ')}. Use free ones: ${free.join(' ')} npm start`);
  }
}

/** Creates the database of the embedded server and its owner, who is not a superuser, as in a deployment. */
async function openDatabase(server: PostgresServer | undefined, password: string): Promise<string> {
  if (server === undefined) throw new Error('There is no embedded server');
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    const roles = await client.query(`SELECT 1 FROM pg_roles WHERE rolname = 'iss'`);
    if (roles.rowCount === 0) await client.query('CREATE ROLE iss LOGIN CREATEROLE');
    await client.query(`ALTER ROLE iss PASSWORD ${client.escapeLiteral(password)}`);
    const databases = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (databases.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE} OWNER iss TEMPLATE template0`);
  } finally {
    await client.end();
  }
  const url = new URL(server.url);
  return Object.assign(url, { username: 'iss', password, pathname: `/${DATABASE}` }).toString();
}

/** Returns whether no tenant exists, except the one that the gateway creates for the legacy paths. */
async function isEmpty(databaseUrl: string): Promise<boolean> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM memberships WHERE tenant_id <> $1 LIMIT 1', [
      process.env['LEGACY_TENANT_ID'] || 'legacy',
    ]);
    return rowCount === 0;
  } finally {
    await client.end();
  }
}

/** Returns the principal of a development user. Without authentication, all users are the same principal. */
function developer({ projectId }: StartSettings, user: string): string {
  return process.env['AUTH_MODE'] === 'disabled' ? 'oidc:local#dev' : `oidc:${projectId}#${user}`;
}

/** Returns the environment of the apps. Variables of the user win over generated secrets. */
function appEnvironment(
  settings: StartSettings,
  secrets: dataFolder.DevelopmentSecrets,
  databaseUrl: string,
): NodeJS.ProcessEnv {
  const made = settings.local
    ? {
        SECRETS_KEYS: secrets.secrets_keys,
        SNAPSHOT_ID_SECRET: secrets.snapshot_id_secret,
        WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      }
    : {};
  const ownIssuer =
    settings.foreignIssuer === undefined
      ? {
          OIDC_ISSUER: `http://localhost:${settings.ports.identityProvider}`,
          OIDC_PROJECT_ID: settings.projectId,
          OIDC_PRINCIPAL_TYPE_CLAIM: PRINCIPAL_TYPE_CLAIM,
          DOCS_OIDC_CLIENT_ID: SWAGGER_CLIENT_ID,
          CONSOLE_OIDC_CLIENT_ID: CONSOLE_CLIENT_ID,
          LEGACY_TENANT_OWNER: developer(settings, 'carol'),
        }
      : {};
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  return {
    APP_ENV: 'local',
    PORT: String(settings.ports.gateway),
    WORKER_PORT: String(settings.ports.worker),
    DATABASE_URL: databaseUrl,
    ...made,
    ...ownIssuer,
    ...given,
  };
}

/** Starts both apps. They share an environment, except for `METRICS_PORT` and the login. */
async function startApps(
  folder: string,
  { ports }: StartSettings,
  shared: NodeJS.ProcessEnv,
  urlOf: (app: 'worker' | 'gateway') => Promise<string>,
): Promise<App[]> {
  const apps: App[] = [];
  for (const [name, entry, metricsPort] of [
    ['worker', 'apps/webhook-worker/dist/main.js', ports.workerMetrics],
    ['gateway', 'apps/api-gateway/dist/main.js', ports.gatewayMetrics],
  ] as const) {
    const env = { ...shared, METRICS_PORT: String(metricsPort), DATABASE_URL: await urlOf(name) };
    const app = await startApp({ name, entry, env, logFile: join(folder, 'logs', `${name}.log`) });
    lifetime.onStop(() => app.stop(APP_STOP_DEADLINE_MS));
    apps.push(app);
  }
  return apps;
}

/** Rejects when an app or the database ends unexpectedly. */
function watch(apps: App[], server: PostgresServer | undefined): Promise<never> {
  const ends = apps.map((app) => app.failed);
  if (server !== undefined) {
    const { process: child } = server;
    ends.push(
      child.ended.then((reason) => Promise.reject(new UserError(`The embedded PostgreSQL ended (${reason}).`))),
    );
  }
  const first = Promise.race(ends);
  first.catch(() => undefined);
  return first;
}

async function waitUntilReady(status: dataFolder.RunStatus): Promise<void> {
  const urls = [`${status.worker_url}/health`, `${status.base_url}/health`, `${status.base_url}/v1/ops/readiness`];
  for (const url of urls) {
    await waitFor(async () => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok, {
      deadlineMs: START_DEADLINE_MS,
      what: `200 from ${url}; the logs are in ${join(dataFolder.dataFolderPath(), 'logs')}`,
    });
  }
}

async function seedIfWanted(
  settings: StartSettings,
  status: dataFolder.RunStatus,
  secrets: dataFolder.DevelopmentSecrets,
  empty: boolean,
): Promise<string[]> {
  if (settings.seed === 'nothing') return ['not seeded (SEED=false)'];
  if (!empty) return ['unchanged since the last run'];
  if (settings.foreignIssuer !== undefined) return [`not seeded: only ${status.issuer} can issue the necessary tokens`];
  const seed = settings.seed === 'world' ? seedWorld : seedSmallWorld;
  const faults = await seed({
    baseUrl: status.base_url,
    inboxUrl: status.inbox_url,
    principalIdOf: (user) => developer(settings, user),
    token: (user) =>
      mintToken({ issuer: status.issuer, audience: settings.audience, signingKey: secrets.signing_key, user }),
  });
  if (faults.length > 0) return faults.map((fault) => `not seeded: ${fault}`);
  return seed === seedWorld && process.env['AUTH_MODE'] !== 'disabled' ? WORLD : SMALL_WORLD;
}

function printBanner(
  settings: StartSettings,
  status: dataFolder.RunStatus,
  seeding: string[],
  cluster: string | undefined,
  folder: string,
  elapsedMs: number,
): void {
  const shown = (path: string) =>
    relative(repositoryRoot, path).startsWith('..') ? path : relative(repositoryRoot, path);
  const data =
    cluster === undefined || cluster.startsWith(folder) ? shown(folder) : `${shown(folder)}, database in ${cluster}`;
  const rows: [string, string][] = [
    ['Console', `${status.base_url}/console  (signs you in under any name)`],
    ['API', `${status.base_url}/v1`],
    ['Docs', `${status.docs_url}  (Authorize signs you in under any name)`],
    ['Webhook inbox', status.inbox_url],
    ['Worker', `${status.worker_url}/health`],
    ['Metrics', `${status.metrics_url}, ${status.worker_metrics_url}`],
    ['Token issuer', status.issuer],
    ['Data and logs', data],
    ...seeding.map((line, index): [string, string] => [index === 0 ? 'Tenants' : '', line]),
  ];
  if (status.witness_url !== '')
    rows.push([
      'Log witness',
      `${status.witness_url}  (for demonstration: a real witness belongs to an independent party)`,
    ]);
  const token =
    settings.foreignIssuer === undefined ? 'TOKEN=$(npm run -s token -- alice)' : `TOKEN=…  # from ${status.issuer}`;
  const latest = `${status.base_url}/v1/tenants/acme/subjects/organization/acme-corp/snapshots/latest`;
  console.log(`
The Identity State Service is ready (${(elapsedMs / 1000).toFixed(1)} s). Ctrl-C stops it.

${rows.map(([name, value]) => `  ${name.padEnd(14)} ${value}`).join('\n')}

  Try            ${token}
                 curl -H "Authorization: Bearer $TOKEN" ${latest}
`);
}
