import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leafTextOf } from '@iss/proof';
import { decodeBase64, formatLogProof, leafHash, toHex } from '@iss/tlog';
import { type BundleLine, bundleText, lineageBundle } from '../../../tools/testing/lineage-bundle.ts';
import { mapOperator } from '../../../tools/testing/map-operator.ts';
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

it('a bundle of entries with keys is proved, and refused without a key or with another', async () => {
  await expect(verify(bundleText(made.head, made.lines))).resolves.toMatchObject({ exitCode: 0 });
  for (const keys of [null, [], ['B'.repeat(43)]]) {
    const lines = made.lines.map((one) => (one === line ? { ...one, keys } : one));
    await expect(verify(bundleText(made.head, lines))).resolves.toMatchObject({ exitCode: 1, printed: '' });
  }
});

it('the answer for one entry is proved, and refused without its keys or with other keys', async () => {
  const proved = await verify(answer());
  expect(proved).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/snapshot_version +2\n/) });
  await expect(verify(answer({ keys: null }))).resolves.toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/has keys in the map, but the proof names none/),
  });
  await expect(verify(answer({ keys: ['B'.repeat(43)] }))).resolves.toMatchObject({ exitCode: 1 });
});

it('an entry of the earlier format is refused with keys', async () => {
  const earlier = await lineageBundle(1);
  const [one] = earlier.lines;
  const more = { tree_size: 2, leaf_hash: toHex(leafHash(one?.entry ?? '')), checkpoint: earlier.note };
  const path = file('earlier', { ...answer(), ...one, ...more, keys: [] });
  await expect(iss(['verify', path, '--vkey', earlier.log.vkey])).resolves.toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/has no keys in the map/),
  });
});

it('a proof file has the public text, and the entry beside it must be its body', async () => {
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

describe('a proof of the newest version', () => {
  const stream = 'v/organization/acme-corp';
  const body = { type: 'snapshot.created', subject_type: 'organization', subject_id: 'acme-corp', snapshot_version: 1 };

  it('is proved with the VRF key, names the witness, and says what it does not prove', async () => {
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
