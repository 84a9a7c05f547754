import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leafTextOf } from '@iss/proof';
import { decodeBase64, formatLogProof, leafHash, toHex } from '@iss/tlog';
import { type BundleLine, bundleText, lineageBundle } from '../../../tools/testing/lineage-bundle.ts';
import { mapOperator, type MapOperator, type Published } from '../../../tools/testing/map-operator.ts';
import { mappedBundle } from '../../../tools/testing/mapped-bundle.ts';
import { iss } from './testing/run-iss';

let folder: string;
let made: Awaited<ReturnType<typeof lineageBundle>>;
let line: BundleLine;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-verify-keyed-'));
  made = await lineageBundle(3, true);
  line = made.lines[1] ?? line;
});
afterAll(() => rmSync(folder, { recursive: true }));

function verify(content: string | object, ...more: string[]) {
  return iss(['verify', file('proof', content), '--vkey', made.log.vkey, ...more]);
}
function file(name: string, content: string | object): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
/** The answer of the service for the second version. */
const answer = (changes: object = {}) => ({
  ...{ log_origin: 'log.example/test', log_index: line.log_index, tree_size: 6, inclusion: line.inclusion },
  ...{ entry: line.entry, keys: line.keys, leaf_hash: toHex(leafHash(leafTextOf(line))), checkpoint: made.note },
  ...changes,
});

it('verify accepts a bundle of entries with keys, and refuses missing or other keys', async () => {
  await expect(verify(bundleText(made.head, made.lines))).resolves.toMatchObject({ exitCode: 0 });
  for (const keys of [null, [], ['B'.repeat(43)]]) {
    const lines = made.lines.map((one) => (one === line ? { ...one, keys } : one));
    await expect(verify(bundleText(made.head, lines))).resolves.toMatchObject({ exitCode: 1, printed: '' });
  }
});

it('verify accepts the answer for one entry, and refuses missing or other keys', async () => {
  const proved = await verify(answer());
  expect(proved).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/snapshot_version +2\n/) });
  await expect(verify(answer({ keys: null }))).resolves.toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/has keys in the map, but the proof names none/),
  });
  await expect(verify(answer({ keys: ['B'.repeat(43)] }))).resolves.toMatchObject({ exitCode: 1 });
});

it('verify refuses keys of an entry in the previous format', async () => {
  const earlier = await lineageBundle(1);
  const [one] = earlier.lines;
  const more = { tree_size: 2, leaf_hash: toHex(leafHash(one?.entry ?? '')), checkpoint: earlier.note };
  const path = file('earlier', { ...answer(), ...one, ...more, keys: [] });
  await expect(iss(['verify', path, '--vkey', earlier.log.vkey])).resolves.toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/has no keys in the map/),
  });
});

it('verify accepts a proof file with the public text, and --entry only with its body', async () => {
  const inclusion = line.inclusion.map((hash) => decodeBase64(hash, 'hash'));
  const extra = Buffer.from(leafTextOf(line));
  const proof = formatLogProof({ extra, index: line.log_index, inclusion, checkpoint: made.note });
  const alone = await verify(proof);
  expect(alone).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/body +[A-Za-z0-9_-]{43}\n/) });
  const beside = await verify(proof, '--entry', file('entry', line.entry));
  expect(beside).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/snapshot_version +2\n/) });
  const forged = line.entry.replace('"snapshot_version":2', '"snapshot_version":3');
  await expect(verify(proof, '--entry', file('entry', forged))).resolves.toMatchObject({ exitCode: 1 });
});

describe('verify of a bundle with a map', () => {
  const NEWEST = /Newest +version 3 among the first 4 entries, cosigned by witness\.example\/w at /;
  let operator: MapOperator;
  let published: Published;
  let bundle: Awaited<ReturnType<typeof mappedBundle>>;
  beforeAll(async () => {
    operator = await mapOperator();
    bundle = await mappedBundle(operator, 3);
    published = await operator.publish();
  });

  const check = (lines: object[], ...more: string[]) =>
    iss([
      'verify',
      file('mapped', bundleText(lines[0] ?? {}, lines.slice(1))),
      '--policy',
      file('policy', operator.policyOf(published)),
      ...more,
    ]);
  const linesOf = async (count?: number, of = published) => {
    const { first, lines, last } = await bundle.linesOf(of, count);
    return [first, ...lines, last];
  };
  const withKey = async (lines: object[]) => check(lines, '--vrf-key', operator.vrfKey);

  it('proves with the VRF key that its last version is the newest', async () => {
    const proved = await withKey(await linesOf());
    expect(proved).toMatchObject({ exitCode: 0, printed: expect.stringMatching(NEWEST) });
    const policy = `${operator.policyOf(published)}vrf ${operator.vrfKey}\n`;
    const byPolicy = await iss(['verify', join(folder, 'mapped'), '--policy', file('with-vrf', policy)]);
    expect(byPolicy.printed).toBe(proved.printed);
    expect(proved.printed).not.toMatch(/That nothing newer exists/);
    expect(proved.printed).toMatch(/no second entry for one of these versions/);
  });

  it('states without the VRF key that the newest version is not proved', async () => {
    const proved = await check(await linesOf());
    expect(proved).toMatchObject({ exitCode: 0, printed: expect.not.stringMatching(NEWEST) });
    expect(proved.printed).toMatch(/That the last version is the newest\. .*add the key to the policy .*--vrf-key/);
  });

  it('refuses a missing or foreign last line, and a stale checkpoint with --max-age', async () => {
    const lines = await linesOf();
    const shorter = await linesOf(2);
    const other = await mapOperator();
    const otherBundle = await mappedBundle(other, 3);
    const { last: ofOther } = await otherBundle.linesOf(await other.publish());
    const map = await operator.proof(published, 'v/organization/other', 3);
    operator.add({ type: 'another' }, []);
    const { last: later } = await bundle.linesOf(await operator.publish());
    const cases: [object[], RegExp][] = [
      [lines.slice(0, -1), /The last line, complete, is missing/],
      [shorter, /newest version is 3 instead of 2/],
      [[...shorter.slice(0, -1), ...lines.slice(-1)], /snapshot_version is 3 instead of 2/],
      [[...lines.slice(0, -2), ...lines.slice(-1)], /names 3 versions, but there are 2/],
      [[...lines, ...lines.slice(-1)], /There are more lines/],
      [[...lines.slice(0, -1), { complete: { snapshot_version: 3, map } }], /another input or another key/],
      [[...lines.slice(0, -1), ofOther], /checkpoint is /],
      [[...lines.slice(0, -1), later], /checkpoint is /],
    ];
    for (const [changed, message] of cases) {
      const complaint = expect.stringMatching(message);
      expect(await withKey(changed)).toMatchObject({ exitCode: 1, printed: '', complaint });
    }
    const stale = await operator.publish({}, Date.now() - 7_200_000);
    const old = await linesOf(3, stale);
    expect(await check(old, '--vrf-key', operator.vrfKey)).toMatchObject({ exitCode: 0 });
    expect(await check(old, '--vrf-key', operator.vrfKey, '--max-age', '3600')).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/Too few witnesses/),
    });
  });
});

it('verify proves that a grant is absent, and states what is not proved', async () => {
  const operator = await mapOperator();
  const published = await operator.publish();
  const stream = 'p/bank/organization/acme-corp';
  const subject = { subject_type: 'organization', subject_id: 'acme-corp' };
  const answer = { tenant_id: 'bank', ...subject, stream: 'p', number: 1 };
  const proof = { ...answer, map: await operator.proof(published, stream, 0) };
  const policy = file('policy', operator.policyOf(published));
  const proved = await iss(['verify', file('absence', proof), '--policy', policy, '--vrf-key', operator.vrfKey]);
  expect([proved.exitCode, proved.complaint]).toEqual([0, '']);
  expect(proved.printed).toMatch(/Proved +no grant to bank among the first 1 entries, cosigned by/);
  expect(proved.printed).toMatch(/Not proved:[^]*That no grant on all subjects/);
});

describe('verify of a proof of the newest version', () => {
  const stream = 'v/organization/acme-corp';
  const body = { type: 'snapshot.created', subject_type: 'organization', subject_id: 'acme-corp', snapshot_version: 1 };

  it('requires the VRF key, names the witness, and states what is not proved', async () => {
    const operator = await mapOperator();
    operator.add({ ...body, envelope_hash: 'e', created_at: '2026-01-15T09:30:00.000Z' }, [[stream, 1]]);
    const published = await operator.publish({}, Date.now() - 7_200_000);
    const proof = {
      ...{ subject_type: 'organization', subject_id: 'acme-corp', snapshot_version: 1, as_of_size: published.size },
      head: await operator.entryAt(published, 0),
      map: await operator.proof(published, stream, 1),
    };
    const check = (...more: string[]) =>
      iss(['verify', file('latest', proof), '--policy', file('policy', operator.policyOf(published)), ...more]);
    const proved = await check('--vrf-key', operator.vrfKey);
    expect([proved.exitCode, proved.complaint]).toEqual([0, '']);
    expect(proved.printed).toMatch(
      /Version +1, the newest among the first 2 entries, cosigned by witness\.example\/w at /,
    );
    expect(proved.printed).toMatch(/Not proved:\n {2}- That nothing was logged after these 2 entries/);
    expect(proved.printed).not.toMatch(/That nothing newer exists/);
    const needs = { exitCode: 2, complaint: expect.stringMatching(/needs the VRF key of the log/) };
    expect(await check()).toMatchObject(needs);
    expect(await check('--vrf-key', operator.vrfKey, '--max-age', '3600')).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/Too few witnesses/),
    });
    const another = (await mapOperator()).vrfKey;
    expect(await check('--vrf-key', another)).toMatchObject({ exitCode: 1, printed: '' });
  });
});
