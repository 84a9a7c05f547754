import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalize, seal } from '@iss/domain';
import { decodeBase64, encodeBase64, formatLogProof, leafHash, toHex } from '@iss/tlog';
import { type BundleLine, bundleText, lineageBundle } from '../../../tools/testing/lineage-bundle.ts';
import { iss } from './testing/run-iss';
import { ORIGIN, signedLog, witness } from '../../../tools/testing/signed-log.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'iss-verify-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | object): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const at = <T>(list: readonly T[], index: number): T => {
  const found = list[index];
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
};

describe('verify of a bundle', () => {
  let made: Awaited<ReturnType<typeof lineageBundle>>;
  beforeAll(async () => {
    made = await lineageBundle(3);
  });

  const verify = (head: object, lines: readonly object[], ...more: string[]) =>
    iss(['verify', file('bundle.ndjson', bundleText(head, lines)), '--vkey', made.log.vkey, ...more]);

  it('prints what is proved and what is not', async () => {
    const { exitCode, printed, complaint } = await verify(made.head, made.lines);
    expect([exitCode, complaint]).toEqual([0, '']);
    expect(printed).toMatch(/^Proved: .*bundle\.ndjson\n/);
    expect(printed).toMatch(/Subject +organization acme-corp, of the tenant acme\n/);
    expect(printed).toMatch(/Versions +1 to 3, complete/);
    expect(printed).toMatch(/Written by +oidc:p#alice/);
    expect(printed).toMatch(/Log +log\.example\/test, 6 entries, root /);
    expect(printed).toMatch(/Signed by +log\.example\/test\+[0-9a-f]{8} \(Ed25519\)\n/);
    expect(printed).toMatch(/Not proved:\n {2}- That nothing newer exists/);
    expect(printed).toMatch(/No trusted witness saw this checkpoint/);
    expect(printed.split('\n').length).toBeLessThan(24);
    const json = JSON.parse((await verify(made.head, made.lines, '--json')).printed);
    expect(json).toMatchObject({ verified: true, kind: 'bundle', versions: 3, log_origin: ORIGIN, tree_size: 6 });
  });

  const change = (index: number, by: (line: BundleLine) => object) => (lines: readonly BundleLine[]) =>
    lines.map((line, place) => (place === index ? { ...line, ...by(line) } : line));
  const snapshotWith = (index: number, members: object) =>
    change(index, ({ snapshot }) => ({ snapshot: { ...snapshot, ...members } }));
  const forgedEnvelope = (line: BundleLine) => ({
    ...line.snapshot.envelope,
    attributes: { legal: { legal_name: 'X' } },
  });

  it.each<[string, (lines: readonly BundleLine[]) => object[], RegExp]>([
    ['the newest version is missing', (lines) => lines.slice(0, 2), /names 3 versions, but there are 2/],
    [
      'a version in the middle is missing',
      ([a, , c]) => [a ?? {}, c ?? {}],
      /Version 2, in line 3, the snapshot’s version is 3/,
    ],
    ['two versions are swapped', ([a, b, c]) => [b ?? {}, a ?? {}, c ?? {}], /Version 1, .* version is 2 instead of 1/],
    ['a line is repeated', (lines) => [...lines, at(lines, 2)], /There are more lines than the 3 versions/],
    [
      'an envelope is changed',
      change(1, (l) => ({ snapshot: { ...l.snapshot, envelope: forgedEnvelope(l) } })),
      /Version 2, .* SHA-256 of the envelope is/,
    ],
    [
      'an envelope is changed together with its hash',
      change(1, (l) => {
        const envelope = forgedEnvelope(l);
        const { hash } = seal(JSON.parse(JSON.stringify(envelope)));
        return { snapshot: { ...l.snapshot, envelope, envelope_hash: hash } };
      }),
      /Version 2, .* the entry’s envelope_hash is/,
    ],
    [
      'an envelope is changed together with its hash and entry',
      change(2, (l) => {
        const envelope = forgedEnvelope(l);
        const { hash } = seal(JSON.parse(JSON.stringify(envelope)));
        const entry = l.entry.replace(/"envelope_hash":"[0-9a-f]*"/, `"envelope_hash":"${hash}"`);
        return { snapshot: { ...l.snapshot, envelope, envelope_hash: hash }, entry };
      }),
      /Version 3, .* its proof: The inclusion proof does not hold/,
    ],
    [
      'created_at is back-dated',
      snapshotWith(1, { created_at: '2020-01-01T00:00:00.000Z' }),
      /Version 2, .* entry’s created_at/,
    ],
    [
      'a change is relabelled as a correction',
      snapshotWith(1, { change_kind: 'correction' }),
      /change_kind is change instead of correction/,
    ],
    ['the writer is changed', snapshotWith(1, { written_by: 'oidc:p#eve' }), /Version 2, .* entry’s written_by is/],
    [
      'the write request is changed',
      snapshotWith(1, { write_request_id: 'request-2' }),
      /Version 2, .* entry’s write_request_id is/,
    ],
    [
      'generated_at is changed',
      snapshotWith(1, { generated_at: '2026-01-16T09:30:00Z' }),
      /Version 2, .* the envelope’s generated_at is/,
    ],
    ['prev_hash is removed', snapshotWith(1, { prev_hash: null }), /Version 2, .* prev_hash is null/],
    [
      'the subject is changed',
      snapshotWith(0, { subject: { subject_type: 'organization', subject_id: 'other' } }),
      /Version 1, .* subject_id is other/,
    ],
    ['the index is changed', change(1, (l) => ({ log_index: l.log_index + 1 })), /Version 2, .* its proof/],
    ['the index is beyond the tree', change(2, () => ({ log_index: 99 })), /Version 3, .* its proof/],
    [
      'two versions name the same entry',
      change(1, ({ log_index: index }) => ({ log_index: index - 2 })),
      /Version 2, .* its entry 1 is of another version/,
    ],
    ['the proof is truncated', change(0, (l) => ({ inclusion: l.inclusion.slice(1) })), /too short/],
    ['the proof is extended', change(0, (l) => ({ inclusion: [...l.inclusion, at(l.inclusion, 0)] })), /too long/],
    ['hashes of the proof are swapped', change(0, (l) => ({ inclusion: [...l.inclusion].reverse() })), /another root/],
    ['the entry is not canonical', change(0, (l) => ({ entry: l.entry.replace('{', '{ ') })), /not RFC 8785 text/],
  ])('refuses it if %s', async (_, damage, complaint) => {
    const refused = await verify(made.head, damage(made.lines));
    expect(refused.complaint).toMatch(complaint);
    expect(refused.complaint).toMatch(/^Refused: /);
    expect(refused).toMatchObject({ exitCode: 1, printed: '' });
  });

  it.each<[string, object, RegExp]>([
    ['names fewer versions than there are', { versions: 2, head_version: 2 }, /more lines than the 2 versions/],
    ['names a newer head version', { head_version: 4 }, /3 versions, but the newest is 4/],
    ['names another log', { log_origin: 'log.example/other' }, /names another log than its checkpoint/],
  ])('refuses it if its first line %s', async (_, members, complaint) => {
    const refused = await verify({ ...made.head, ...members }, made.lines);
    expect(refused.exitCode).toBe(1);
    expect(refused.complaint).toMatch(complaint);
  });

  it('hides the data of an erased version that the erasure entry does not name', async () => {
    const snapshot: Record<string, unknown> = { ...at(made.lines, 0).snapshot };
    delete snapshot['envelope'];
    const entry = canonicalize({
      ...{ entry_version: 'iss_log_entry_v1', type: 'subject.erased', tenant_id: 'acme', salt: 's' },
      ...{ subject_type: 'organization', subject_id: 'acme-corp', erased_at: '2026-02-01', erased_indexes: [1] },
    });
    const log = await signedLog(['first', 'erased', entry]);
    const line = {
      ...{ snapshot, log_index: 1, leaf_hash: toHex(leafHash('erased')), inclusion: await log.inclusion(1) },
      erased: { entry, log_index: 2, inclusion: await log.inclusion(2) },
    };
    const bundle = bundleText({ ...made.head, checkpoint: await log.checkpoint(), versions: 1, head_version: 1 }, [
      line,
    ]);
    for (const more of [[], ['--json']]) {
      const words = ['verify', file('bundle.ndjson', bundle), '--vkey', log.vkey, ...more];
      const { exitCode, printed, complaint } = await iss(words);
      expect([exitCode, complaint]).toEqual([0, '']);
      for (const name of ['snapshot_id', 'envelope_hash', 'created_at'])
        expect(printed).not.toContain(String(snapshot[name]));
    }
  });

  it('refuses a checkpoint that an untrusted key signed', async () => {
    const other = await lineageBundle(3);
    const refused = await verify(other.head, other.lines);
    expect(refused).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/No known key/) });
    expect(JSON.parse((await verify(other.head, other.lines, '--json')).printed)).toMatchObject({ verified: false });
  });

  it('refuses a bundle of another log, and a changed checkpoint', async () => {
    const { vkey } = await signedLog(['a'], 'log.example/other');
    const path = file('b', bundleText(made.head, made.lines));
    expect(await iss(['verify', path, '--vkey', vkey])).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/The policy does not name the log/),
    });
    const forged = made.note.replace(/\n6\n/, '\n7\n');
    expect((await verify({ ...made.head, checkpoint: forged }, made.lines)).complaint).toMatch(/does not verify/);
  });

  it('requires the quorum of the policy, prints its times, and refuses a future time', async () => {
    const [one, two] = [await witness('one.example'), await witness('two.example')];
    const policy = file(
      'policy',
      `log ${made.log.vkey}\n${one.line}\n${two.line}\ngroup both all one.example two.example\nquorum both\n`,
    );
    const check = (checkpoint: string) =>
      iss(['verify', file('b', bundleText({ ...made.head, checkpoint }, made.lines)), '--policy', policy]);
    expect((await check(await one.cosign(made.note))).complaint).toMatch(
      /The policy requires both; cosigned by: one\.example/,
    );
    const time = Date.UTC(2026, 0, 15, 10, 0);
    const { exitCode, printed } = await check(await two.cosign(await one.cosign(made.note, time), time + 60_000));
    expect(exitCode).toBe(0);
    expect(printed).toMatch(/Witnessed by +one\.example, one\.example\+\S+, 2026-01-15T10:00:00Z/);
    expect(printed).toMatch(/everything was in the log by 2026-01-15T10:00:00Z/);
    expect(printed).not.toMatch(/That everybody is shown the same log/);
    const future = await check(await two.cosign(await one.cosign(made.note), Date.now() + 3_600_000));
    expect(future).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(/in the future/) });
  });

  it('with --max-age, requires that a quorum of witnesses dated the checkpoint recently', async () => {
    const [one, two] = [await witness('one.example'), await witness('two.example')];
    const policyOf = (threshold: string) =>
      file(
        'policy',
        `log ${made.log.vkey}\n${one.line}\n${two.line}\ngroup g ${threshold} one.example two.example\nquorum g\n`,
      );
    const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000;
    const stale = await two.cosign(await one.cosign(made.note, hoursAgo(1)), hoursAgo(3));
    const check = (checkpoint: string, trust: string[], seconds: string) =>
      iss(['verify', file('b', bundleText({ ...made.head, checkpoint }, made.lines)), ...trust, '--max-age', seconds]);
    const refused = { exitCode: 1, printed: '' };
    expect(await check(stale, ['--policy', policyOf('any')], '7200')).toMatchObject({ exitCode: 0 });
    expect(await check(stale, ['--policy', policyOf('all')], '14400')).toMatchObject({ exitCode: 0 });
    const tooFew = await check(stale, ['--policy', policyOf('all')], '7200');
    expect(tooFew).toMatchObject({ ...refused, complaint: expect.stringMatching(/Too few witnesses .* 7200 seconds/) });
    expect(await check(stale, ['--policy', policyOf('any')], '1800')).toMatchObject(refused);
    const undated = await check(made.note, ['--vkey', made.log.vkey], '7200');
    expect(undated).toMatchObject({ ...refused, complaint: expect.stringMatching(/No trusted witness dated/) });
    expect(await check(stale, ['--policy', policyOf('any')], '0')).toMatchObject({ exitCode: 2 });
  });

  it('accepts an older checkpoint with its proof, and refuses one of another history', async () => {
    const path = file('b', bundleText(made.head, made.lines));
    const since = (note: string, proof: object) =>
      iss(['verify', path, '--vkey', made.log.vkey, '--since', file('since', note), '--proof', file('proof', proof)]);
    const older = await made.log.checkpoint(3);
    const consistent = await since(older, await made.log.consistency(3));
    expect(consistent.exitCode).toBe(0);
    expect(consistent.printed).toMatch(/Consistent +with the checkpoint of 3 entries that you have/);
    expect((await since(older, await made.log.consistency(2))).exitCode).toBe(1);
    const other = await signedLog(made.entries.map((entry) => `${entry} `));
    const forged = await other.checkpoint(3, [made.log.signer]);
    expect((await since(forged, await made.log.consistency(3))).complaint).toMatch(/leads to another older root/);
    expect((await since(await other.checkpoint(3), await made.log.consistency(3))).complaint).toMatch(/No known key/);
  });

  it('compares a checkpoint of the same size without a proof', async () => {
    const path = file('b', bundleText(made.head, made.lines));
    const since = (note: string) => iss(['verify', path, '--vkey', made.log.vkey, '--since', file('since', note)]);
    expect(await since(made.note)).toMatchObject({ exitCode: 0 });
    const other = await signedLog(made.entries.map((entry) => `${entry} `));
    expect(await since(await other.checkpoint(6, [made.log.signer]))).toMatchObject({ exitCode: 1 });
  });

  it('refuses a version that is older than a known checkpoint but not in it', async () => {
    const [one, two] = [await witness('one.example'), await witness('two.example')];
    const policy = file('policy', `log ${made.log.vkey}\n${one.line}\n${two.line}\nquorum one.example\n`);
    const head = { ...made.head, checkpoint: await one.cosign(made.note) };
    const path = file('b', bundleText(head, made.lines));
    // The versions are from half past nine. The last one is not in the checkpoint of five entries.
    const check = async (at: number, otherAt?: number) => {
      const note = await one.cosign(await made.log.checkpoint(5), at);
      const since = file('since', otherAt === undefined ? note : await two.cosign(note, otherAt));
      const proof = file('proof', await made.log.consistency(5));
      return iss(['verify', path, '--policy', policy, '--since', since, '--proof', proof]);
    };
    expect(await check(Date.UTC(2026, 0, 15, 10))).toMatchObject({ exitCode: 0 });
    // The earliest signature dates the checkpoint.
    expect(await check(Date.UTC(2026, 0, 15, 11), Date.UTC(2026, 0, 15, 10))).toMatchObject({ exitCode: 0 });
    expect(await check(Date.UTC(2026, 0, 15, 11))).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/Version 3, .* but not logged at 2026-01-15T11:00:00\.000Z/),
    });
  });

  it('fetches the consistency proof from the log', async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      made.log.consistency(3).then(
        (proof) => response.end(JSON.stringify(proof)),
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const since = ['--since', file('since', await made.log.checkpoint(3)), '--log', `http://127.0.0.1:${port}/log/`];
      expect(await verify(made.head, made.lines, ...since)).toMatchObject({ exitCode: 0 });
      expect(asked).toEqual(['/log/consistency?from=3&to=6']);
    } finally {
      server.close();
      server.closeAllConnections();
    }
    const since = ['--since', file('since', await made.log.checkpoint(3)), '--log', 'http://127.0.0.1:1/log'];
    expect((await verify(made.head, made.lines, ...since)).complaint).toMatch(/cannot be fetched/);
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['an empty file', () => '', /is empty/],
    ['a text that is not JSON', () => 'hello\n', /is not JSON/],
    ['a list', () => '[]\n', /is not a JSON object/],
    [
      'an unknown format',
      (text) => text.replace('iss_bundle_v1', 'iss_bundle_v9'),
      /The format of the bundle is unknown/,
    ],
    ['a cut line', (text) => text.slice(0, -100), /Version 3, in line 4, is not JSON/],
    ['an empty line', (text) => `${text}\n`, /Version 4|more lines/],
    ['a repeated member', (text) => text.replace('"log_index":1', '"log_index":1,"log_index":1'), /occurs twice/],
    [
      'a negative index',
      (text) => text.replace('"log_index":1,', '"log_index":-1,'),
      /log_index is not a whole number/,
    ],
    ['a missing entry', (text) => text.replace('"entry":', '"entri":'), /has no member entry/],
    ['a proof that is not base64', (text) => text.replace(/"inclusion":\["./, '"inclusion":["*'), /not padded base64/],
  ])('refuses %s in one line', async (_, damage, complaint) => {
    const path = file('b', damage(bundleText(made.head, made.lines)));
    const { exitCode, ...said } = await iss(['verify', path, '--vkey', made.log.vkey]);
    expect(said.complaint).toMatch(complaint);
    expect(exitCode).toBeGreaterThan(0);
    expect(said.complaint.split('\n')).toHaveLength(1);
  });

  it('exits with 2 without a trusted key or with wrong options', async () => {
    const path = file('b', bundleText(made.head, made.lines));
    for (const [words, complaint] of [
      [['verify', path], /^Name the trusted keys: --policy FILE/],
      [['verify', path, '--policy', join(folder, 'none')], /cannot be read \(ENOENT\)/],
      [['verify', path, '--policy', path], /The policy cannot be read|Line 1 of the policy/],
      [['verify', path, '--vkey', 'key'], /Not a verifier key/],
      [['verify', path, '--vkey', made.log.vkey, '--policy', path], /^--policy and --vkey exclude/],
      [['verify', '--vkey', made.log.vkey], /Missing required argument 'FILE'/],
      [['verify', join(folder, 'none'), '--vkey', made.log.vkey], /cannot be read \(ENOENT\)/],
      [['verify', folder, '--vkey', made.log.vkey], /cannot be read \(EISDIR\)/],
      [
        ['verify', path, '--vkey', made.log.vkey, '--since', file('s', await made.log.checkpoint(3))],
        /needs a consistency proof/,
      ],
      [['verify', path, '--vkey', made.log.vkey, '--proof', path], /apply to --since/],
    ] as const) {
      const outcome = await iss(words);
      expect(outcome.complaint).toMatch(complaint);
      expect(outcome).toMatchObject({ exitCode: 2, printed: '' });
    }
  });
});

describe('verify of a proof of one entry', () => {
  const entry = '{"salt":"AAAA","scopes":["read_latest"],"type":"grant.created"}';

  async function proofOf(place: number, entries: readonly string[]) {
    const log = await signedLog(entries);
    const inclusion = (await log.inclusion(place)).map((hash) => decodeBase64(hash, 'hash'));
    const checkpoint = await log.checkpoint();
    const text = (extra: string | null) =>
      formatLogProof({ extra: extra === null ? null : Buffer.from(extra), index: place, inclusion, checkpoint });
    const answer = {
      log_origin: ORIGIN,
      log_index: place,
      tree_size: entries.length,
      leaf_hash: toHex(leafHash(entries[place] ?? '')),
      entry: entries[place],
      inclusion: inclusion.map(encodeBase64),
      checkpoint,
    };
    return { log, text, answer };
  }

  it('escapes control characters of the entry in its report', async () => {
    const hostile = JSON.stringify({
      type: 'x\n  Witnessed by      the whole world',
      ['\u001b[2J']: '\u202egnp',
      long: 'y'.repeat(9_000),
    });
    const { log, text } = await proofOf(0, [hostile]);
    const { exitCode, printed } = await iss(['verify', file('p', text(hostile)), '--vkey', log.vkey]);
    expect(exitCode).toBe(0);
    expect(printed).toContain('x\\u000a  Witnessed by');
    expect(printed).not.toMatch(/^ +Witnessed by/m);
    expect(printed).not.toMatch(/[\u001b\u202e]/);
    expect(printed.length).toBeLessThan(6_000);
  });

  it('accepts a file with its entry, a file with --entry, and the answer of the gateway', async () => {
    const { log, text, answer } = await proofOf(1, ['a', entry, 'c']);
    const trust = ['--vkey', log.vkey];
    const { exitCode, printed } = await iss(['verify', file('p', text(entry)), ...trust]);
    expect(exitCode).toBe(0);
    expect(printed).toMatch(/Entry +1 of the log:\n +scopes +\["read_latest"\]\n +type +grant\.created\n/);
    expect(printed).not.toMatch(/salt/);
    const beside = ['--entry', file('e', entry)];
    expect((await iss(['verify', file('p', text(null)), ...trust, ...beside])).exitCode).toBe(0);
    expect(await iss(['verify', file('p', text(null)), ...trust])).toMatchObject({
      exitCode: 2,
      complaint: expect.stringMatching(/--entry FILE/),
    });
    for (const json of [JSON.stringify(answer), JSON.stringify(answer, null, 2)]) {
      expect((await iss(['verify', file('p', json), ...trust])).exitCode).toBe(0);
    }
    expect(JSON.parse((await iss(['verify', file('p', text(entry)), ...trust, '--json'])).printed)).toMatchObject({
      verified: true,
      kind: 'entry',
      log_index: 1,
      entry,
    });
  });

  it('refuses another entry, index, size, leaf hash or log', async () => {
    const { log, text, answer } = await proofOf(1, ['a', entry, 'c']);
    const trust = ['--vkey', log.vkey];
    const refuses = async (content: string | object, ...more: string[]) => {
      const outcome = await iss(['verify', file('p', content), ...trust, ...more]);
      expect(outcome).toMatchObject({ exitCode: 1, printed: '' });
      return outcome.complaint;
    };
    expect(await refuses(text(entry), '--entry', file('e', `${entry}\n`))).toMatch(/another root/);
    expect(await refuses(text(entry.replace('latest', 'lineage')))).toMatch(/another root/);
    expect(await refuses({ ...answer, log_index: 0 })).toMatch(/another root|does not hold/);
    expect(await refuses({ ...answer, log_index: 3 })).toMatch(/index of the leaf is 3/);
    expect(await refuses({ ...answer, checkpoint: await log.checkpoint(2) })).toMatch(/does not hold/);
    expect(await refuses({ ...answer, tree_size: 2 })).toMatch(/tree_size is 2 instead of 3/);
    expect(await refuses({ ...answer, leaf_hash: 'aa' })).toMatch(/leaf_hash is aa/);
    const other = await proofOf(1, ['a', entry, 'c']);
    expect(await refuses(other.text(entry))).toMatch(/No known key/);
    expect(await iss(['verify', file('p', { ...answer, checkpoint: null }), ...trust])).toMatchObject({ exitCode: 2 });
    expect(await iss(['verify', file('p', text(entry).slice(0, 60)), ...trust])).toMatchObject({ exitCode: 2 });
  });
});
