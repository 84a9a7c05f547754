import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@iss/platform';
import {
  createVerifier,
  generateKeys,
  openNote,
  parseCheckpoint,
  parseTreeSize,
  verifyConsistency,
  witnessedCheckpointPath,
} from '@iss/tlog';
import { type OwnedProcess, startOwned } from '../../../tools/processes';
import { waitFor } from '../../../tools/testing/wait-for';
import { iss as runIss } from './testing/run-iss';
import { Witness } from '../src/witness/witness';
import { readLogs, readWitnessKeys } from '../src/witness/witness-files';
import {
  MAX_WITNESS_BODY_BYTES,
  MAX_WITNESS_CONNECTIONS,
  serveWitness,
  type WitnessServer,
} from '../src/witness/witness-server';
import { WitnessState } from '../src/witness/witness-state';
import { SampleLog } from './sample-log';

const NAME = 'witness.example/w1';
const COMMAND = join(__dirname, '../dist/main.js');
const NOW_MS = Date.UTC(2026, 0, 15, 10);

let folder: string;
let log: SampleLog;
/** The verifier keys of the witness: Ed25519 and ML-DSA-44. */
let vkeys: string[];
let server: WitnessServer | undefined;
let state: WitnessState | undefined;
/** The lines that the witness logs. */
let lines: string[];
const running: OwnedProcess[] = [];

const file = (name: string): string => join(folder, name);

let keyFile: string;
beforeAll(async () => {
  log = (await SampleLog.open('log.example/one')).grow(300);
  const keys = await Promise.all([
    generateKeys(NAME, 'ed25519-cosignature'),
    generateKeys(NAME, 'ml-dsa-44-cosignature'),
  ]);
  vkeys = keys.map(({ verifierKey }) => verifierKey);
  keyFile = `# mine\n${keys.map(({ signingKey }) => signingKey).join('\n')}\n`;
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iss-witness-'));
  writeFileSync(file('key'), keyFile);
  writeFileSync(file('logs'), `log ${log.signer.verifierKey} https://log.example\nquorum none\n`);
});

afterEach(async () => {
  await stop();
  await Promise.all(running.splice(0).map((child) => child.stop(5_000)));
  rmSync(folder, { recursive: true });
});

async function start(): Promise<void> {
  state = WitnessState.open(file('state'));
  const keys = (await readLogs(file('logs'))).map(({ key }) => key);
  const one = new Witness(await readWitnessKeys(file('key')), keys, state, () => NOW_MS);
  lines = [];
  const logger = createLogger({ name: 'test', level: 'info' }, { write: (line: string) => lines.push(line) });
  server = await serveWitness(one, logger, { host: '127.0.0.1', port: 0 });
}

async function stop(): Promise<void> {
  await server?.close();
  state?.close();
  server = state = undefined;
}

const ask = async (body: string | Buffer, url = server?.url) => {
  const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};
const shown = async (url = server?.url) => {
  const response = await fetch(`${url}/${witnessedCheckpointPath(log.origin)}`);
  return { status: response.status, text: await response.text() };
};

describe('the witness', () => {
  beforeEach(start);

  it('cosigns consistent checkpoints with each of its keys, and publishes the newest', async () => {
    expect((await shown()).status).toBe(404);
    for (const [from, to] of [
      [0, 0],
      [0, 7],
      [7, 7],
      [7, 300],
    ] as const) {
      const { status, text } = await ask(await log.request(from, to));
      expect([to, status]).toEqual([to, 200]);
      const note = (await log.note(to)) + text;
      const { verified } = await openNote(
        note,
        vkeys.map((vkey) => createVerifier(vkey)),
      );
      expect(verified).toHaveLength(2);
      for (const { time } of verified) expect(time).toBe(NOW_MS / 1000);
      expect((await shown()).text).toBe(note);
    }
  });

  it('refuses requests with the status of the first failed check of the specification', async () => {
    const other = (await SampleLog.open('log.example/two')).grow(9);
    const stranger = (await SampleLog.open(log.origin)).grow(9);
    await ask(await log.request(0, 100));
    const good = await log.note(200);
    const badLine = (await log.note(201)).replace(/^[^—]*/, '');
    const answers = [
      [404, await other.request(9, 9)],
      [403, await stranger.request(9, 9)],
      [403, `old 9\n\n${good}${badLine}`],
      [400, (await log.request(0, 50)).replace('old 0', 'old 51')],
      [400, 'old 1\n'],
      [400, Buffer.from([0xff])],
      [409, await log.request(0, 200)],
      [409, await log.request(50, 200)],
      [422, (await log.request(99, 200)).replace('old 99', 'old 100')],
      [422, await log.fork().grow(200, 'another').request(100, 200)],
      [422, await log.fork().grow(100, 'another').request(100, 100)],
      [200, await log.request(100, 200)],
    ] as const;
    for (const [status, body] of answers) {
      const answer = await ask(body);
      expect([status, answer.status]).toEqual([status, status]);
      if (status !== 409) continue;
      expect(answer.type).toBe('text/x.tlog.size');
      expect(parseTreeSize(answer.text)).toBe(100);
    }
  });

  it('logs each request that a known log signed, with the note if that may prove two histories', async () => {
    const stranger = (await SampleLog.open(log.origin)).grow(9);
    const bodies = [
      'old 1\n',
      await log.request(0, 100),
      await log.request(50, 200),
      await log.fork().grow(200, 'another').request(100, 200),
      await stranger.request(9, 9),
      await stranger.request(9, 9),
    ];
    for (const body of bodies) await ask(body);
    const logged = lines.map((line) => JSON.parse(line));
    const { origin } = log;
    expect(logged).toMatchObject([
      { level: 30, msg: 'Cosigned', origin, old_size: 0, size: 100, status: 200 },
      { level: 30, origin, old_size: 50, size: 200, status: 409 },
      { level: 40, origin, old_size: 100, size: 200, status: 422, note: expect.stringMatching(/\n200\n/) },
      { level: 40, msg: expect.stringMatching(/^A checkpoint was sent that its log did not sign/) },
    ]);
    expect(logged.slice(0, 2).filter((one) => 'note' in one)).toEqual([]);
  });

  it('sends headers that let any page read its answers and no cache keep them', async () => {
    const { headers } = await fetch(`${server?.url}/add-checkpoint`, { method: 'POST', body: await log.request(0, 7) });
    expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual(['*', 'no-store']);
  });

  it('cosigns only one of two histories in concurrent requests', async () => {
    const fork = log.fork().grow(300, 'another');
    const asked = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? log : fork).request(0, 100 + index));
    const answers = await Promise.all((await Promise.all(asked)).map((body) => ask(body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(39);
  });

  it('signs extension lines with Ed25519, but not with ML-DSA-44', async () => {
    const note = await log.note(5, ['opaque line']);
    const { status, text } = await ask(`old 0\n\n${note}`);
    expect(status).toBe(200);
    const [line = '', pq = ''] = text.trimEnd().split('\n');
    await openNote(`${note}${line}\n`, [createVerifier(vkeys[0] ?? '')]);
    await openNote(`${await log.note(5)}${pq}\n`, [createVerifier(vkeys[1] ?? '')]);
  });

  it('refuses other routes, large bodies, and connections beyond its limit', async () => {
    const status = async (path: string, init: RequestInit = {}) => (await fetch(`${server?.url}${path}`, init)).status;
    expect(await status('/')).toBe(404);
    expect(await status('/add-checkpoint')).toBe(405);
    expect(await status(`/${witnessedCheckpointPath(log.origin)}`, { method: 'POST' })).toBe(405);
    const body = Buffer.alloc(MAX_WITNESS_BODY_BYTES + 1, 'a');
    const tooLarge = await fetch(`${server?.url}/add-checkpoint`, { method: 'POST', body });
    expect([tooLarge.status, tooLarge.headers.get('connection')]).toEqual([413, 'close']);
    const { port } = new URL(server?.url ?? '');
    const sockets = Array.from({ length: MAX_WITNESS_CONNECTIONS + 20 }, () => connect(Number(port), '127.0.0.1'));
    let closed = 0;
    for (const socket of sockets) socket.on('close', () => closed++).on('error', () => undefined);
    await waitFor(() => closed >= 20, { what: 'the end of connections beyond the limit' });
    for (const socket of sockets) socket.destroy();
    await waitFor(() => closed === sockets.length);
    expect((await ask(await log.request(0))).status).toBe(200);
  });
});

it('the witness accepts a checkpoint that any key of its log signed', async () => {
  const { verifierKey } = await generateKeys(log.origin, 'ed25519');
  writeFileSync(file('logs'), `${log.signer.verifierKey}\n${verifierKey}\n`);
  await start();
  expect((await ask(await log.request(0, 7))).status).toBe(200);
});

it('the witness does not audit a checkpoint that it refuses anyway', async () => {
  state = WitnessState.open(file('state'));
  const keys = (await readLogs(file('logs'))).map(({ key }) => key);
  const audited: number[] = [];
  const one = new Witness(
    await readWitnessKeys(file('key')),
    keys,
    state,
    () => NOW_MS,
    async ({ size }) => {
      audited.push(size);
      return null;
    },
  );
  expect((await one.addCheckpoint(await log.request(0, 7))).status).toBe(200);
  expect((await one.addCheckpoint(await log.request(0, 9))).status).toBe(409);
  expect(audited).toEqual([7]);
});

describe('WitnessState', () => {
  it('never moves a log back, or to another root of the same size', () => {
    state = WitnessState.open(file('state'));
    const other = log.fork().grow(9, 'another');
    state.keep(log.origin, { ...log.head(300), note: 'mine' });
    for (const head of [log.head(299), { ...log.head(300), root: other.head(309).root }]) {
      expect(() => state?.keep(log.origin, { ...head, note: 'another' })).toThrow(/has a newer checkpoint/);
    }
    expect(state.newest(log.origin)).toEqual({ ...log.head(300), note: 'mine' });
  });

  it('refuses a file that is open already', async () => {
    await start();
    expect(() => WitnessState.open(file('state'))).toThrow(/state.* cannot be opened: .*database is locked/);
  });

  it('refuses a file of another format', () => {
    writeFileSync(file('state'), 'what is this?'.repeat(100));
    expect(() => WitnessState.open(file('state'))).toThrow(/cannot be opened: .*file is not a database/);
  });

  it('continues from the older size after an older file was restored', async () => {
    await start();
    await ask(await log.request(0, 10));
    await stop();
    copyFileSync(file('state'), file('older'));
    await start();
    await ask(await log.request(10, 20));
    await stop();
    copyFileSync(file('older'), file('state'));
    await start();
    expect(await ask(await log.request(20, 30))).toMatchObject({ status: 409, text: '10\n' });
    expect(await ask(await log.request(10, 30))).toMatchObject({ status: 200 });
  });
});

describe('iss witness', () => {
  let url: string;

  /** Starts the witness on a free port, and reads its address from its log. */
  async function launch(): Promise<OwnedProcess> {
    const options = { key: file('key'), state: file('state'), logs: file('logs'), listen: '127.0.0.1:0' };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const output = openSync(file('output'), 'w');
    const child = await startOwned(process.execPath, [COMMAND, 'witness', ...words], {
      stdio: ['ignore', output, 'ignore'],
      stopSignal: 'SIGTERM',
    });
    closeSync(output);
    running.push(child);
    const listening = () => /^.*"msg":"listening".*$/m.exec(readFileSync(file('output'), 'utf8'))?.[0];
    ({ url } = JSON.parse(await waitFor(listening, { what: 'the witness' })));
    return child;
  }

  it('keeps every answered checkpoint over SIGKILL, and exits with 0 on SIGTERM', async () => {
    let last = log.head(0);
    for (let round = 0; round < 3; round++) {
      const child = await launch();
      // The checkpoint that was answered before the kill is still there.
      const seen = await shown(url);
      if (seen.status === 200) {
        const checkpoint = parseCheckpoint((await openNote(seen.text, [createVerifier(vkeys[0] ?? '')])).text);
        expect(checkpoint.size).toBeGreaterThanOrEqual(last.size);
        verifyConsistency(last, checkpoint, await log.proof(last.size, checkpoint.size));
        last = checkpoint;
      }
      const kill = 3 + round;
      for (let step = 1; ; step++) {
        const answered = ask(await log.request(last.size, last.size + 1), url).catch(() => null);
        if (step === kill) process.kill(child.pid, 'SIGKILL');
        const answer = await answered;
        if (answer === null) break;
        expect(answer.status).toBe(200);
        last = log.head(last.size + 1);
      }
      await child.ended;
    }
    const child = await launch();
    const checkpoint = parseCheckpoint(
      (await openNote((await shown(url)).text, [createVerifier(vkeys[0] ?? '')])).text,
    );
    expect(checkpoint.size).toBeGreaterThanOrEqual(last.size);
    // SIGTERM ends the process in order.
    await child.stop(20_000);
    expect(await child.ended).toBe('exit code 0');
  });

  const iss = (...words: string[]) => runIss(['witness', ...words]);

  it('explains missing options and invalid files', async () => {
    const options = ['--key', file('key'), '--state', file('state'), '--logs', file('logs')];
    expect(await iss(...options)).toMatchObject({
      exitCode: 2,
      complaint: expect.stringMatching(/^--listen is missing/),
    });
    expect(await iss(...options, '--listen', 'x')).toMatchObject({ exitCode: 2 });
    writeFileSync(file('logs'), '\nnonsense\n');
    expect(await iss(...options, '--listen', '127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/^Line 2 of .*logs: Not a verifier key/),
    });
    writeFileSync(file('key'), '');
    expect(await iss(...options, '--listen', '127.0.0.1:1')).toMatchObject({ exitCode: 1 });
  });

  it('reads the logs of a policy, and refuses the key of a witness and a file without logs', async () => {
    writeFileSync(file('logs'), `# mine\nlog ${log.signer.verifierKey} https://log.example\nwitness w ${vkeys[0]}\n`);
    expect((await readLogs(file('logs'))).map(({ url }) => url)).toEqual(['https://log.example']);
    writeFileSync(file('logs'), `${log.signer.verifierKey}\n${vkeys[0]}\n`);
    await expect(readLogs(file('logs'))).rejects.toThrow(/^Line 2 of .* is the key of a witness/);
    writeFileSync(file('logs'), 'quorum none\n');
    await expect(readLogs(file('logs'))).rejects.toThrow(/names no log/);
  });

  it('uses a plain Ed25519 key, as made by Go, as a cosigning key', async () => {
    const { signingKey } = await generateKeys(NAME, 'ed25519');
    writeFileSync(file('key'), signingKey);
    expect((await readWitnessKeys(file('key'))).map(({ key }) => key.type)).toEqual(['ed25519-cosignature']);
  });
});
