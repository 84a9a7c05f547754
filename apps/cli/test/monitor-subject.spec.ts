import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessStream, granteeStream, versionStream } from '@iss/map';
import { mapOperator, type MapOperator, type Published } from '../../../tools/testing/map-operator';
import { waitFor } from '../../../tools/testing/wait-for';
import { runCommand } from '../src/run';
import { settingsOf } from '../src/settings';
import { type LogServer, serveLog } from './testing/log-server';
import { publishOn } from './testing/map-log';
import { iss, testContext } from './testing/run-iss';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const VERSIONS = versionStream('organization', 'acme-corp');
const ACCESS = accessStream('organization', 'acme-corp');
const GRANTS = granteeStream('bank', 'organization', 'acme-corp');

let folder: string;
let server: LogServer;
let operator: MapOperator;
let state: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-subject-'));
  state = join(folder, 'state');
  server = await serveLog();
  operator = await mapOperator();
  addVersion(1);
  addVersion(2);
  operator.add({ type: 'grant.created', grant_id: 'g' }, [
    [ACCESS, 1],
    [GRANTS, 1],
  ]);
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function addVersion(version: number): number {
  const body = { ...SUBJECT, type: 'snapshot.created', snapshot_version: version, envelope_hash: `hash ${version}` };
  return operator.add({ ...body, created_at: '2026-01-15T09:30:00.000Z' }, [[VERSIONS, version]]);
}

/** The newest number of each stream that the service claims; null if it refuses the stream. */
interface Claims {
  readonly v: number;
  readonly a: number | null;
  readonly p: number;
}

interface Served {
  readonly earlier?: Published;
  /** Members of the answers to change. */
  readonly latest?: object;
  readonly absence?: object;
}

/** Serves the proofs of a published log. The proofs of access and grants may be of an `earlier` one. */
async function serve(
  published: Published,
  { v, a, p }: Claims,
  { earlier = published, latest: changes = {}, absence: absent = {} }: Served = {},
): Promise<void> {
  const index = operator.entries.findLastIndex(({ places }) =>
    places.some(([name, at]) => name === VERSIONS && at === v),
  );
  const absence = async (stream: string, name: string, newest: number) => ({
    ...SUBJECT,
    stream,
    number: newest + 1,
    map: await operator.proof(earlier, name, newest),
    ...absent,
  });
  const latest = {
    ...SUBJECT,
    snapshot_version: v,
    as_of_size: published.size,
    head: await operator.entryAt(published, index),
    map: await operator.proof(published, VERSIONS, v),
    ...changes,
  };
  const base = '/v1/tenants/bank/subjects/organization/acme-corp';
  const forbidden = { error: { code: 'forbidden', message: 'Only the owner may ask.', request_id: 'r-1' } };
  const answers = new Map<string, string | { status: number; body: string }>([
    [`${base}/latest-proof?wait=10`, JSON.stringify(latest)],
    [
      `${base}/absence-proof?stream=a&wait=10`,
      a === null ? { status: 403, body: JSON.stringify(forbidden) } : JSON.stringify(await absence('a', ACCESS, a)),
    ],
    [`${base}/absence-proof?stream=p&wait=10`, JSON.stringify(await absence('p', GRANTS, p))],
  ]);
  server.show({
    checkpoint: published.note,
    consistency: (from, to) => published.log.consistency(from, to),
    read: (path) => answers.get(path) ?? null,
  });
  writeFileSync(join(folder, 'policy'), `${operator.policyOf(published)}vrf ${operator.vrfKey}\n`);
}

const settings = () => {
  const url = server.url.replace(/\/log$/, '');
  return settingsOf({ ISS_BASE_URL: url, ISS_TOKEN: 'token', ISS_TENANT: 'bank' }, 'linux');
};
const words = (): string[] => [
  ...['monitor', '--subject', 'organization/acme-corp', '--policy', join(folder, 'policy'), '--state', state],
];
const monitor = (...more: string[]) => iss([...words(), ...more], { settings: settings() });

it('monitor --subject proves the newest numbers and stores them', async () => {
  await serve(await publishOn(operator), { v: 2, a: 1, p: 1 });
  expect(await monitor()).toMatchObject({
    exitCode: 0,
    printed: expect.stringMatching(
      /^log.example\/test: 4 entries, first check.* organization\/acme-corp: newest version 2, changes of access 1, grants to your tenant 1\.$/,
    ),
  });
  addVersion(3);
  await serve(await publishOn(operator), { v: 3, a: 1, p: 1 });
  const { printed } = await monitor('--json');
  expect(JSON.parse(printed)).toMatchObject({
    tree_size: 6,
    consistent_with: { tree_size: 4 },
    subject: 'organization/acme-corp',
    streams: { v: { number: 3, log_index: 4 }, a: { number: 1, log_index: 2 }, p: { number: 1, log_index: 2 } },
  });
  expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ streams: { v: { number: 3 } } });
  expect(readdirSync(folder).sort()).toEqual(['policy', 'state']);
});

it('monitor --subject names streams it may not read, and fails if one becomes unreadable', async () => {
  const published = await publishOn(operator);
  await serve(published, { v: 2, a: null, p: 1 });
  expect((await monitor()).printed).toMatch(/changes of access not shown to you/);
  await serve(published, { v: 2, a: 1, p: 1 });
  expect((await monitor()).exitCode).toBe(0);
  await serve(published, { v: 2, a: null, p: 1 });
  expect(await monitor()).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/no longer shows you changes/),
  });
});

it('monitor --subject compares proofs of successive checkpoints with each other and with the last check', async () => {
  const first = await publishOn(operator);
  await serve(first, { v: 2, a: 1, p: 1 });
  await monitor();
  addVersion(3);
  const second = await publishOn(operator);
  addVersion(4);
  await serve(await publishOn(operator), { v: 4, a: 1, p: 1 }, { earlier: second });
  expect((await monitor()).printed).toMatch(/8 entries, consistent with the 4 of the last check.* newest version 4,/);
});

it('monitor --subject remembers a stream without entries', async () => {
  operator = await mapOperator();
  addVersion(1);
  await serve(await publishOn(operator), { v: 1, a: 0, p: 0 });
  for (let check = 0; check < 2; check++)
    expect(await monitor()).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/changes of access 0/) });
});

it('monitor --subject fails without the proof of the newest version', async () => {
  await serve(await publishOn(operator), { v: 2, a: 1, p: 1 });
  const forbidden = { error: { code: 'forbidden', message: 'You may not read it.', request_id: 'r-1' } };
  server.show({ checkpoint: '', read: () => ({ status: 403, body: JSON.stringify(forbidden) }) });
  expect(await monitor()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/You may not read it/) });
});

it.each<[string, Served, RegExp]>([
  [
    'of another subject',
    { latest: { subject_id: 'other-corp' } },
    /shows a proof that fails: It is of organization\/other-corp instead of organization\/acme-corp/,
  ],
  ['of an earlier moment', { latest: { as_of_size: 3 } }, /It is of the first 3 entries instead of 4/],
  ['of another number', { absence: { number: 3 } }, /The newest number is 1, so 3 is not the next one/],
])('monitor --subject refuses a proof %s', async (_, served, message) => {
  await serve(await publishOn(operator), { v: 2, a: 1, p: 1 }, served);
  expect(await monitor()).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(message) });
});

it('monitor --subject refuses the state file of another subject', async () => {
  await serve(await publishOn(operator), { v: 2, a: 1, p: 1 });
  await monitor();
  writeFileSync(state, readFileSync(state, 'utf8').replace('organization/acme-corp', 'organization/other-corp'));
  expect(await monitor()).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/is of the subject organization\/other-corp/),
  });
});

it('monitor --subject limits the age of the checkpoint with --max-age, in seconds', async () => {
  await serve(await publishOn(operator, {}, Date.now() - 1_800_000), { v: 2, a: 1, p: 1 });
  expect((await monitor('--max-age', '3600')).exitCode).toBe(0);
  expect(await monitor('--max-age', '900')).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/Too few witnesses dated the checkpoint within 900 seconds/),
  });
});

describe('monitor --subject of a lying operator that holds all keys', () => {
  let known: string;
  beforeEach(async () => {
    await serve(await publishOn(operator), { v: 2, a: 1, p: 1 });
    await monitor();
    known = readFileSync(state, 'utf8');
  });

  it.each<[string, readonly (readonly [string, number])[], Claims, RegExp]>([
    ['hides the newest version', [[VERSIONS, 2]], { v: 1, a: 1, p: 1 }, /went back from newest version 2 to 1/],
    ['hides a change of access', [[ACCESS, 1]], { v: 2, a: 0, p: 1 }, /went back from changes of access 1 to 0/],
    ['hides a grant', [[GRANTS, 1]], { v: 2, a: 1, p: 0 }, /went back from grants to your tenant 1 to 0/],
    [
      'claims an older version with the true map',
      [],
      { v: 1, a: 1, p: 1 },
      /shows a proof that fails: .*The look-ups do not prove/,
    ],
    ['claims no grant with the true map', [], { v: 2, a: 1, p: 0 }, /shows a proof that fails/],
  ])('stores evidence and fails if the operator %s', async (_name, hidden, claims, message) => {
    await serve(await operator.publish({ hidden }), claims);
    const { exitCode, complaint } = await monitor('--follow');
    expect({ exitCode, complaint }).toEqual({ exitCode: 1, complaint: expect.stringMatching(message) });
    const evidence = readdirSync(folder).filter((name) => name.startsWith('state.'));
    expect(evidence).toHaveLength(2);
    for (const name of evidence) expect(complaint).toContain(name);
    // The last proof of the stream is evidence, with the new one.
    const kept = evidence.find((name) => name.startsWith('state.known-')) ?? '';
    const { streams }: { streams: Record<string, { answer: object }> } = JSON.parse(known);
    expect(Object.values(streams).map(({ answer }) => answer)).toContainEqual(
      JSON.parse(readFileSync(join(folder, kept), 'utf8')),
    );
    expect(readFileSync(state, 'utf8')).toBe(known);
  });

  it('fails if a version is logged again and the map leads to the new entry', async () => {
    operator.add(
      { ...SUBJECT, type: 'snapshot.created', snapshot_version: 2, envelope_hash: 'x', created_at: 'x' },
      [],
    );
    const entries = operator.entries;
    const [first, again] = [entries[1], entries.at(-1)];
    if (first === undefined || again === undefined) throw new Error('there are entries');
    entries[entries.length - 1] = { ...again, keys: first.keys, places: first.places };
    entries[1] = { ...first, places: [] };
    await serve(await operator.publish(), { v: 2, a: 1, p: 1 });
    expect(await monitor()).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/shows newest version 2 in entry 4 instead of 1/),
    });
  });

  it('fails if the log has fewer entries than before', async () => {
    addVersion(3);
    await serve(await publishOn(operator), { v: 3, a: 1, p: 1 });
    await monitor();
    operator.entries.splice(3);
    await serve(await operator.publish(), { v: 2, a: 1, p: 1 });
    expect(await monitor()).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/went back from 6 entries to 4/),
    });
  });
});

it('monitor --subject --follow continues after failures until it is aborted', async () => {
  await serve(await publishOn(operator), { v: 2, a: 1, p: 1 });
  const ending = new AbortController();
  const { context, printed, complaints } = testContext({ signal: ending.signal, settings: settings() });
  const following = runCommand([...words(), '--follow', '--interval', '1'], context);
  await waitFor(() => printed.length > 0);
  server.show({ checkpoint: '' });
  await waitFor(() => complaints.length > 0);
  addVersion(3);
  await serve(await publishOn(operator), { v: 3, a: 1, p: 1 });
  await waitFor(() => printed.some((line) => line.includes('newest version 3')));
  ending.abort();
  expect(await following).toBe(0);
});

it('monitor --subject requires the VRF key and a state file of a subject', async () => {
  const published = await publishOn(operator);
  await serve(published, { v: 2, a: 1, p: 1 });
  await monitor();
  writeFileSync(join(folder, 'policy'), operator.policyOf(published));
  expect(await monitor()).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/VRF key of the log is missing/),
  });
  expect((await monitor('--vrf-key', operator.vrfKey)).exitCode).toBe(0);
  writeFileSync(state, '{}');
  expect(await monitor('--vrf-key', operator.vrfKey)).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/is not the state of a subject/),
  });
});
