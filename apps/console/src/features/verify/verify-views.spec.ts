/** @jest-environment ./src/testing/environment.cjs */
import { canonicalize } from '@iss/domain/pure';
import { versionStream } from '@iss/map';
import { decodeHash, formatCheckpoint, formatLogProof, generateKeys, leafHash, signNote, toHex } from '@iss/tlog';
import { bundleText, lineageBundle } from '../../../../../tools/testing/lineage-bundle.ts';
import { mapOperator } from '../../../../../tools/testing/map-operator.ts';
import { mappedBundle } from '../../../../../tools/testing/mapped-bundle.ts';
import { signedLog, witness } from '../../../../../tools/testing/signed-log.ts';
import {
  address,
  api,
  checkpoints,
  downloads,
  drawn,
  field,
  fill,
  fireEvent,
  go,
  open,
  press,
  rows,
  see,
  session,
  unsee,
  waitFor,
} from '../../testing/page.tsx';

const TENANT = '/v1/tenants/{tenant_id}';
const OF_SUBJECT = `${TENANT}/subjects/{subject_type}/{subject_id}`;
const PROOF_PAGE = '/t/acme/subjects/organization/acme-corp/proof';
const LOG_PROOF = `GET ${TENANT}/snapshots/{snapshot_id}/log-proof`;
const ORIGIN = 'log.example/iss';

const FORGED = formatCheckpoint({
  ...{ origin: 'log.example/test', size: 6, root: leafHash('another') },
  extensionLines: [],
});

/** Makes the page trust only these keys. */
async function trust(policy: string, button = 'Use keys of my own'): Promise<void> {
  await press(button);
  await fill('Policy or key', policy);
  await press('Trust these keys');
}

/** Chooses a file on the page. */
async function choose(name: string, text: string, file = new File([text], name)): Promise<File> {
  const input = await field('A bundle or a proof');
  Object.defineProperty(input, 'files', { configurable: true, value: [file] });
  fireEvent.change(input);
  return file;
}

/** A log with one version and its map, and the answer that proves that this version is the newest. */
async function newestVersion(hash: string) {
  const subject = { subject_type: 'organization', subject_id: 'acme-corp' };
  const operator = await mapOperator();
  const stream = versionStream(subject.subject_type, subject.subject_id);
  operator.add({ type: 'snapshot.created', ...subject, snapshot_version: 1, envelope_hash: hash }, [[stream, 1]]);
  const published = await operator.publish();
  const map = await operator.proof(published, stream, 1);
  const head = await operator.entryAt(published, 0);
  return { operator, published, stream, answer: { ...subject, snapshot_version: 1, as_of_size: 2, head, map } };
}

describe('the proof of a version', () => {
  const states = (): Record<string, string> =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>('[data-step]')].map(({ dataset }) => [
        dataset['step'] ?? '',
        dataset['state'] ?? '',
      ]),
    );
  const HOLDS = {
    ...{ content: 'holds', chain: 'holds', entry: 'holds', inclusion: 'holds' },
    // The keys come from the service.
    ...{ checkpoint: 'open', witnesses: 'open', consistency: 'open' },
  };

  it('holds, and compares the next checkpoint with the stored one', async () => {
    await open(PROOF_PAGE);
    await see('The recomputed steps hold; 3 steps are open.', 'This browser had kept no checkpoint');
    expect(states()).toEqual(HOLDS);
    expect(checkpoints.get(ORIGIN)).toContain(`${ORIGIN}\n4\n`);
    await open(PROOF_PAGE);
    await see('The recomputed steps hold; 2 steps are open.');
    expect(states()).toEqual({ ...HOLDS, consistency: 'holds' });
    await press('Download proof');
    expect(downloads[0]?.name).toBe('acme-corp.v1.log-proof.json');
  });

  it.each([
    ['content', { attributes: { legal: { legal_name: 'Somebody Else' } } }],
    ['evidence', { evidence: [] }],
  ])('fails for a version with other %s, and stores no checkpoint', async (_what, changes) => {
    api.answer<{ envelope: object }>(`GET ${OF_SUBJECT}/snapshots/{snapshot_version}`, (snapshot) => ({
      ...snapshot,
      envelope: { ...snapshot.envelope, ...changes },
    }));
    await open(PROOF_PAGE);
    await see('One step does not hold: do not trust this version.');
    expect(states()).toEqual({ ...HOLDS, content: 'fails' });
    expect(checkpoints.size).toBe(0);
  });

  it.each([
    [404, 'not_logged_yet'],
    [500, 'internal_error'],
  ])('is open if the log answers %i', async (status) => {
    const message = api.refuse(LOG_PROOF, status);
    await open(PROOF_PAGE);
    await see(message);
    if (status === 500) return;
    expect(states()).toMatchObject({ content: 'holds', entry: 'open', inclusion: 'open', checkpoint: 'open' });
  });

  it('shows the newest version with a trusted VRF key, and offers a download', async () => {
    let hash = '';
    api.answer<{ envelope_hash: string }>(`GET ${OF_SUBJECT}/snapshots/{snapshot_version}`, (snapshot) => {
      hash = snapshot.envelope_hash;
      return snapshot;
    });
    await open(PROOF_PAGE);
    await see('The recomputed steps hold; 3 steps are open.');
    const { operator, published, answer } = await newestVersion(hash);
    const policy = `${operator.policyOf(published)}vrf ${operator.vrfKey}\n`;
    api.answer('GET /log/keys', { policy, vrf_key: operator.vrfKey, map_starts_at: 0 });
    api.reply(`GET ${OF_SUBJECT}/latest-proof`, () => Response.json(answer));
    await open(PROOF_PAGE);
    await see('Key of the map, from this service: VRF+', 'Version 1, the newest among the first 2 entries');
    expect(states()['newest']).toBe('open');
    await trust(operator.policyOf(published));
    await see('Your policy has no key of the map', 'The policy that you trust has no VRF key');
    await trust(policy, 'Change');
    await waitFor(() => expect(states()['newest']).toBe('holds'));
    await press('Download proof of the newest version');
    expect(downloads[0]?.name).toBe('acme-corp.latest-proof.json');
    expect(JSON.parse((await downloads[0]?.blob.text()) ?? '')).toEqual(answer);

    checkpoints.set('log.example/test', (await operator.publish({ last: 'another' })).note);
    await open(PROOF_PAGE);
    await see('The log shows two different trees of 2 entries');
    expect(states()['newest']).toBe('fails');
  });

  it.each([
    [true, 'The log names this version: entry 1', { entry: 'holds', inclusion: 'holds' }],
    [false, 'its erasure is not in the log yet', { entry: 'open', inclusion: 'open' }],
  ])('shows the remaining steps of an erased version (erasure logged: %s)', async (isLogged, said, expected) => {
    const hash = 'a'.repeat(64);
    const version = {
      ...{ snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', snapshot_version: 1 },
      ...{ envelope_hash: hash, prev_hash: null },
    };
    const entry = canonicalize({
      ...{ entry_version: 'iss_log_entry_v1', type: 'subject.erased', tenant_id: 'acme', salt: 's' },
      ...{ subject_type: 'organization', subject_id: 'acme-corp', erased_at: '2026-02-01', erased_indexes: [1] },
      erased_versions: [{ ...version, created_at: '2026-01-01' }],
    });
    const log = await signedLog(['first', 'erased', entry]);
    const proof = {
      ...{ log_index: 1, leaf_hash: toHex(leafHash('erased')), inclusion: await log.inclusion(1) },
      erasure: { entry, log_index: 2, inclusion: await log.inclusion(2), checkpoint: await log.checkpoint() },
    };
    const erased = { erasure_id: 'e-1', erased_at: '2026-02-01T00:00:00.000Z', ...version };
    const gone = (more: object) => (): Response =>
      Response.json(
        { error: { code: 'erased', message: 'Erased.', request_id: 'r-1', erased: { ...erased, ...more } } },
        { status: 410 },
      );
    api.reply(`GET ${OF_SUBJECT}/snapshots/{snapshot_version}`, gone({}));
    api.reply(LOG_PROOF, gone(isLogged ? { proof } : {}));
    await open(PROOF_PAGE);
    await trust(log.vkey);
    await see('The content was erased on purpose. The steps below prove what is left.', said);
    await see('The content of version 1 was erased', hash);
    await waitFor(() => expect(states()).toMatchObject({ content: 'open', chain: 'open', ...expected }));
  });

  it('verifies the whole bundle, and downloads it unchanged', async () => {
    const { log, head, lines } = await lineageBundle(3);
    const text = bundleText(head, lines);
    api.reply(
      `GET ${OF_SUBJECT}/export`,
      () => new Response(text, { headers: { 'Content-Type': 'application/x-ndjson' } }),
    );
    api.reply(`GET ${OF_SUBJECT}/export.ndjson`, () => new Response(text));
    await open(PROOF_PAGE);
    await trust(log.vkey);
    await see('Your own keys');
    await press('Verify every version');
    await see('acme-corp.bundle.ndjson is proved by the keys');
    expect(rows('Lines')).toHaveLength(3);
    await press('Version');
    await press('Version ↑');
    expect(rows('Lines').map(([version]) => version)).toEqual(['3', '2', '1']);
    await press('Download bundle');
    await see('Verify every version');
    expect(await downloads[0]?.blob.text()).toBe(text);
  });
});

describe('a file that is verified without a service', () => {
  let made: Awaited<ReturnType<typeof lineageBundle>>;
  beforeAll(async () => {
    made = await lineageBundle(3);
  });

  it('is proved with a report', async () => {
    const { log, head, lines } = made;
    await open('/verify');
    await trust(log.vkey);
    await choose('acme.ndjson', bundleText(head, lines));
    await see('acme.ndjson is proved by the keys', 'organization acme-corp, of the tenant acme', '1 to 3, complete');
    expect(rows('Lines').map(([version, outcome]) => [version, outcome])).toEqual([
      ['1', '✓ holds'],
      ['2', '✓ holds'],
      ['3', '✓ holds'],
    ]);
    expect(api.calls.filter(({ route }) => route !== 'GET /log/keys')).toEqual([]);
    await press('Show the values of version 2');
    await see('legal / legal_name', 'Acme Corp', 'only the service vouches for them');
    await press('Close');
    await fill('The log entry', 'x');
    await unsee('is proved by the keys');
  });

  it('is replaced by a file that is chosen during its verification', async () => {
    const { log, head, lines } = made;
    await open('/verify');
    await trust(log.vkey);
    const endless = Object.assign(new File([], 'first.ndjson'), { stream: () => new ReadableStream() });
    await choose('first.ndjson', '', endless);
    await see('first.ndjson');
    await choose('second.ndjson', bundleText(head, lines));
    await see('second.ndjson is proved by the keys');
    expect(rows('Lines')).toHaveLength(3);
    await unsee('The task was ended.', 'first.ndjson');
  });

  it('is no longer proved after a change of the trusted keys', async () => {
    const { log, head, lines } = made;
    await open('/verify');
    await trust(log.vkey);
    await choose('acme.ndjson', bundleText(head, lines));
    await see('acme.ndjson is proved by the keys');
    await trust((await generateKeys('log.example/test', 'ed25519')).verifierKey, 'Change');
    await unsee('is proved by the keys');
  });

  it('is only called consistent if the keys come from the service', async () => {
    const { log, head, lines } = made;
    api.answer('GET /log/keys', { policy: `log ${log.vkey}\nquorum none\n` });
    await open('/verify');
    await choose('acme.ndjson', bundleText(head, lines));
    await see('Consistent with the service’s own keys', 'Only the service vouches for them');
    await unsee('Proved');
  });

  it.each([
    ['is compared with an older checkpoint', 2, 'with the checkpoint of 2 entries that you have'],
    ['is refused if an older checkpoint has another history', null, 'The log shows two different trees of 6 entries'],
  ])('%s', async (_what, size, words) => {
    const { log, head, lines } = made;
    const forged = await signNote({ text: FORGED }, [log.signer], Math.floor(Date.UTC(2026, 0, 15) / 1000));
    api.reply('GET /log/consistency', () => new Response(consistency));
    const consistency = JSON.stringify({ from: 2, to: 6, proof: (await log.consistency(2)).proof });
    await open('/verify');
    await trust(log.vkey);
    await fill('Older checkpoint', size === null ? forged : await log.checkpoint(size));
    await choose('acme.ndjson', bundleText(head, lines));
    await see(words);
    expect(api.asked('GET /log/consistency')).toEqual(size === null ? [] : [{ from: '2', to: '6' }]);
  });

  it('is refused if an older checkpoint should already contain it', async () => {
    const { log, head, lines } = made;
    const seen = await witness('witness.example/w');
    await open('/verify');
    await trust(`log ${log.vkey}\n${seen.line}\nquorum none\n`);
    await fill('Older checkpoint', await seen.cosign(await log.checkpoint(2)));
    await choose('acme.ndjson', bundleText(head, lines));
    await see('Refused', 'but not logged at');
  });

  it('is refused at a forged line', async () => {
    const { log, head, lines } = made;
    const [first, second, third] = lines;
    const envelope = { ...second?.snapshot.envelope, attributes: { legal: { legal_name: 'X' } } };
    const forged = { ...second, snapshot: { ...second?.snapshot, envelope } };
    await open('/verify');
    await trust(log.vkey);
    await choose('forged.ndjson', bundleText(head, [first ?? {}, forged, third ?? {}]));
    await see('forged.ndjson failed the verification', 'Line 3, version 2', 'The 1 versions before it hold.');
    expect(rows('Lines').at(-1)?.slice(0, 2)).toEqual(['2', '✗ Refused']);
  });

  it('cannot be read at a line that is not JSON', async () => {
    const { log, head, lines } = made;
    await open('/verify');
    await trust(log.vkey);
    await choose('cut.ndjson', `${bundleText(head, lines.slice(0, 1))}{\n`);
    await see('cut.ndjson cannot be read', 'Line 3, version 2');
    expect(rows('Lines').at(-1)?.slice(0, 2)).toEqual(['2', '✗ Refused']);
  });

  it('shows no values if it changed after its verification', async () => {
    const { log, head, lines } = made;
    const text = bundleText(head, lines);
    await open('/verify');
    await trust(log.vkey);
    const file = await choose('acme.ndjson', text);
    await see('acme.ndjson is proved by the keys');
    file.stream = () => new Blob([text.replaceAll('Acme Corp', 'Somebody Else')]).stream();
    await press('Show the values of version 2');
    await see('The file was changed after it was verified.');
    await unsee('Somebody Else');
  });

  it('is refused with the keys of another log, and an invalid policy is not accepted', async () => {
    const { head, lines } = made;
    const other = await generateKeys('log.example/other', 'ed25519');
    await open('/verify');
    await press('Use keys of my own');
    await fill('Policy or key', 'quorum nobody\n');
    await press('Trust these keys');
    await see('no line before it defines nobody');
    await fill('Policy or key', other.verifierKey);
    await press('Trust these keys');
    await choose('acme.ndjson', bundleText(head, lines));
    await see('The policy does not name the log');
    await press('Remove them');
    await see('The keys that this service shows');
    expect(localStorage).toHaveLength(0);
  });

  it('that was pasted proves one entry, which can be given separately', async () => {
    const { log, note, lines } = made;
    const { entry = '', log_index: index = 0, inclusion = [] } = lines[0] ?? {};
    const hashes = inclusion.map((hash) => decodeHash(hash, 'hash'));
    await open('/verify');
    await trust(log.vkey);
    await see('Your own keys');
    await fill('Bundle or proof', formatLogProof({ extra: null, index, inclusion: hashes, checkpoint: note }));
    await press('Verify the pasted text');
    await see('The proof does not contain its entry');
    await fill('The log entry', entry);
    await press('Verify again');
    await see('The pasted text is proved by the keys');
    await fill('The log entry', entry.replace('acme', 'ecma'));
    await press('Verify again');
    await see('it leads to another root');
  });

  it('that proves the newest version requires a VRF key in the policy', async () => {
    const { operator, published, stream, answer } = await newestVersion('hash');
    await open('/verify');
    await trust(operator.policyOf(published));
    await choose('acme.latest-proof.json', JSON.stringify(answer, null, 2));
    await see('cannot be read as a bundle or a proof', 'needs the VRF key of the log');
    await trust(`${operator.policyOf(published)}vrf ${operator.vrfKey}\n`, 'Change');
    await see(`Key of the map, from your policy: ${operator.vrfKey}`);
    await press('Verify again');
    await see('acme.latest-proof.json is proved by the keys', '1, the newest among the first 2 entries, cosigned by');
    await choose('hidden.json', JSON.stringify({ ...answer, map: await operator.proof(published, stream, 0) }));
    await see('hidden.json failed the verification');
  });

  it('that is a bundle is proved complete with a VRF key', async () => {
    const operator = await mapOperator();
    const { linesOf } = await mappedBundle(operator, 3);
    const published = await operator.publish();
    const { first, lines, last } = await linesOf(published);
    const shortened = await linesOf(published, 2);
    await open('/verify');
    await trust(`${operator.policyOf(published)}vrf ${operator.vrfKey}\n`);
    await choose('acme.ndjson', bundleText(first, [...lines, last]));
    await see(
      'acme.ndjson is proved by the keys',
      'version 3 among the first 4 entries, cosigned by witness.example/w',
    );
    expect(rows('Lines')).toHaveLength(3);
    await choose('shortened.ndjson', bundleText(shortened.first, [...shortened.lines, shortened.last]));
    await see('shortened.ndjson failed the verification');
    await trust(operator.policyOf(published), 'Change');
    await choose('acme.ndjson', bundleText(first, [...lines, last]));
    await see('acme.ndjson is proved by the keys', 'That the last version is the newest.');
  });

  it('that was pasted is refused if it is neither a bundle nor a proof', async () => {
    await open('/verify');
    await fill('Bundle or proof', '{"log_index": "1"}');
    await press('Verify the pasted text');
    await see('The pasted text cannot be read as a bundle or a proof.', 'no member');
  });
});

describe('the log', () => {
  it('shows the newest checkpoint with its signatures', async () => {
    await open('/t/acme/log');
    await see(
      'This browser now keeps this checkpoint of 4 entries',
      'Its signatures satisfy the keys that this service shows.',
    );
    expect(rows('Signatures of the checkpoint').map((cells) => cells.slice(0, 3))).toEqual([
      [expect.stringContaining(ORIGIN), 'the log', '✓ verified'],
      [expect.stringContaining('witness.example/w1'), 'a witness', '✓ verified'],
    ]);
    await waitFor(() => expect(drawn.at(-1)?.data[1]).toEqual([1, 2, 3]));
    await go('/t/acme/subjects');
    await go('/t/acme/log');
    await see('4 entries');
  });

  it.each([
    ['another size', (note: string) => note.replace('\n4\n', '\n5\n'), 'does not verify'],
    ['no signature', (note: string) => note.replace(/\n— .*/gs, '\n'), 'Try again'],
  ])('refuses a checkpoint with %s', async (_what, tamper, words) => {
    api.reply('GET /log/checkpoint', ({ responses }) => {
      const example = responses['200']?.content?.['text/plain']?.example;
      return new Response(tamper(String(example)));
    });
    await open('/t/acme/log');
    await see(words);
    expect(checkpoints.size).toBe(0);
  });

  it.each([
    ['5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', 'agrees with the keys that this service shows'],
    ['0', 'agrees with the keys that this service shows'],
    ['99', 'Entry 99 does not exist or concerns another tenant'],
    ['<b>', 'neither the id of a snapshot nor a whole number'],
  ])('proves or explains the entry named "%s"', async (what, words) => {
    if (what === '99') api.answer(`GET ${TENANT}/changes`, { items: [] });
    await open('/t/acme/log');
    await see('Newest checkpoint', '4');
    await fill('Snapshot id or log index', what);
    fireEvent.submit(await field('Snapshot id or log index'));
    await see(words);
    if (!words.startsWith('agrees')) return;
    await press('Show the proof step by step, with the content');
    await see('Proof of version 1', 'The recomputed steps hold');
    expect(address()).toBe(`${PROOF_PAGE}?version=1`);
  });

  it('is shown without signing in', async () => {
    session.turn('signed_out');
    await open('/log');
    await see('Its signatures satisfy the keys that this service shows.', 'witness.example/w1');
    expect(api.calls.filter(({ route }) => !route.startsWith('GET /log/'))).toEqual([]);
  });

  it.each([
    ['a version', '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', true, 'is proved by the keys that you trust'],
    ['its erasure', '2', true, 'is proved by the keys that you trust'],
    ['a version', '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', false, 'The log does not have the erasure yet.'],
  ])('shows %s as erased, named by %s (erasure in the log: %s)', async (_what, named, isLogged, words) => {
    const snapshotId = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';
    const subject = { subject_type: 'organization', subject_id: 'acme-corp' };
    const left = { snapshot_id: snapshotId, snapshot_version: 1, envelope_hash: 'a'.repeat(64), prev_hash: null };
    const entry = canonicalize({
      ...{ entry_version: 'iss_log_entry_v1', type: 'subject.erased', tenant_id: 'acme', salt: 's', ...subject },
      ...{ erased_at: '2026-02-01T00:00:00.000Z', erased_indexes: [1] },
    });
    const log = await signedLog(['first', 'erased', entry]);
    const erasure = {
      ...{ log_origin: 'log.example/test', entry, log_index: 2, tree_size: 3, leaf_hash: toHex(leafHash(entry)) },
      ...{ inclusion: await log.inclusion(2), checkpoint: await log.checkpoint() },
    };
    const erased = {
      ...{ erasure_id: 'e-1', erased_at: '2026-02-01T00:00:00.000Z', ...left },
      ...(isLogged ? { proof: { log_index: 1, leaf_hash: '', inclusion: [], erasure } } : {}),
    };
    const error = { code: 'erased', message: 'Erased.', request_id: 'r-1', erased };
    api.reply(LOG_PROOF, () => Response.json({ error }, { status: 410 }));
    api.reply(`GET ${TENANT}/changes`, (_operation, { query }) => {
      const index = Number(query['after'] ?? -1) + 1;
      const fact =
        index === 2 ? { type: 'subject.erased', erased_indexes: [1] } : { type: 'snapshot.created', ...left };
      const item = { log_index: index, tenant_id: 'acme', ...subject, ...fact };
      return Response.json({ items: query['limit'] === '1' ? [item] : [], next_after: index, has_more: false });
    });
    await open('/t/acme/log');
    await trust(log.vkey);
    await fill('Snapshot id or log index', named);
    fireEvent.submit(await field('Snapshot id or log index'));
    await see('The content of version 1 was erased', words);
    if (isLogged) await see('Your own keys');
  });
});
