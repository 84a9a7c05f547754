import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startOwnRedis } from '../redis.ts';
import { startTestIssuer } from '../testing/test-issuer.ts';
import { waitFor } from '../testing/wait-for.ts';
import { DeliveryRecorder } from './frame/deliveries.ts';
import { judgeLedger, LedgerWriter } from './frame/ledger.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { iss, runTool, TrialService } from './frame/service.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- key-rotation`: replaces every key while a writer writes.
 *
 * - The ring that seals secrets, by the steps of docs/operations/keys.md.
 * - The log's signing key, which is announced first. Both keys sign for a while.
 * - The key of the identity provider, without a transition.
 */
const STEP = 100;
/** Slightly longer than the time for which a gateway does not fetch keys again. */
const COOLDOWN_MS = 11_000;

await runTrial('key-rotation', async (trial) => {
  const server = await TrialPostgres.create(trial, 'primary', { max_connections: '200' });
  await server.start();
  await server.query('CREATE DATABASE iss', [], 'postgres');
  const redis = await startOwnRedis();
  trial.atEnd(() => redis.stop());
  const issuer = await startTestIssuer();
  trial.atEnd(() => issuer.stop());
  let token = await issuer.mint('alice');
  const keyOf = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
  const [oldKey, newKey] = [keyOf('old'), keyOf('new')];
  const service = await TrialService.start(trial, {
    databaseUrl: server.url(),
    queueUrl: redis.url,
    gateways: 2,
    environment: {
      AUTH_MODE: undefined,
      OIDC_ISSUER: issuer.oidcIssuer,
      OIDC_PROJECT_ID: issuer.projectId,
      SECRETS_KEYS: oldKey,
      DRAIN_DELAY_MS: '1000',
    },
    headers: () => Promise.resolve({ authorization: `Bearer ${token}` }),
  });
  const receiver = await DeliveryRecorder.start(trial, service);
  const writer = LedgerWriter.start(trial, service);
  await writer.waitForMore(STEP);

  /** Replaces the processes one after the other by ones with this environment. */
  const roll = async (environment: Record<string, string>): Promise<void> => {
    service.environment = { ...service.environment, ...environment };
    for (const [app, list] of [
      ['api-gateway', service.gateways],
      ['webhook-worker', service.workers],
    ] as const) {
      for (const old of [...list]) {
        await service.startOne(app);
        list.splice(list.indexOf(old), 1);
        await old.stop(15_000);
      }
    }
    await writer.waitForMore(STEP);
  };

  // The ring: add the new key last, move it to the front, reseal, remove the old key.
  await roll({ SECRETS_KEYS: `${oldKey},${newKey}` });
  await roll({ SECRETS_KEYS: `${newKey},${oldKey}` });
  const resealed = runTool('db/rotate-keys', {
    DATABASE_URL: server.url(),
    QUEUE_URL: redis.url,
    APP_ENV: 'local',
    SECRETS_KEYS: `${newKey},${oldKey}`,
  });
  trial.judge(
    resealed.status === 0 && resealed.stdout.includes('needs these keys any more: old'),
    `npm run tool -- db/rotate-keys: ${`${resealed.stdout}${resealed.stderr}`.trim().split('\n').join(' ')}`,
  );
  await roll({ SECRETS_KEYS: newKey });
  trial.judge(writer.statuses.size === 1, `the ring is replaced under load: ${writer.summary}`);

  // The log's key: the new one signs nothing until it is announced. Then both sign, then only the new one. The old one is ended.
  const file = trial.path('log-2.key');
  const made = iss('log-key', '--origin', service.origin, '--out', file);
  const newVkey = made.stdout.trim();
  const [oldLogKey, newLogKey] = [service.environment['LOG_SIGNING_KEY'] ?? '', readFileSync(file, 'utf8').trim()];
  await roll({ LOG_SIGNING_KEY: newLogKey });
  const says = async (): Promise<string[]> =>
    Promise.all(service.workers.map(async (worker) => (await service.readiness(worker)).body));
  const command = `iss log-key add ${newVkey}`;
  await waitFor(async () => (await says()).every((body) => body.includes(command))).catch(() => undefined);
  const refusing = await says();
  const keys = (await service.request('GET', '/log/keys')).body;
  trial.judge(
    refusing.every((body) => body.includes('"unknown_key"') && body.includes(command)) &&
      !keys.includes(newVkey) &&
      keys.includes('"until":null'),
    `a key that is not announced signs nothing and ends no other key: ${refusing.join(' ')}`,
  );
  const added = iss('log-key', 'add', newVkey, '--database-url', server.url());
  trial.judge(added.status === 0, `iss log-key add: ${`${added.stdout}${added.stderr}`.trim()}`);
  await roll({ LOG_SIGNING_KEY: `${oldLogKey},${newLogKey}` });
  const signaturesOf = async (): Promise<number> =>
    (await service.request('GET', '/log/checkpoint')).body.split('\n').filter((line) => line.startsWith('— ')).length;
  await waitFor(async () => (await signaturesOf()) === 2, { deadlineMs: 60_000 }).catch(() => undefined);
  const signatures = await signaturesOf();
  trial.judge(signatures === 2, `signatures below a checkpoint while both keys sign: ${signatures}`);
  await roll({ LOG_SIGNING_KEY: newLogKey });
  const ended = iss('log-key', 'end', service.vkey, '--database-url', server.url());
  trial.judge(ended.status === 0, `iss log-key end: ${`${ended.stdout}${ended.stderr}`.trim()}`);

  // The issuer's key changes without a transition. A gateway that has just fetched keys fetches them again after its cooldown.
  const fetchedBefore = issuer.keySetRequests;
  await issuer.rotate();
  token = await issuer.mint('alice');
  await pause(COOLDOWN_MS);
  const refused = writer.statuses.get(401) ?? 0;
  await writer.waitForMore(STEP);
  trial.judge(
    [...writer.statuses.keys()].every((status) => status === 201 || status === 401) &&
      (writer.statuses.get(401) ?? 0) === refused &&
      issuer.keySetRequests > fetchedBefore,
    `the issuer’s key is replaced under load: 401 in the first ${COOLDOWN_MS / 1_000} s: ${refused}, later: ${(writer.statuses.get(401) ?? 0) - refused}; key sets fetched: ${issuer.keySetRequests - fetchedBefore}`,
  );
  await writer.stop();

  const { stored } = await judgeLedger(trial, writer, server.url());
  await receiver.judge(trial, stored);
  const wrong = receiver.delivered.filter(
    ({ body, signature }) => createHmac('sha256', receiver.secret).update(body).digest('hex') !== signature,
  );
  trial.judge(wrong.length === 0, `deliveries without the subscription’s signature: ${wrong.length}`);
  await service.waitForLog(server.url());
  const policy = trial.path('policy');
  writeFileSync(policy, `log ${service.vkey}\nlog ${newVkey}\nquorum none\n`);
  const audit = service.audit(server.url(), ['--policy', policy]);
  trial.judge(audit.status === 0, `iss audit, with both verifier keys: ${audit.line}`);
  const logs = [...service.gateways, ...service.workers].map((one) => service.logOf(one)).join('');
  trial.judge(!/cannot be opened/.test(logs), 'no secret that cannot be opened');
});
