import { versionStream } from '@iss/map';
import type { JsonObject } from '@iss/domain/pure';
import { mapOperator, type MapOperator, type Published } from '../../../../tools/testing/map-operator';
import type { Step } from '../steps/step';
import { type NewestEvidence, proveNewestVersion } from './newest-step';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const STREAM = versionStream(SUBJECT.subject_type, SUBJECT.subject_id);
const VERSIONS = 3;

let operator: MapOperator;
let published: Published;

beforeAll(async () => {
  operator = await mapOperator();
  for (let version = 1; version <= VERSIONS; version++) {
    const body = { ...SUBJECT, type: 'snapshot.created', snapshot_version: version, envelope_hash: `hash ${version}` };
    operator.add({ ...body, created_at: '2026-01-15T09:30:00.000Z' }, [[STREAM, version]]);
  }
  published = await operator.publish({}, Date.UTC(2026, 0, 15, 14, 3));
});

const policyOf = (vrfKey = operator.vrfKey): string => `${operator.policyOf(published)}vrf ${vrfKey}\n`;

/** Everything that proves the step for a shown version, where the service answers that `newest` is the newest one. */
async function evidenceOf(
  shown: number,
  newest: number,
  changes: Partial<NewestEvidence> = {},
): Promise<NewestEvidence> {
  const answer: JsonObject = JSON.parse(
    JSON.stringify({
      ...{ ...SUBJECT, snapshot_version: newest, as_of_size: published.size },
      ...{ head: await operator.entryAt(published, newest - 1), map: await operator.proof(published, STREAM, newest) },
    }),
  );
  return {
    ...{ subjectType: SUBJECT.subject_type, subjectId: SUBJECT.subject_id, version: shown },
    ...{ snapshot: { envelope_hash: `hash ${shown}` }, proof: { got: { log_index: shown - 1 } } },
    ...{
      trusted: policyOf(),
      isTrustOfService: false,
      newest: { answer: { got: answer }, kept: null, consistency: null },
    },
    ...changes,
  };
}

const NEWEST =
  'Version 3, the newest among the first 4 entries, cosigned by witness.example/w at 2026-01-15T14:03:00Z.';

it.each<[string, number, number, () => Partial<NewestEvidence>, Step['state'], string]>([
  ['the newest version', 3, 3, () => ({}), 'holds', NEWEST],
  ['an older version', 2, 3, () => ({}), 'holds', `${NEWEST} This page shows version 2.`],
  ['keys of the service', 3, 3, () => ({ isTrustOfService: true }), 'open', 'These keys come from the service'],
  [
    'a missing answer',
    3,
    3,
    () => ({ newest: { answer: { not: 'It has no map.' }, kept: null, consistency: null } }),
    'open',
    'It has no map.',
  ],
  ['a policy without the key', 3, 3, () => ({ trusted: operator.policyOf(published) }), 'open', 'vrf VRF+…'],
  ['a hidden version', 2, 2, () => ({}), 'fails', 'newest version is 3 instead of 2'],
  [
    'another hash',
    3,
    3,
    () => ({ snapshot: { envelope_hash: 'x' } }),
    'fails',
    'is not the hash that the service states',
  ],
  ['another subject', 3, 3, () => ({ subjectId: 'other' }), 'fails', 'subject_id is acme-corp instead of other'],
  ['a version that is not logged', 4, 3, () => ({ proof: { not: '' } }), 'open', 'Version 4 is not among them yet'],
  ['a logged version after it', 4, 3, () => ({}), 'fails', 'the log entry of version 4 is among them'],
])('proveNewestVersion returns the right state for %s', async (_what, shown, newest, changes, state, why) => {
  const evidence = await evidenceOf(shown, newest, changes());
  await expect(proveNewestVersion(evidence)).resolves.toMatchObject({
    ...{ name: 'newest', state },
    why: expect.stringContaining(why),
  });
});

it.each<[string, () => Promise<Published>, Step['state'], string]>([
  ['the same tree', async () => published, 'holds', NEWEST],
  [
    'another tree of its size',
    async () => operator.publish({ last: 'another' }),
    'fails',
    'two different trees of 4 entries',
  ],
])('proveNewestVersion compares its checkpoint with a stored one of %s', async (_what, publish, state, why) => {
  const evidence = await evidenceOf(3, 3);
  const newest = { ...evidence.newest, kept: (await publish()).note };
  await expect(proveNewestVersion({ ...evidence, newest })).resolves.toMatchObject({
    ...{ name: 'newest', state },
    why: expect.stringContaining(why),
  });
});
