import { randomBytes } from 'node:crypto';
import { openArchive } from '@iss/archive';
import { openDatabase } from '@iss/persistence';
import { APP_ROLES, createLogger, createRegistry, type GatewayEnv, gatewayEnv } from '@iss/platform';
import { openQueue } from '@iss/queue';
import type { Registry } from 'prom-client';
import { createGateway, drain } from '../../apps/api-gateway/dist/app.js';
import { EventHandOver } from '../../apps/api-gateway/dist/events/event-hand-over.js';
import { HotRoutes } from '../../apps/api-gateway/dist/http/fast/hot-routes.js';
import { archiveBeforeReads, makeArchiveFolder, openArchiver } from './archive-all.ts';
import { ARCHIVES_EVERYTHING } from './archive-mode.ts';
import { type Answer, Conformance } from './conformance.ts';
import { createTestDatabase } from './test-database.ts';
import { startTestIssuer, type TestIssuer } from './test-issuer.ts';

export { openQueue } from '@iss/queue';
export { archiveAll } from './archive-all.ts';
export { publishLog } from './publish-log.ts';

/**
 * Statements outside of requests: the first use of a human's token sends one (`auth.int-spec.ts`), and a gateway with a replica
 * sends the other once per second.
 */
const OF_NO_REQUEST = ['claimed_type_change', 'write_ahead_position'];

/** The archive of each database, which several gateways may share. */
const folders = new Map<string, Awaited<ReturnType<typeof makeArchiveFolder>>>();

/** The built gateway in the process of the Jest worker, with its own database and issuer. */
export interface HostedGateway {
  url: string;
  databaseUrl: string;
  issuer: TestIssuer;
  /** Names of the statements sent since the last `sent.length = 0`, except {@link OF_NO_REQUEST}. */
  sent: string[];
  /** The names of the statements sent to a replica. */
  sentToReplica: string[];
  /** The routes of the hot lane, for example `GET /v1/…/:id`. */
  hotRoutes: readonly string[];
  /** The registry of the metrics port. */
  metrics: Registry;
  /** Returns how a response differs from the OpenAPI document of the gateway; null if it conforms. */
  faultOf(method: string, path: string, answer: Answer): string | null;
  /** Throws unless the value conforms to the schema at this place of the document. */
  checkValue(pointer: readonly string[], value: unknown): void;
  /** Drains the gateway as after SIGTERM. `noticed` replaces the wait of `DRAIN_DELAY_MS`. */
  drain(noticed: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export interface GatewayOptions {
  env: Record<string, string>;
  /** A gateway with the same database, which must be closed after this one. */
  beside: { databaseUrl: string } | undefined;
  /** Changes settings after they are read from the environment. */
  change: (settings: GatewayEnv) => GatewayEnv;
}

/** Starts a gateway on a free loopback port, with a real PostgreSQL. */
export async function startGateway(options: GatewayOptions): Promise<HostedGateway> {
  const closings: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closing of closings.splice(0).reverse()) await closing();
  };
  try {
    return { ...(await openGateway(closings, options)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openGateway(
  closings: (() => Promise<void>)[],
  { env, beside, change }: GatewayOptions,
): Promise<Omit<HostedGateway, 'close'>> {
  const created =
    beside === undefined
      ? await createTestDatabase({ migrated: 'service and queue' })
      : { url: beside.databaseUrl, drop: async () => undefined };
  closings.push(() => created.drop());
  const issuer = await startTestIssuer({ projectId: env['OIDC_PROJECT_ID'] ?? 'test' });
  closings.push(() => issuer.stop());
  const folder = ARCHIVES_EVERYTHING ? (folders.get(created.url) ?? (await makeArchiveFolder())) : null;
  if (folder !== null && beside === undefined) {
    folders.set(created.url, folder);
    closings.push(() => folder.remove());
  }
  const settings = change(
    gatewayEnv({
      APP_ENV: 'local',
      DATABASE_URL: created.url,
      OIDC_ISSUER: issuer.oidcIssuer,
      OIDC_PROJECT_ID: issuer.projectId,
      SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
      LOG_LEVEL: 'silent',
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      // A busy machine exceeds the defaults. Suites that test these limits set them.
      WORK_DEADLINE_MS: '120000',
      VERIFY_DEADLINE_MS: '120000',
      ...(folder !== null && { ARCHIVE_URL: folder.url }),
      ...env,
    }),
  );
  const sent: string[] = [];
  const sentToReplica: string[] = [];
  const archive = await openArchive(settings.archive);
  closings.push(async () => archive?.close());
  const database = await openDatabase({
    url: created.url,
    role: APP_ROLES.gateway,
    replicaUrl: settings.databaseReplicaUrl,
    // Two connections of each kind of statement suffice for a race. Each connection starts a process of PostgreSQL.
    poolSize: 4,
    applicationName: 'test-gateway',
    archive,
    observe: (name, server) => {
      if (!OF_NO_REQUEST.includes(name)) (server === 'primary' ? sent : sentToReplica).push(name);
    },
  });
  closings.push(() => database.close());
  const logger = createLogger({ name: 'test-gateway', level: settings.logLevel });
  const warn = (): void => undefined;
  const queue = openQueue({ queueUrl: settings.queueUrl, databaseUrl: created.url, role: APP_ROLES.gateway, warn });
  closings.push(() => queue.close());
  const handOver = new EventHandOver(queue, warn);
  closings.push(() => handOver.close());
  const metrics = createRegistry('test-gateway');
  const app = await createGateway({ settings, database, queue, handOver, metrics }, logger);
  let ended: Promise<void> | undefined;
  closings.push(() => ended ?? app.close());
  if (folder !== null && env['ARCHIVE_URL'] === undefined) {
    const archiver = await openArchiver(created.url, folder.url);
    closings.push(() => archiver.close());
    archiveBeforeReads(app.getHttpServer(), archiver);
  }
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const conformance = await conformanceTo(url, settings);
  return {
    url,
    databaseUrl: created.url,
    issuer,
    sent,
    sentToReplica,
    hotRoutes: app
      .get(HotRoutes)
      .find()
      .map(({ method, path }) => `${method} ${path}`),
    metrics,
    faultOf: (method, path, answer) => conformance.faultOf(method, path, answer),
    checkValue: (pointer, value) => conformance.checkValue(pointer, value),
    drain: (noticed) => (ended = drain(app, noticed)),
  };
}

/** Compiled schemas by the settings in the document, which are the same for nearly all gateways of a worker, and by its text. */
const compiled = new Map<string, Promise<Conformance>>();
const compiledTexts = new Map<string, Conformance>();

function conformanceTo(url: string, { limits, auth, legacy, docs }: GatewayEnv): Promise<Conformance> {
  const key = JSON.stringify([limits, auth.mode, legacy.enabled, docs.isOn]);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const made = fetch(`${url}/openapi.json`).then(async (answer) => conformanceToText(await answer.text()));
  compiled.set(key, made);
  return made;
}

function conformanceToText(document: string): Conformance {
  const known = compiledTexts.get(document) ?? new Conformance(JSON.parse(document));
  compiledTexts.set(document, known);
  return known;
}
