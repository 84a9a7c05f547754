import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, parsePolicy, parseSigningKey } from '@iss/tlog';
import { waitFor } from '../../../tools/testing/wait-for';
import { runCommand } from '../src/run';
import { type LogServer, serveLog } from './testing/log-server';
import { iss, testContext } from './testing/run-iss';
import { signedLog, type SignedLog, witness } from '../../../tools/testing/signed-log.ts';

let folder: string;
let server: LogServer;
let log: SignedLog;
let state: string;
const ENTRIES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-monitor-'));
  state = join(folder, 'state');
  server = await serveLog();
  log = await signedLog(ENTRIES);
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const monitor = (...words: string[]) =>
  iss(['monitor', '--log', server.url, '--vkey', log.vkey, '--state', state, ...words]);
const show = async (size: number) =>
  server.show({ checkpoint: await log.checkpoint(size), consistency: (from, to) => log.consistency(from, to) });

it('monitor stores the newest checkpoint and names the previous one it is consistent with', async () => {
  await show(3);
  expect(await monitor()).toEqual({
    exitCode: 0,
    printed: 'log.example/test: 3 entries, first check.',
    complaint: '',
  });
  await show(7);
  expect((await monitor()).printed).toBe('log.example/test: 7 entries, consistent with the 3 of the last check.');
  expect((await monitor('--json')).printed).toMatch(/"tree_size":7.*"consistent_with":\{"tree_size":7\}/);
  expect(readFileSync(state, 'utf8')).toBe(await log.checkpoint(7));
  expect(readdirSync(folder)).toEqual(['state']);
});

it('monitor accepts an empty log', async () => {
  await show(0);
  await monitor();
  await show(2);
  expect((await monitor()).printed).toMatch(/2 entries, consistent with the 0/);
});

/** Requires that both notes are stored as evidence, and that the state is unchanged. */
function requireEvidence(complaint: string, known: string, shown: string): void {
  const files = readdirSync(folder).filter((name) => name !== 'state');
  expect(files.map((name) => readFileSync(join(folder, name), 'utf8')).sort()).toEqual([known, shown].sort());
  for (const name of files) expect(complaint).toContain(join(folder, name));
  const roles = files.map((name) => [
    /^state\.(known|shown)-/.exec(name)?.[1],
    readFileSync(join(folder, name), 'utf8'),
  ]);
  expect(new Map(roles.map(([role = '', note = '']) => [role, note]))).toEqual(
    new Map([
      ['known', known],
      ['shown', shown],
    ]),
  );
  expect(readFileSync(state, 'utf8')).toBe(known);
}

it.each([5, 6])('monitor fails and stores evidence if a log of 7 entries shrinks to %i', async (size) => {
  await show(7);
  await monitor();
  await show(size);
  const { exitCode, complaint } = await monitor();
  expect(exitCode).toBe(1);
  expect(complaint).toContain(`went back from 7 entries to ${size}`);
  requireEvidence(complaint, await log.checkpoint(7), await log.checkpoint(size));
});

it.each([5, 7])(
  'monitor fails and stores evidence of another history of %i entries with the same key',
  async (size) => {
    await show(5);
    await monitor();
    const forged = await signedLog(ENTRIES.map((entry) => (entry === 'b' ? 'forged' : entry)));
    const checkpoint = await forged.checkpoint(size, [log.signer]);
    server.show({ checkpoint, consistency: (from, to) => forged.consistency(from, to) });
    const { exitCode, complaint } = await monitor();
    expect(exitCode).toBe(1);
    expect(complaint).toMatch(
      size === 5 ? /shows two histories of 5 entries/ : /did not prove that its 7 entries extend the previous 5/,
    );
    requireEvidence(complaint, await log.checkpoint(5), checkpoint);
  },
);

it('monitor keeps its state and stores no evidence if the log is unreachable or unprovable', async () => {
  await show(5);
  await monitor();
  server.show({ checkpoint: await log.checkpoint(7) });
  expect(await monitor()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/answers 404/) });
  server.show({ checkpoint: await log.checkpoint(7), consistency: async () => ({ proof: ['no hash'] }) });
  expect(await monitor()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/not padded base64/) });
  server.show({ checkpoint: 'no note' });
  expect(await monitor()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/Not a signed note/) });
  const other = await signedLog(ENTRIES);
  server.show({ checkpoint: await other.checkpoint() });
  expect(await monitor()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/No known key/) });
  server.close();
  expect(await monitor()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/cannot be fetched/) });
  expect(readdirSync(folder)).toEqual(['state']);
  expect(readFileSync(state, 'utf8')).toBe(await log.checkpoint(5));
});

it('monitor requires the quorum of the policy', async () => {
  const one = await witness('one.example');
  const policy = join(folder, 'policy');
  writeFileSync(policy, `log ${log.vkey}\n${one.line}\nquorum one.example\n`);
  const look = () => iss(['monitor', '--log', server.url, '--policy', policy, '--state', state]);
  await show(3);
  expect(await look()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/requires one\.example/) });
  server.show({ checkpoint: await one.cosign(await log.checkpoint(3), Date.UTC(2026, 0, 15)) });
  expect((await look()).printed).toMatch(/witnessed by one\.example at 2026-01-15T00:00:00Z\.$/);
  // The same tree with a newer cosignature.
  const renewed = await one.cosign(await log.checkpoint(3), Date.UTC(2026, 0, 16));
  server.show({ checkpoint: renewed });
  expect((await look()).exitCode).toBe(0);
  expect(readFileSync(state, 'utf8')).toBe(renewed);
});

it('monitor continues from a checkpoint that was verified before its policy had a quorum', async () => {
  await show(3);
  await monitor();
  const one = await witness('one.example');
  const policy = join(folder, 'policy');
  writeFileSync(policy, `log ${log.vkey}\n${one.line}\nquorum one.example\n`);
  const checkpoint = await one.cosign(await log.checkpoint(7));
  server.show({ checkpoint, consistency: (from, to) => log.consistency(from, to) });
  expect(await iss(['monitor', '--log', server.url, '--policy', policy, '--state', state])).toMatchObject({
    exitCode: 0,
    printed: expect.stringMatching(/7 entries, consistent with the 3/),
  });
});

it('monitor refuses the state file of another log', async () => {
  await show(3);
  await monitor();
  const other = await signedLog(ENTRIES, 'log.example/other');
  const policy = join(folder, 'policy');
  writeFileSync(policy, `log ${log.vkey}\nlog ${other.vkey}\nquorum none\n`);
  server.show({ checkpoint: await other.checkpoint(7), consistency: (from, to) => other.consistency(from, to) });
  expect(await iss(['monitor', '--log', server.url, '--policy', policy, '--state', state])).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/^The state file is of the log log\.example\/test/),
  });
});

it('monitor --follow continues after failures until it is aborted', async () => {
  await show(3);
  const ending = new AbortController();
  const { context, printed, complaints } = testContext({ signal: ending.signal });
  const words = ['monitor', '--log', server.url, '--vkey', log.vkey, '--state', state, '--follow', '--interval', '1'];
  const run = () => runCommand(words, context);
  const following = run();
  await waitFor(() => printed.length > 0);
  server.show({ checkpoint: await log.checkpoint(7) });
  await waitFor(() => complaints.length > 0);
  await show(7);
  await waitFor(() => printed.some((line) => line.includes('7 entries')));
  ending.abort();
  expect(await following).toBe(0);
  expect(await run()).toBe(0);
});

it('monitor --follow ends when the log contradicts its state', async () => {
  await show(7);
  await monitor();
  await show(3);
  expect(await monitor('--follow')).toMatchObject({ exitCode: 1 });
});

it.each([
  [['monitor'], /^--log is missing/],
  [['monitor', '--log', 'http://h/log'], /^--state is missing/],
  [['monitor', '--log', 'http://h/log', '--state', 's'], /^Name the trusted keys/],
  [['monitor', '--log', 'ftp://h', '--state', 's', '--vkey', 'V'], /^--log takes the URL prefix/],
  [
    ['monitor', '--log', 'http://h/log', '--state', 's', '--vkey', 'V', '--interval', '0'],
    /^--interval takes a number/,
  ],
  [['log-key'], /^--origin is missing/],
  [['log-key', '--origin', 'a'], /^Name either --out FILE/],
  [['log-key', '--origin', 'a b', '--print'], /name/],
  [['log-key', '--vrf', '--pq', '--print'], /^--vrf and --pq exclude each other/],
  [['log-key', '--vrf', '--origin', 'a', '--print'], /exclude each other/],
  [['log-key', 'show', '/none'], /cannot be read/],
])('%j exits with 2 and explains how to fix the call', async (words, complaint) => {
  const outcome = await iss(words.map((word) => (word === 'V' ? log.vkey : word)));
  expect(outcome).toMatchObject({ exitCode: 2, printed: '' });
  expect(outcome.complaint).toMatch(complaint);
});

it.each([
  ['ed25519', []],
  ['ml-dsa-44-cosignature', ['--pq']],
])('log-key creates a key of type %s for its owner only, and replaces no file', async (type, words) => {
  const file = join(folder, 'key');
  const make = () => iss(['log-key', '--origin', 'log.example/new', '--out', file, ...words]);
  const { exitCode, printed } = await make();
  expect(exitCode).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const skey = readFileSync(file, 'utf8').trim();
  expect(parseSigningKey(skey)).toMatchObject({ name: 'log.example/new', type });
  expect((await createSigner(skey)).verifierKey).toBe(printed);
  expect(await iss(['log-key', 'show', file])).toEqual({ exitCode: 0, printed, complaint: '' });
  expect(await make()).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/cannot be written \(EEXIST\)/) });
  expect(readFileSync(file, 'utf8').trim()).toBe(skey);
  expect((await iss(['log-key', '--origin', 'a', '--print'])).printed).toMatch(/^PRIVATE\+KEY\+a\+\S+\na\+\S+$/);
});

it('log-key --vrf creates a key and prints its policy line', async () => {
  const file = join(folder, 'vrf');
  const { exitCode, printed, complaint } = await iss(['log-key', '--vrf', '--out', file]);
  expect({ exitCode, complaint }).toEqual({ exitCode: 0, complaint: expect.stringMatching(/workers and gateways/) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toMatch(/^PRIVATE\+VRF\+\S{44}\n$/);
  expect(`vrf ${parsePolicy(`${printed}\nquorum none\n`).vrfKey}`).toBe(printed);
  expect((await iss(['log-key', 'show', file])).printed).toBe(printed);
});
