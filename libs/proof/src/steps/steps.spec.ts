import { canonicalize, type JsonObject, type JsonValue } from '@iss/domain/pure';
import { formatCheckpoint, generateKeys, leafHash, parseCheckpoint, parseNote, signNote, toHex } from '@iss/tlog';
import { lineageBundle } from '../../../../tools/testing/lineage-bundle';
import { signedLog, witness } from '../../../../tools/testing/signed-log';
import { leafTextOf } from '../leaf';
import type { Step, VersionEvidence } from './step';
import { prove } from './steps';

const AT = Math.floor(Date.UTC(2026, 0, 15) / 1000);
let made: Awaited<ReturnType<typeof lineageBundle>>;
let seen: Awaited<ReturnType<typeof witness>>;
let cosigned: string;
let policy: string;
/** The key of another log with the same name. */
let stranger: string;

beforeAll(async () => {
  made = await lineageBundle(3);
  seen = await witness('witness.example/w');
  cosigned = await seen.cosign(made.note);
  policy = `log ${made.log.vkey}\n${seen.line}\nquorum witness.example/w\n`;
  stranger = (await generateKeys('log.example/test', 'ed25519')).verifierKey;
});

const ERASURE = {
  ...{ entry_version: 'iss_log_entry_v1', type: 'subject.erased', tenant_id: 'acme', salt: 's' },
  ...{ subject_type: 'organization', subject_id: 'acme-corp', erased_at: '2026-02-01', erased_indexes: [0, 1] },
};
const asJson = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

/** Everything that proves the second of three versions. */
function proofOf(changes: Partial<VersionEvidence> = {}, answer: JsonObject = {}): VersionEvidence {
  const [first, second] = made.lines;
  const leaf = Buffer.from(leafHash(second?.entry ?? '')).toString('hex');
  const { log_index: index, entry, inclusion } = second ?? {};
  return {
    subjectType: 'organization',
    subjectId: 'acme-corp',
    version: 2,
    snapshot: asJson(second?.snapshot),
    previous: { got: asJson(first?.snapshot) },
    proof: {
      got: { ...asJson({ log_index: index, entry, inclusion }), leaf_hash: leaf, checkpoint: cosigned, ...answer },
    },
    trusted: policy,
    isTrustOfService: false,
    kept: cosigned,
    consistency: null,
    ...changes,
  };
}

async function stepsOf(proof: VersionEvidence): Promise<Step[]> {
  const steps: Step[] = [];
  for await (const step of prove(proof)) steps.push(step);
  return steps;
}
const statesOf = async (proof: VersionEvidence): Promise<Record<string, string>> =>
  Object.fromEntries((await stepsOf(proof)).map(({ name, state }) => [name, state]));

const HOLDS = {
  ...{ content: 'holds', chain: 'holds', entry: 'holds', inclusion: 'holds' },
  ...{ checkpoint: 'holds', witnesses: 'holds', consistency: 'holds' },
};
const OPEN = { entry: 'open', inclusion: 'open', checkpoint: 'open', witnesses: 'open', consistency: 'open' };

describe('an entry with keys in the map', () => {
  let keyed: typeof made;
  let cosignedKeyed: string;

  beforeAll(async () => {
    keyed = await lineageBundle(3, true);
    cosignedKeyed = await seen.cosign(keyed.note);
  });

  function keyedProof(answer: JsonObject = {}, leafText?: string): VersionEvidence {
    const [first, second] = keyed.lines;
    const { log_index, entry = '', keys = null, inclusion } = second ?? {};
    const leaf_hash = toHex(leafHash(leafText ?? leafTextOf({ entry, keys })));
    const got = { ...asJson({ log_index, entry, keys, inclusion }), leaf_hash, checkpoint: cosignedKeyed, ...answer };
    const snapshots = { snapshot: asJson(second?.snapshot), previous: { got: asJson(first?.snapshot) } };
    const trusted = `log ${keyed.log.vkey}\n${seen.line}\nquorum witness.example/w\n`;
    return proofOf({ ...snapshots, proof: { got }, trusted, kept: cosignedKeyed });
  }

  it('is proved by its public text', async () => {
    await expect(statesOf(keyedProof())).resolves.toEqual(HOLDS);
  });

  it.each<[string, () => VersionEvidence, Record<string, string>]>([
    ['without its keys', () => keyedProof({ keys: null }), { entry: 'fails', inclusion: 'fails' }],
    ['with an empty list of keys', () => keyedProof({ keys: [] }), { entry: 'fails', inclusion: 'fails' }],
    [
      'with a key of another entry',
      () => keyedProof({ keys: ['A'.repeat(43)] }),
      { entry: 'fails', inclusion: 'fails' },
    ],
    ['with keys that are not texts', () => keyedProof({ keys: [1] }), { entry: 'fails', inclusion: 'fails' }],
    [
      'with its public text as the entry',
      () => {
        const { entry = '', keys = null } = keyed.lines[1] ?? {};
        return keyedProof({ entry: leafTextOf({ entry, keys }), keys: null });
      },
      { entry: 'fails' },
    ],
  ])('is refused %s', async (_what, make, expected) => {
    await expect(statesOf(make())).resolves.toEqual({ ...HOLDS, ...expected });
  });

  it('is refused with keys if it has the earlier format', async () => {
    const states = await statesOf(proofOf({}, { keys: ['A'.repeat(43)] }));
    expect(states).toEqual({ ...HOLDS, entry: 'fails', inclusion: 'fails' });
  });
});
const change = (value: JsonValue, changes: JsonObject): JsonObject => ({ ...asJson(value), ...changes });

const headerOf = (snapshot: JsonValue): JsonObject =>
  Object.fromEntries(Object.entries(asJson(snapshot)).filter(([name]) => name !== 'envelope'));

it('all steps hold for an honest answer', async () => {
  await expect(statesOf(proofOf())).resolves.toEqual(HOLDS);
});

it.each<[string, () => VersionEvidence, Record<string, string>]>([
  ['another version', () => proofOf({ version: 3 }), { content: 'fails', entry: 'fails' }],
  ['another subject', () => proofOf({ subjectId: 'other' }), { content: 'fails', entry: 'fails' }],
  ['another type', () => proofOf({ subjectType: 'entity' }), { content: 'fails', entry: 'fails' }],
  ['changed content', () => proofOf({ snapshot: change(proofOf().snapshot, { envelope: {} }) }), { content: 'fails' }],
  ['another time', () => proofOf({ snapshot: change(proofOf().snapshot, { created_at: 'x' }) }), { entry: 'fails' }],
  [
    'another previous hash',
    () => proofOf({ snapshot: change(proofOf().snapshot, { prev_hash: 'x' }) }),
    { chain: 'fails', entry: 'fails' },
  ],
  ['no content', () => proofOf({ snapshot: headerOf(proofOf().snapshot) }), { content: 'open', chain: 'open' }],
  [
    'no hash',
    () => proofOf({ snapshot: change(proofOf().snapshot, { envelope_hash: null }) }),
    { content: 'open', entry: 'fails' },
  ],
  ['a changed previous version', () => proofOf({ previous: { got: { envelope: {} } } }), { chain: 'fails' }],
  [
    'an erased previous version',
    () => proofOf({ previous: { got: { envelope_hash: asJson(made.lines[0]?.snapshot)['envelope_hash'] ?? null } } }),
    { chain: 'open' },
  ],
  ['an unread previous version', () => proofOf({ previous: { not: 'No.' } }), { chain: 'open' }],
  ['a first version with a prev_hash', () => proofOf({ previous: null }), { chain: 'fails' }],
  ['no proof', () => proofOf({ proof: { not: 'No.' } }), OPEN],
  ['no checkpoint', () => proofOf({}, { checkpoint: null }), { ...OPEN, entry: 'holds' }],
  [
    'an entry that is not canonical',
    () => proofOf({}, { entry: ` ${made.lines[1]?.entry}` }),
    { entry: 'fails', inclusion: 'fails' },
  ],
  ['another leaf', () => proofOf({}, { leaf_hash: 'x' }), { entry: 'fails' }],
  ['another log index', () => proofOf({}, { log_index: 0 }), { inclusion: 'fails' }],
  ['an empty inclusion proof', () => proofOf({}, { inclusion: [] }), { inclusion: 'fails' }],
  [
    'the key of another log',
    () => proofOf({ trusted: stranger, kept: null }),
    { checkpoint: 'fails', witnesses: 'open', consistency: 'open' },
  ],
  ['no witness', () => proofOf({ trusted: made.log.vkey }), { witnesses: 'open' }],
  ['no cosignature', () => proofOf({}, { checkpoint: made.note }), { witnesses: 'fails' }],
  ['no stored checkpoint', () => proofOf({ kept: null }), { consistency: 'open' }],
  ['a stored checkpoint that is not a note', () => proofOf({ kept: 'x' }), { consistency: 'open' }],
])('%s changes only the steps that it concerns', async (_what, make, expected) => {
  await expect(statesOf(make())).resolves.toEqual({ ...HOLDS, ...expected });
});

it.each([
  ['the service', true, 'open', /Use independent keys/],
  ['the reader', false, 'holds', /^log\.example\/test signed it\.$/],
])('the checkpoint step depends on who chose the key: %s', async (_whose, isTrustOfService, state, expected) => {
  const steps = await stepsOf(proofOf({ isTrustOfService }));
  const step = steps.find(({ name }) => name === 'checkpoint');
  expect(step).toMatchObject({ state, why: expect.stringMatching(expected) });
});

/** The members by which the entry of an erasure names the second version. */
const namedOf = (snapshot: JsonObject): JsonObject =>
  Object.fromEntries(
    ['snapshot_id', 'snapshot_version', 'envelope_hash', 'prev_hash', 'created_at'].map((name) => [
      name,
      snapshot[name] ?? null,
    ]),
  );

it.each<[string, (erasure: JsonObject) => JsonObject, Record<string, string>, JsonObject | null]>([
  ['of an erased version that an earlier release logged', (erasure) => erasure, {}, null],
  ['of an erased version', (erasure) => erasure, { entry: 'holds' }, {}],
  ['of another erased version', (erasure) => erasure, { entry: 'fails' }, { envelope_hash: 'x' }],
  [
    'of another erasure',
    (erasure) => ({ ...erasure, entry: String(erasure['entry']).replace('[0,1]', '[0,3]') }),
    { entry: 'fails', inclusion: 'fails' },
    null,
  ],
  ['of an erasure that is not in the log', (erasure) => ({ ...erasure, inclusion: [] }), { inclusion: 'fails' }, null],
])('each step has the right state for the proof %s', async (_what, change, expected, named) => {
  const [first = {}, second = {}] = made.lines.map(({ snapshot }) => namedOf(asJson(snapshot)));
  const versions = named === null ? {} : { erased_versions: [first, { ...second, ...named }] };
  const [erasure, leaf] = [canonicalize({ ...ERASURE, ...versions }), Buffer.from(leafHash('erased')).toString('hex')];
  const log = await signedLog(['first', 'erased', erasure]);
  const note = await seen.cosign(await log.checkpoint());
  const proof = {
    ...{ log_index: 1, leaf_hash: leaf, inclusion: await log.inclusion(1) },
    erasure: change({ entry: erasure, log_index: 2, inclusion: await log.inclusion(2), checkpoint: note }),
  };
  const trusted = `log ${log.vkey}\n${seen.line}\nquorum witness.example/w\n`;
  const snapshot = headerOf(proofOf().snapshot);
  await expect(statesOf(proofOf({ snapshot, trusted, kept: null, proof: { got: proof } }))).resolves.toEqual({
    ...HOLDS,
    ...{ content: 'open', chain: 'open', entry: 'open', consistency: 'open' },
    ...expected,
  });
});

it('the consistency step fails for two trees of one size, and for growth without a proof', async () => {
  const { size, origin } = parseCheckpoint(parseNote(made.note).text);
  const note = async (text: string): Promise<string> => seen.cosign(await signNote({ text }, [made.log.signer], AT));
  const forked = await note(formatCheckpoint({ origin, size, root: leafHash('another'), extensionLines: [] }));
  await expect(statesOf(proofOf({ kept: forked }))).resolves.toEqual({ ...HOLDS, consistency: 'fails' });
  const older = await seen.cosign(await made.log.checkpoint(2));
  const { proof } = await made.log.consistency(2);
  await expect(statesOf(proofOf({ kept: older, consistency: { got: proof } }))).resolves.toEqual(HOLDS);
  for (const consistency of [{ got: [] }, { not: 'No.' }, null]) {
    await expect(statesOf(proofOf({ kept: older, consistency }))).resolves.toEqual({ ...HOLDS, consistency: 'fails' });
  }
});
