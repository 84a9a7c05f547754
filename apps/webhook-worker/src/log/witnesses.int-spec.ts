import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, LogCheckpointStore, LogIntegrationStore, openDatabase } from '@iss/persistence';
import { createLogger, EnvError, type LogSettings } from '@iss/platform';
import {
  createSigner,
  generateKeys,
  parseAddCheckpoint,
  parseNote,
  parsePolicy,
  formatSignatureLines,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from '@iss/tlog';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { type LogWorker, startLogWorker } from '../../test/log-worker';
import { waitFor } from '../../../../tools/testing/wait-for';
import { hostWitness } from '../../../../tools/testing/witness-host';
import type { WitnessProcess } from '../../../../tools/testing/witness-process';
import { openLogIdentity } from './log-identity';

const ORIGIN = 'log.example/test';
const logger = createLogger({ name: 'test', level: 'silent' });

let created: TestDatabase;
let database: Database;
let superuser: Client;
let folder: string;
let settings: LogSettings;
let vkey: string;
let policyFile: string;
let registry: Registry;
const services: LogWorker[] = [];
const witnesses: WitnessProcess[] = [];
const servers: Server[] = [];

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: created.url, poolSize: 4, applicationName: 'test' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
  folder = mkdtempSync(join(tmpdir(), 'iss-log-'));
  policyFile = join(folder, 'policy');
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  vkey = verifierKey;
  settings = {
    origin: ORIGIN,
    signingKeys: [signingKey],
    pqSigningKey: undefined,
    checkpointIntervalMs: 10,
    checkpointMaxAgeMs: 60_000,
    checkpointFile: undefined,
    policyFile,
  };
});

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()));
  await Promise.all(witnesses.splice(0).map((witness) => witness.stop()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await superuser.end();
  await database.close();
  await created.drop();
  rmSync(folder, { recursive: true });
});

async function start(change: Partial<LogSettings> = {}): Promise<LogWorker> {
  const { sql } = database;
  const log = { ...settings, ...change };
  registry = new Registry();
  const service = await startLogWorker(sql, { log }, registry, logger);
  services.push(service);
  return service;
}

/** A line of the policy: name, verifier key and URL. */
type Line = Pick<WitnessProcess, 'name' | 'vkey' | 'url'>;

function writePolicy(threshold: number, lines: readonly Line[]): void {
  const names = lines.map(({ name }) => name).join(' ');
  const text = [
    `log ${vkey}`,
    ...lines.map((line) => `witness ${line.name} ${line.vkey} ${line.url}`),
    `group enough ${threshold} ${names}`,
    'quorum enough',
  ];
  writeFileSync(policyFile, `${text.join('\n')}\n`);
}

async function startWitnesses(count: number): Promise<WitnessProcess[]> {
  const names = Array.from({ length: count }, (_, index) => `w${witnesses.length + index + 1}`);
  const prepared = await Promise.all(names.map((name) => hostWitness(folder, name, vkey)));
  witnesses.push(...prepared);
  await Promise.all(prepared.map((one) => one.start()));
  return prepared;
}

/** Starts a server that pretends to be a witness. */
async function pretend(
  listener: (request: IncomingMessage, response: ServerResponse) => unknown,
  given?: string,
): Promise<Line> {
  const server = createServer((request, response) => {
    Promise.resolve(listener(request, response)).catch(() => response.destroy());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  const key = given ?? (await generateKeys('witness.example/liar', 'ed25519-cosignature')).verifierKey;
  return { name: 'liar', vkey: key, url: `http://127.0.0.1:${address.port}` };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function addFacts(count: number): Promise<void> {
  await superuser.query(
    `INSERT INTO owner_changes (tenant_id, principal_id) SELECT 'acme', gen_random_uuid()::text FROM generate_series(1, $1)`,
    [count],
  );
}

const newest = () => new LogCheckpointStore(database.sql).newest();
const treeSize = async () => (await new LogIntegrationStore(database.sql).tree()).size;

/** Waits until a checkpoint of this size that satisfies the policy is served. */
async function published(size: number): Promise<VerifiedCheckpoint> {
  const note = await waitFor(
    async () => {
      const checkpoint = await newest();
      return checkpoint?.size === size ? checkpoint.note : null;
    },
    { what: `size ${size}` },
  );
  return verifyCheckpoint(note, policy());
}

const policyText = (): string => readFileSync(policyFile, 'utf8');
const policy = () => parsePolicy(policyText());
const NO_QUORUM = { status: 'degraded', reason: 'no_quorum' };
const ROLLED_BACK = { status: 'failed', reason: 'rolled_back' };
const isIn = (service: LogWorker, state: object) =>
  waitFor(() => expect(service.status()).toMatchObject(state) === undefined, { what: JSON.stringify(state) });

it('publishes only cosigned checkpoints, and keeps the last one while the witness is down', async () => {
  const [witness] = await startWitnesses(1);
  if (witness === undefined) throw new Error('there is a witness');
  writePolicy(1, [witness]);
  const service = await start();
  expect((await published(0)).cosignatures).toHaveLength(1);
  await addFacts(300);
  await published(300);
  expect(await new LogCheckpointStore(database.sql).policy()).toBe(policyText());

  await witness.kill();
  await addFacts(5);
  await isIn(service, NO_QUORUM);
  expect(await registry.getSingleMetricAsString('log_quorum_reached')).toContain('log_quorum_reached 0');
  await addFacts(5);
  await waitFor(async () => (await treeSize()) === 310, { what: 'integration without a witness' });
  expect((await newest())?.size).toBe(300);

  await witness.start();
  await published(310);
  await isIn(service, { status: 'ok' });
  const answers = await registry.getSingleMetricAsString('log_witness_answers_total');
  expect(answers).toMatch(/answer="cosigned"\} [1-9]/);
  expect(answers.match(/answer="contradicted"\} 0/g)).not.toBeNull();
});

/** Each way to be a bad witness. It is one of three, and two suffice. */
const BAD: Record<string, (request: IncomingMessage, response: ServerResponse, key: string) => unknown> = {
  'breaks the connection': (request) => request.destroy(),
  'never answers': () => undefined,
  'answers 500': (_, response) => response.writeHead(500).end('no'),
  'answers garbage': (_, response) => response.end('what is this?'),
  'answers nothing': (_, response) => response.end(),
  'answers without end': (_, response) => {
    const more = (): boolean =>
      response.write('— witness.example/liar AAAA\n'.repeat(1_000)) && setImmediate(more) === null;
    response.on('drain', more);
    more();
  },
  'redirects elsewhere': (_, response) => response.writeHead(307, { location: '/add-checkpoint' }).end(),
  'claims to have seen more': (_, response) => response.writeHead(409).end('9007199254740991\n'),
  'returns another size each time': (_, response) => response.writeHead(409).end('0\n'),
  'refuses the proof': (_, response) => response.writeHead(422).end('no'),
  'signs another checkpoint': async (request, response, key) => {
    const { note } = parseAddCheckpoint(await bodyOf(request));
    const { text } = parseNote(note);
    const line = await (await createSigner(key)).sign(text.replace(/\n\d+\n/, '\n999\n'), 1);
    response.end(formatSignatureLines([line]));
  },
  'signs with another key': async (request, response) => {
    const { note } = parseAddCheckpoint(await bodyOf(request));
    const { signingKey } = await generateKeys('witness.example/liar', 'ed25519-cosignature');
    response.end(formatSignatureLines([await (await createSigner(signingKey)).sign(parseNote(note).text, 1)]));
  },
};

it('counts a replaced policy, but not the first one or an unchanged one', async () => {
  const [one, two] = await startWitnesses(2);
  if (one === undefined || two === undefined) throw new Error('no witnesses');
  const replaced = async (lines: readonly Line[], facts: number): Promise<string> => {
    writePolicy(1, lines);
    const service = await start();
    await addFacts(1);
    await published(facts);
    await service.stop();
    return registry.getSingleMetricAsString('log_policies_replaced_total');
  };
  expect(await replaced([one], 1)).toMatch(/ 0$/);
  expect(await replaced([one], 2)).toMatch(/ 0$/);
  expect(await replaced([one, two], 3)).toMatch(/ 1$/);
});

it('publishes with the cosignatures of the other witnesses despite a faulty witness', async () => {
  const good = await startWitnesses(2);
  let size = 0;
  for (const [what, misbehave] of Object.entries(BAD)) {
    const { signingKey, verifierKey } = await generateKeys('witness.example/liar', 'ed25519-cosignature');
    let asked = 0;
    const liar = await pretend((request, response) => {
      asked++;
      return misbehave(request, response, signingKey);
    }, verifierKey);
    writePolicy(2, [liar, ...good]);
    const service = await start();
    await addFacts(3);
    size += 3;
    expect([what, (await published(size)).cosignatures.map(({ witness }) => witness.name).sort()]).toEqual([
      what,
      ['w1', 'w2'],
    ]);
    await waitFor(() => asked > 0, { what: `a question to the one that ${what}` });
    await addFacts(3);
    size += 3;
    await published(size);
    expect([what, service.status()]).toEqual([what, { status: 'ok' }]);
    await service.stop();
  }
});

it('adds the cosignature of a slow witness later without waiting for it', async () => {
  const [one, two] = await startWitnesses(2);
  if (one === undefined || two === undefined) throw new Error('there are two');
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const slow = await pretend(async (request, response) => {
    const body = await bodyOf(request);
    await released;
    const answer = await fetch(two.url + String(request.url), {
      method: request.method ?? '',
      ...(body !== '' && { body }),
    });
    response.writeHead(answer.status).end(await answer.text());
  }, two.vkey);
  writePolicy(1, [one, { ...slow, name: 'slow' }]);
  // The worker's first read from all witnesses waits for this one too.
  setTimeout(release, 1).unref();
  await start();
  await addFacts(2);
  await published(2);
  await waitFor(async () => (await published(2)).cosignatures.length === 2, { what: 'the late cosignature' });
});

it('stops without waiting for the response of a witness', async () => {
  const unanswered: ServerResponse[] = [];
  const silent = await pretend((request, response) =>
    request.method === 'GET' ? response.writeHead(404).end() : unanswered.push(response),
  );
  writePolicy(1, [silent]);
  const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  const service = await start();
  await waitFor(() => unanswered.length > 0, { what: 'a question to the witness' });
  timeout.mockRestore();
  let hasStopped = false;
  const stopping = service.stop().then(() => (hasStopped = true));
  try {
    await waitFor(() => hasStopped, { what: 'the end of the worker' });
  } finally {
    for (const response of unanswered) response.destroy();
    await stopping;
  }
  expect(service.status()).toEqual({ status: 'ok' });
});

it('asks a witness again that was down, and adds its cosignature', async () => {
  const three = await startWitnesses(3);
  writePolicy(2, three);
  await three[2]?.kill();
  const service = await start();
  await addFacts(7);
  await published(7);
  expect(service.status()).toEqual({ status: 'ok' });
  await three[2]?.start();
  await waitFor(async () => (await published(7)).cosignatures.length === 3, { what: 'the third' });
});

it('continues with a witness that was restored to an older state', async () => {
  const [witness] = await startWitnesses(1);
  if (witness === undefined) throw new Error('there is a witness');
  writePolicy(1, [witness]);
  await start();
  await addFacts(3);
  await published(3);
  await witness.kill();
  copyFileSync(witness.stateFile, `${witness.stateFile}-old`);
  await witness.start();
  await addFacts(3);
  await published(6);
  await witness.kill();
  rmSync(`${witness.stateFile}-journal`, { force: true });
  copyFileSync(`${witness.stateFile}-old`, witness.stateFile);
  await witness.start();
  await addFacts(3);
  await published(9);
});

it('builds one log with several workers and one witness', async () => {
  const witness = await startWitnesses(1);
  writePolicy(1, witness);
  const several = await Promise.all([start(), start(), start()]);
  let size = 0;
  for (const count of [1, 300, 5, 700]) {
    await addFacts(count);
    await published((size += count));
  }
  for (const service of several) await isIn(service, { status: 'ok' });
});

const asSuperuser = (text: string) =>
  superuser.query(`SET session_replication_role = replica; ${text}; RESET session_replication_role`);

/** The database when it had two entries. Only the witness knows of the third. */
const LOSE_END = `
  DELETE FROM log_checkpoints WHERE size > 0; DELETE FROM log_entries WHERE log_index >= 2;
  UPDATE log_tiles SET hashes = substr(hashes, 1, 64);
  UPDATE log_tree SET size = 2, root = (SELECT sha256('\\x01'::bytea || hashes) FROM log_tiles)`;

it('signs nothing while the database lacks entries that a witness has seen', async () => {
  const witness = await startWitnesses(1);
  writePolicy(1, witness);
  const before = await start();
  await addFacts(3);
  await published(3);
  await before.stop();
  await superuser.query(
    'CREATE TABLE kept AS SELECT * FROM log_entries; CREATE TABLE kept_tiles AS SELECT * FROM log_tiles',
  );
  await superuser.query('CREATE TABLE kept_tree AS SELECT * FROM log_tree');
  await asSuperuser(LOSE_END);
  const after = await start();
  await isIn(after, ROLLED_BACK);
  // Another third entry does not help.
  await addFacts(4);
  await waitFor(async () => (await treeSize()) === 6);
  await isIn(after, ROLLED_BACK);
  expect((await newest())?.size ?? 0).toBe(0);
  await after.stop();
  await asSuperuser(`
    DELETE FROM log_entries; INSERT INTO log_entries SELECT * FROM kept; DELETE FROM log_tiles;
    INSERT INTO log_tiles SELECT * FROM kept_tiles; DELETE FROM log_tree; INSERT INTO log_tree SELECT * FROM kept_tree`);
  const restored = await start();
  await published(3);
  expect(restored.status()).toEqual({ status: 'ok' });
});

it('detects lost entries from a witness that returns later', async () => {
  const three = await startWitnesses(3);
  writePolicy(2, three);
  const before = await start();
  await addFacts(3);
  await waitFor(async () => (await published(3)).cosignatures.length === 3);
  await before.stop();
  await asSuperuser(LOSE_END);
  // The reachable witnesses have forgotten; the one that remembers is down.
  for (const witness of three) {
    await witness.kill();
    if (witness !== three[2]) rmSync(witness.stateFile);
  }
  await Promise.all([three[0]?.start(), three[1]?.start()]);
  const after = await start();
  await published(2);
  await three[2]?.start();
  await waitFor(() => after.status().status === 'failed', { what: 'the refusal' });
  expect(after.status()).toMatchObject(ROLLED_BACK);
});

it('stops at the unproven claim of a witness without which there is no quorum', async () => {
  let answer = { status: 409, body: '1000\n' };
  const { signingKey, verifierKey } = await generateKeys('witness.example/liar', 'ed25519-cosignature');
  const liar = await pretend(async (request, response) => {
    if (request.method === 'GET') return response.writeHead(404).end();
    if (answer.status !== 200) return response.writeHead(answer.status).end(answer.body);
    const { note } = parseAddCheckpoint(await bodyOf(request));
    return response.end(formatSignatureLines([await (await createSigner(signingKey)).sign(parseNote(note).text, 1)]));
  }, verifierKey);
  writePolicy(1, [liar]);
  const service = await start();
  await isIn(service, ROLLED_BACK);
  await addFacts(4);
  await waitFor(async () => (await treeSize()) === 4);
  answer = { status: 422, body: 'no' };
  await isIn(service, ROLLED_BACK);
  answer = { status: 200, body: '' };
  await published(4);
  await isIn(service, { status: 'ok' });
});

it('signs with ML-DSA-44 in addition to Ed25519', async () => {
  const pq = await generateKeys(ORIGIN, 'ml-dsa-44-cosignature');
  writeFileSync(policyFile, `log ${vkey}\nlog ${pq.verifierKey}\nquorum none\n`);
  await start({ pqSigningKey: pq.signingKey });
  expect((await published(0)).logSignatures.map(({ key }) => key.type)).toEqual(['ed25519', 'ml-dsa-44-cosignature']);
});

describe('openLogIdentity', () => {
  const fault = async (change: Partial<LogSettings>): Promise<string> => {
    try {
      await openLogIdentity({ ...settings, ...change });
      return '';
    } catch (error) {
      if (error instanceof EnvError) return error.message;
      throw error;
    }
  };

  it('names the invalid key or the invalid line of the policy', async () => {
    const witness = (await generateKeys('witness.example/w', 'ed25519-cosignature')).verifierKey;
    const policyOf = (text: string) => {
      writeFileSync(policyFile, text);
      return fault({});
    };
    expect(await policyOf(`log ${vkey}\nquorum none\n`)).toBe('');
    expect(await policyOf(`log ${vkey}\n`)).toMatch(/^LOG_POLICY_FILE, .*policy, is not usable.*quorum/);
    expect(await policyOf('quorum none\n')).toMatch(
      /^LOG_POLICY_FILE, .*names no signing key of this worker: add the line “log /,
    );
    expect(await policyOf(`log ${vkey}\nwitness w ${witness}\nquorum w\n`)).toMatch(/more witnesses than it has URLs/);
    expect(await policyOf(`log ${vkey}\nwitness w ${witness} ftp://x\nquorum w\n`)).toMatch(/a URL that is not http/);
    expect(await fault({ policyFile: '/nowhere' })).toMatch(/^LOG_POLICY_FILE, \/nowhere, cannot be read/);
    expect(await fault({ origin: 'another' })).toMatch(/^LOG_ORIGIN must be the name in LOG_SIGNING_KEY, log.example/);
    const { signingKeys } = settings;
    expect(await fault({ pqSigningKey: signingKeys[0] ?? '' })).toMatch(/^LOG_PQ_SIGNING_KEY holds a key of type 0x01/);
    expect(await fault({ signingKeys: ['PRIVATE+KEY+x'] })).toMatch(
      /^LOG_SIGNING_KEY cannot be used: Not a signing key/,
    );
  });
});
