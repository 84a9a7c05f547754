import { randomBytes, randomUUID } from 'node:crypto';
import { openArchive } from '@iss/archive';
import * as persistence from '@iss/persistence';
import * as platform from '@iss/platform';
import * as queues from '@iss/queue';
import { createSigner, TlogError } from '@iss/tlog';
import type { CheckResult } from './finding';
import { nameOfKey } from './log-keys';
import { checkVrfKey } from './vrf-key';
import type { Started } from '../settings';

const ok = (detail: string): CheckResult => ({ is: 'ok', detail });
const skipped = (detail: string): CheckResult => ({ is: 'skipped', detail });
const failed = (detail: string): CheckResult => ({ is: 'failed', detail });

const ANSWER_MS = 5_000;
/** The default in .env.example. */
const DEFAULT_POOL_SIZE = 10;
/** The most webhook secrets to decrypt. */
const SECRETS_TRIED = 500;

const CONNECTIONS_PAGE = 'see docs/operations/high-availability.md, "Connections"';

/** The numbers of processes to plan connections for. */
export interface Processes {
  gateways: number;
  workers: number;
}

/**
 * Runs the checks of startup and of `/v1/ops/readiness`, and more, with the given environment. Changes nothing.
 */
export function diagnosis(
  env: Readonly<Record<string, string | undefined>>,
  started: Started | null,
  processes: Processes,
): Promise<[string, CheckResult[]][]> {
  return new Diagnosis(env, started, processes).run();
}

class Diagnosis {
  private readonly databaseUrl: string | undefined;
  private readonly queueUrl: string | undefined;
  private readonly issuer: string | undefined;
  private readonly role: platform.DatabaseRole;

  constructor(
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly started: Started | null,
    private readonly processes: Processes,
  ) {
    this.databaseUrl = env['DATABASE_URL'] || undefined;
    this.queueUrl = env['QUEUE_URL'] || (started?.queueUrl.startsWith('redis') === true ? started.queueUrl : undefined);
    this.issuer = env['OIDC_ISSUER']
      ? `${env['OIDC_ISSUER'].replace(/\/+$/, '')}/${env['OIDC_PROJECT_ID'] ?? ''}`
      : started?.issuer;
    // Only the environment of a gateway names an issuer.
    this.role = platform.APP_ROLES[env['OIDC_ISSUER'] || env['AUTH_MODE'] || started !== null ? 'gateway' : 'worker'];
  }

  async run(): Promise<[string, CheckResult[]][]> {
    return [
      ['environment of the gateway', this.environmentOf(() => platform.gatewayEnv())],
      ['environment of the worker', this.environmentOf(() => platform.workerEnv())],
      ['database', await this.database()],
      ['replica', await this.replica()],
      ['archive', await this.archive()],
      ['queue', await this.queue()],
      ['egress', await this.egress()],
      ['identity provider', await this.identity()],
    ];
  }

  private environmentOf(read: () => unknown): CheckResult[] {
    if (this.started !== null) return [skipped('npm start sets the environment')];
    try {
      read();
      return [ok('every variable is valid')];
    } catch (error) {
      if (error instanceof platform.EnvError) return error.lines.map(failed);
      throw error;
    }
  }

  private async database(): Promise<CheckResult[]> {
    if (this.databaseUrl === undefined) return [failed('DATABASE_URL is not set, and npm start does not run')];
    const opened = await persistence
      .openDatabase({
        url: this.databaseUrl,
        poolSize: 2,
        applicationName: 'doctor',
        role: this.role,
        refusesOwner: this.started === null,
        needsSessions: this.queueUrl === undefined,
      })
      .catch((error: unknown) => failed(platform.failureOf(error).message));
    if ('is' in opened) return [opened];
    try {
      const { version, connections, most } = await opened.server();
      const missing = await opened.missingMigrations();
      if (missing.length > 0) return [failed(`migrations are missing: ${missing.join(', ')}. Run npm run db:migrate`)];
      const faults = await opened.schemaFaults();
      const clock = await platform.inStep(() => opened.ping());
      return [
        ok(`PostgreSQL ${version}, migrated, acts as ${this.role}`),
        ...(faults.length === 0 ? [ok('role, privileges, policies and triggers are in place')] : faults.map(failed)),
        clock.status === 'ok'
          ? ok('its clock agrees with this machine')
          : failed(clock.detail ?? 'its clock is unknown'),
        connections + platform.SPARE_CONNECTIONS <= most
          ? ok(`${connections} of ${most} connections are in use by this database`)
          : failed(`${connections} of ${most} connections are in use by this database: ${CONNECTIONS_PAGE}`),
        this.budget(most, platform.serverUrls(this.databaseUrl).length),
        await this.secrets('webhook secret', new persistence.SealedSecretStore(opened.sql)),
        await this.secrets('issuing key', new persistence.SealedSecretStore(opened.sql, 'issuing_keys')),
        await this.logKeys(new persistence.LogCheckpointStore(opened.sql)),
        await checkVrfKey(this.env['LOG_VRF_KEY'], new persistence.MapReadStore(opened.sql)),
        await this.feeds(new persistence.FeedStore(opened.sql)),
      ];
    } finally {
      await opened.close();
    }
  }

  private budget(most: number, hosts: number): CheckResult {
    const needed = platform.connectionsOf({
      ...this.processes,
      poolSize: Number(this.env['DATABASE_POOL_SIZE'] || DEFAULT_POOL_SIZE),
      hosts,
      isQueueOnPostgres: this.queueUrl === undefined,
    });
    const sum = `gateways: ${this.processes.gateways}, workers: ${this.processes.workers}; a rolling update needs ${needed} connections`;
    return needed <= most
      ? ok(`${sum}, of ${most}`)
      : failed(`${sum}, but the server allows ${most}: ${CONNECTIONS_PAGE}`);
  }

  private async replica(): Promise<CheckResult[]> {
    const replicaUrl = this.env['DATABASE_REPLICA_URL'];
    if (!replicaUrl) return [skipped('DATABASE_REPLICA_URL is not set')];
    if (this.databaseUrl === undefined) return [skipped('there is no database')];
    const opened = await persistence
      .openDatabase({ url: this.databaseUrl, replicaUrl, poolSize: 2, applicationName: 'doctor', role: this.role })
      .catch(() => null);
    if (opened === null) return [skipped('the database cannot be opened')];
    try {
      const server = await opened.replicaServer();
      if (server === null) return [failed(`no replica answers as ${this.role}, so the primary serves long reads`)];
      const { version, connections, most } = server;
      const { isStandby, lagSeconds } = opened.replica ?? {};
      return [
        isStandby === true
          ? ok(`PostgreSQL ${version}, a standby, behind by ${Math.round(lagSeconds ?? 0)} s`)
          : failed(`PostgreSQL ${version} accepts writes: name a standby, or long reads stay on a primary`),
        connections + platform.SPARE_CONNECTIONS <= most
          ? ok(`${connections} of ${most} connections are in use by this database`)
          : failed(
              `${connections} of ${most} connections are in use by this database: raise max_connections of the standby`,
            ),
      ];
    } finally {
      await opened.close();
    }
  }

  private async archive(): Promise<CheckResult[]> {
    const findings: CheckResult[] = this.env['ARCHIVE_URL']
      ? []
      : [skipped('ARCHIVE_URL is not set, so all texts are in the database')];
    for (const name of ['ARCHIVE_URL', 'ARCHIVE_MIRROR_URL', 'LOG_PUBLISH_URL']) {
      const one = this.env[name];
      if (!one) continue;
      findings.push(
        await writesAndReads(one).then(
          () => ok(`an object could be written to ${name}, read and deleted`),
          (error: unknown) =>
            failed(`${name}: ${platform.failureOf(error).message}. Check the store and the rights of the credentials`),
        ),
      );
    }
    return findings;
  }

  private async secrets(kind: string, store: InstanceType<typeof persistence.SealedSecretStore>): Promise<CheckResult> {
    const ring = this.env['SECRETS_KEYS'];
    if (!ring) return skipped(`SECRETS_KEYS is not set here, so no ${kind} was checked`);
    const box = platform.SecretBox.fromKeyRing(ring);
    const sealed = await store.page(null, SECRETS_TRIED);
    const reasons = new Set(sealed.map(({ secret, id }) => whyUnopened(box, secret, id)));
    reasons.delete(null);
    const [first] = reasons;
    return first
      ? failed(`a ${kind} cannot be decrypted. ${first} Restore the key that encrypted it`)
      : ok(`SECRETS_KEYS decrypts each ${kind} that was checked: ${sealed.length}`);
  }

  private async logKeys(log: InstanceType<typeof persistence.LogCheckpointStore>): Promise<CheckResult> {
    const texts = [this.env['LOG_SIGNING_KEY'], this.env['LOG_PQ_SIGNING_KEY']].flatMap(
      (text) => text?.split(',') ?? [],
    );
    if (texts.every((text) => text.trim() === ''))
      return skipped('LOG_SIGNING_KEY is not set here, so the keys of the log were not checked');
    let vkeys: string[];
    try {
      vkeys = (await Promise.all(texts.map((text) => createSigner(text.trim())))).map(({ verifierKey }) => verifierKey);
    } catch (error) {
      if (error instanceof TlogError) return failed(`a signing key of the log is invalid: ${error.message}`);
      throw error;
    }
    const unknown = await log.unannounced(vkeys, Number.MAX_SAFE_INTEGER);
    if (unknown.length === 0) return ok('the signing keys of the log are announced');
    const names = new Set((await log.keys()).map(({ vkey }) => nameOfKey(vkey)));
    if ((await log.newest()) === null && !vkeys.some((vkey) => names.has(nameOfKey(vkey))))
      return ok('the log will start with these signing keys');
    const commands = unknown.map((vkey) => `iss log-key add ${vkey}`).join(' and ');
    return failed(`a signing key of the log is not announced, so workers sign nothing with it. Run ${commands}`);
  }

  private async feeds(store: InstanceType<typeof persistence.FeedStore>): Promise<CheckResult> {
    const { status, detail } = await platform.timely('entry of the log that is not in the change feeds', () =>
      store.lagMs(),
    );
    return status === 'ok'
      ? ok('the change feeds are up to date with the log')
      : failed(`${detail}: see docs/operations/runbooks.md, "The feeds are behind"`);
  }

  private async queue(): Promise<CheckResult[]> {
    if (this.databaseUrl === undefined) return [skipped('there is no database')];
    const where = this.queueUrl === undefined ? 'PostgreSQL' : 'Redis';
    let opened: ReturnType<typeof queues.openQueue> | undefined;
    let reason: unknown;
    try {
      opened = queues.openQueue({
        queueUrl: this.queueUrl,
        databaseUrl: this.databaseUrl,
        role: this.role,
        warn: (_message, cause) => (reason ??= cause),
      });
      await opened.pingFor(ANSWER_MS);
      return [ok(this.queueUrl === undefined ? 'PostgreSQL answers' : 'Redis answers and takes writes')];
    } catch (fault) {
      const said =
        fault instanceof platform.Unfit ? fault.message : `${where}: ${platform.failureOf(reason ?? fault).message}`;
      return [failed(`${said}. Until it works, only the sweep finds deliveries, so they are late`)];
    } finally {
      await opened?.close().catch(() => undefined);
    }
  }

  private async egress(): Promise<CheckResult[]> {
    const url = this.env['WEBHOOK_EGRESS_PROXY'];
    if (!url) return [skipped('WEBHOOK_EGRESS_PROXY is not set, so workers send deliveries directly')];
    try {
      await new platform.EgressProxy(url).ping();
      return [ok('the egress proxy accepts connections')];
    } catch (error) {
      const { cause, message } = platform.failureOf(error);
      return [failed(cause === undefined ? message : `${message} ${cause.message}`)];
    }
  }

  private async identity(): Promise<CheckResult[]> {
    if (this.env['AUTH_MODE'] === 'disabled') return [skipped('AUTH_MODE is disabled')];
    if (this.issuer === undefined) return [failed('OIDC_ISSUER is not set')];
    let url = `${this.issuer}/.well-known/openid-configuration`;
    try {
      const keysUrl = this.env['OIDC_JWKS_URI'] || memberOf(await fetchDocument(url), 'jwks_uri');
      if (typeof keysUrl !== 'string') return [failed(`${url} has no jwks_uri, so no access token can be verified`)];
      url = keysUrl;
      const keys = memberOf(await fetchDocument(url), 'keys');
      const verifying = Array.isArray(keys) ? keys.filter((key) => memberOf(key, 'use') !== 'enc') : [];
      return [
        verifying.length > 0
          ? ok(`${url} has signing keys: ${verifying.length}`)
          : failed(
              `${url} has no signing key, so no access token can be verified. Check the keys of the identity provider`,
            ),
      ];
    } catch (error) {
      const { cause, message } = platform.failureOf(error);
      return [failed(`${url}: ${cause?.message ?? message}`)];
    }
  }
}

function whyUnopened(
  box: { open: (sealed: string, associatedData: string) => string },
  secret: string,
  id: string,
): string | null {
  try {
    box.open(secret, id);
    return null;
  } catch (error) {
    return platform.failureOf(error).message;
  }
}

async function fetchDocument(url: string): Promise<unknown> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  if (!answer.ok) throw new Error(`it answers ${answer.status}`);
  return answer.json();
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** Rejects unless the store of the URL accepts an object and then returns the same bytes. */
async function writesAndReads(url: string): Promise<void> {
  const store = await openArchive({ url, mirrorUrl: undefined });
  if (store === null) return;
  const [object, bytes] = [`doctor-${randomUUID()}`, randomBytes(1024)];
  try {
    await store.put(object, bytes);
    const [read] = await store.readBack(object, bytes.length);
    await store.remove(object);
    if (read?.equals(bytes) !== true) throw new Error('it returned other bytes than were written');
  } finally {
    store.close();
  }
}
