/** @jest-environment ./src/testing/environment.cjs */
import { disclosureStream, granteeStream, grantStream } from '@iss/map';
import { mapOperator, type MapOperator } from '../../../../../tools/testing/map-operator.ts';
import { api, open, press, see, unsee } from '../../testing/page.tsx';

const TENANT = '/v1/tenants/{tenant_id}';
const OF_SUBJECT = `${TENANT}/subjects/{subject_type}/{subject_id}`;
const ABSENCE = `GET ${OF_SUBJECT}/absence-proof`;
const SUBJECT_PAGE = '/t/acme/subjects/organization/acme-corp';
const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const GRANT = '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52';
const READERS = disclosureStream('organization', 'acme-corp');
const GRANTS = granteeStream('acme', 'organization', 'acme-corp');

let operator: MapOperator;
beforeEach(async () => {
  operator = await mapOperator();
  operator.add({ type: 'another' }, [['v/organization/other', 1]]);
});

/** Publishes the log of the operator. The reader trusts its keys. */
async function publish() {
  const published = await operator.publish();
  api.answer('GET /log/keys', { vrf_key: operator.vrfKey, map_starts_at: 0 });
  localStorage.setItem('identity-state.policy', `${operator.policyOf(published)}vrf ${operator.vrfKey}\n`);
  return published;
}

/** Answers with the proof that a stream has this number of facts. */
async function answerAbsence(letter: string, stream: string, count: number): Promise<void> {
  const map = await operator.proof(await publish(), stream, count);
  const answer = { tenant_id: 'acme', ...SUBJECT, stream: letter, number: count + 1, map };
  api.reply(ABSENCE, () => Response.json(answer));
}

it.each([
  ['live', ['grant.created']],
  ['changed', ['grant.created', 'grant.changed']],
  ['revoked', ['grant.created', 'grant.changed', 'grant.revoked']],
])('the page proves that a grant is %s', async (state, types) => {
  const stream = grantStream(GRANT);
  const indexes = types.map((type, index) => operator.add({ type, grant_id: GRANT }, [[stream, index + 1]]));
  const published = await publish();
  const entry = await operator.entryAt(published, indexes.at(-1) ?? 0);
  const map = await operator.proof(published, stream, types.length);
  api.reply(`GET ${TENANT}/grants/{grant_id}/state-proof`, () =>
    Response.json({ grant_id: GRANT, state, number: types.length, ...entry, map }),
  );
  await open('/t/acme/sharing');
  await press('Proof of the grant to beta');
  await see('The proof is proved by the keys', `${state}, the newest among the first`, 'cosigned by witness.example/w');
});

it.each([
  [0, 'The log does not have the newest ones yet'],
  [1, 'The list is complete: it has 1 disclosure, as many as the log.'],
  [2, 'The list is not complete. It has 1 disclosure, but the log has 2 disclosures.'],
])('the page compares %i logged disclosures with a list of one', async (logged, words) => {
  for (let number = 1; number <= logged; number++) operator.add({ type: 'another' }, [[READERS, number]]);
  await answerAbsence('r', READERS, logged);
  await open(`${SUBJECT_PAGE}/sharing`);
  await press('Prove that the list is complete');
  await see('The proof is proved by the keys', words);
});

it('the page proves each disclosure of a list', async () => {
  const record = {
    ...{ ...SUBJECT, principal_id: 'oidc:dev#bob', grantee_tenant_id: 'beta', via: 'snapshot' },
    ...{ first_at: '2026-01-15T09:30:00.000Z', from_version: 1, to_version: 2 },
  };
  const index = operator.add({ type: 'disclosures.recorded', records: [record] }, [[READERS, 1]]);
  const published = await publish();
  const map = await operator.proof(published, READERS, 1);
  const entries = [await operator.entryAt(published, index)];
  const records = { look_ups: [operator.lookUp(published, READERS, 1)], entries };
  api.reply(ABSENCE, (_operation, { query }) => {
    expect(query).toMatchObject({ stream: 'r', records_from: '1' });
    return Response.json({ tenant_id: 'acme', ...SUBJECT, stream: 'r', number: 2, records, map });
  });
  await open(`${SUBJECT_PAGE}/sharing`);
  await press('Prove that the list is complete');
  await see('The list is complete', 'versions 1 to 2 to oidc:dev#bob of beta, by snapshot');
});

it.each([
  ['a shorter stream', 'r', READERS],
  ['another stream', 'r', GRANTS],
  ['other facts', 'p', GRANTS],
])('the page refuses a proof of completeness from %s', async (_what, letter, stream) => {
  operator.add({ type: 'another' }, [[READERS, 1]]);
  await answerAbsence(letter, stream, 0);
  await open(`${SUBJECT_PAGE}/sharing`);
  await press('Prove that the list is complete');
  await see('The proof failed the verification');
  await unsee('The list is complete');
});

it.each([
  [0, 'The log has no grant on this subject to acme.'],
  [1, 'The log has 1 grant on this subject to acme.'],
])('the page proves to a tenant without access that it has %i grants', async (count, words) => {
  for (let number = 1; number <= count; number++) operator.add({ type: 'another' }, [[GRANTS, number]]);
  api.refuse(`GET ${OF_SUBJECT}/owners`, 403);
  await answerAbsence('p', GRANTS, count);
  await open(SUBJECT_PAGE);
  await press('Prove that it was never shared with you');
  await see('The proof is proved by the keys', words);
});

it('the page offers no proof of absence if the log has no map', async () => {
  const message = api.refuse(`GET ${OF_SUBJECT}/owners`, 403);
  await open(SUBJECT_PAGE);
  await see(message);
  await unsee('Prove that it was never shared with you');
});
