import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@iss/platform';
import {
  formatAddCheckpoint,
  formatNote,
  generateKeys,
  parseNote,
  parsePolicy,
  parseSignatureLines,
  verifyCheckpoint,
} from '@iss/tlog';
import { mapOperator, type MapOperator, type Published } from '../../../tools/testing/map-operator';
import { MapAudits } from '../src/map-audit/map-audits';
import { Witness } from '../src/witness/witness';
import { readLogs, readWitnessKeys } from '../src/witness/witness-files';
import { serveWitness, type WitnessServer } from '../src/witness/witness-server';
import { WitnessState } from '../src/witness/witness-state';
import { type LogServer, serveLog } from './testing/log-server';
import { publishOn, servePublished } from './testing/map-log';
import { iss } from './testing/run-iss';

const AUDITOR = 'auditor.example/one';
const STREAM = 'v/organization/acme-corp';
const logger = createLogger({ name: 'test', level: 'silent' });

let folder: string;
let log: LogServer;
let operator: MapOperator;
let vkey: string;
let close: () => Promise<void>;
let auditor: WitnessServer;

const file = (name: string): string => join(folder, name);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-auditor-'));
  log = await serveLog();
  operator = await mapOperator();
  const { signingKey, verifierKey } = await generateKeys(AUDITOR, 'ed25519-cosignature');
  vkey = verifierKey;
  writeFileSync(file('key'), signingKey);
  const { log: signed } = await operator.publish();
  writeFileSync(file('logs'), `${signed.vkey} ${log.url}\n`);
  await start();
});
afterEach(async () => {
  await close();
  log.close();
  rmSync(folder, { recursive: true });
});

async function start(answerWithinMs?: number): Promise<void> {
  const state = WitnessState.open(file('state'));
  const logs = await readLogs(file('logs'));
  const audits = new MapAudits(file('maps'), logs, logger, answerWithinMs);
  const keys = logs.map(({ key }) => key);
  const witness = new Witness(await readWitnessKeys(file('key')), keys, state, Date.now, audits.audit);
  auditor = await serveWitness(witness, logger, { host: '127.0.0.1', port: 0 });
  close = async () => {
    await auditor.close();
    await audits.close();
    state.close();
  };
}

/** Serves the log, and asks the auditor for its cosignature. */
async function ask(published: Published, oldSize: number) {
  servePublished(log, published);
  const proof = oldSize === 0 ? [] : (await published.log.consistency(oldSize)).proof;
  const body = formatAddCheckpoint({
    oldSize,
    consistency: proof.map((hash) => Buffer.from(hash, 'base64')),
    note: published.note,
  });
  const response = await fetch(`${auditor.url}/add-checkpoint`, { method: 'POST', body });
  return { status: response.status, text: await response.text() };
}

it('the auditor cosigns a map that it rebuilt, and a policy can require its cosignature', async () => {
  operator.add({}, [[STREAM, 1]]);
  const published = await publishOn(operator);
  const { status, text } = await ask(published, 0);
  expect(status).toBe(200);
  const policy = parsePolicy(`
log ${published.log.vkey}
witness audits ${vkey} ${auditor.url}
group auditors any audits
quorum auditors
vrf ${operator.vrfKey}
`);
  const { text: signed, signatures } = parseNote(published.note);
  const note = formatNote({ text: signed, signatures: [...signatures, ...parseSignatureLines(text)] });
  await expect(verifyCheckpoint(note, policy)).resolves.toMatchObject({ checkpoint: { size: 2 } });
  await expect(verifyCheckpoint(published.note, policy)).rejects.toThrow(/requires/);

  // Another process continues from the stored state.
  await close();
  await start();
  operator.add({}, [[STREAM, 2]]);
  expect((await ask(await publishOn(operator), 2)).status).toBe(200);
});

it('the auditor refuses a map without one of its keys, and later cosigns the right map', async () => {
  operator.add({}, [[STREAM, 1]]);
  expect((await ask(await publishOn(operator), 0)).status).toBe(200);
  operator.add({}, [[STREAM, 2]]);
  const lying = await ask(await operator.publish({ hidden: [[STREAM, 1]] }), 2);
  expect(lying).toEqual({
    status: 403,
    text: expect.stringMatching(/^The root of the map in entry 3 is .*lead to \w+\.\n$/),
  });
  expect((await ask(await operator.publish(), 2)).status).toBe(200);
});

it('the auditor returns 503 without a cosignature if it cannot read the log', async () => {
  operator.add({}, [[STREAM, 1]]);
  const published = await publishOn(operator);
  servePublished(log, published, { texts: [] });
  const body = formatAddCheckpoint({ oldSize: 0, consistency: [], note: published.note });
  const response = await fetch(`${auditor.url}/add-checkpoint`, { method: 'POST', body });
  expect(response.status).toBe(503);
  expect(await response.text()).toMatch(/tile\/entries\/000.p\/2 answers 404/);
});

it('the auditor returns 503 while a long audit runs, and aborts the audit when it closes', async () => {
  await close();
  await start(0);
  operator.add({}, [[STREAM, 1]]);
  const published = await publishOn(operator);
  expect(await ask(published, 0)).toEqual({ status: 503, text: expect.stringMatching(/still running/) });
  await close();
  await start();
  expect((await ask(published, 0)).status).toBe(200);
});

it('iss witness --audit-map requires the URL of each log', async () => {
  const { log: signed } = await operator.publish();
  writeFileSync(file('logs'), `log ${signed.vkey}\n`);
  const words = ['key', 'state', 'logs'].flatMap((name) => [`--${name}`, file(name)]);
  await close();
  const started = await iss(['witness', ...words, '--listen', '127.0.0.1:0', '--audit-map', file('maps')]);
  expect(started).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/has no URL. Write the URL prefix/) });
  close = () => Promise.resolve();
});
