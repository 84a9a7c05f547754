import { disclosureStream } from '@iss/map';
import type { JsonObject } from '@iss/domain/pure';
import { mapOperator, type MapOperator, type Published } from '../../../../tools/testing/map-operator';
import { Members } from '../members';
import { readPolicy } from '../trust';
import { verifyMapAnswer } from './answer';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const STREAM = disclosureStream(SUBJECT.subject_type, SUBJECT.subject_id);
const OTHER = disclosureStream('organization', 'other');

let operator: MapOperator;
beforeEach(async () => {
  operator = await mapOperator();
  add(['bob'], 1);
  operator.add({ type: 'another' }, [['v/organization/acme-corp', 1]]);
  // An entry has records of more than one subject.
  operator.add({ type: 'disclosures.recorded', records: [of('eve', 'other'), of('carol'), of('dan')] }, [
    [OTHER, 1],
    [STREAM, 2],
    [STREAM, 3],
  ]);
  add(['erin'], 4);
});

function of(principal_id: string, subject_id = SUBJECT.subject_id): JsonObject {
  return {
    ...{ ...SUBJECT, subject_id, principal_id, grantee_tenant_id: 'bank', via: 'snapshot' },
    ...{ first_at: '2026-01-15T09:30:00.000Z', from_version: 1, to_version: 2 },
  };
}
/** Adds an entry of disclosures, with keys from this number on. */
function add(readers: readonly string[], number: number, keys?: string[]): number {
  const places = readers.map((_, at) => [STREAM, number + at] as const);
  return operator.add({ type: 'disclosures.recorded', records: readers.map((reader) => of(reader)) }, places, keys);
}

interface Shown {
  /** The newest number that the answer claims. */
  newest: number;
  numbers: readonly number[];
  /** The log indexes of the shown entries. */
  entries: readonly number[];
}
const ALL: Shown = { newest: 4, numbers: [1, 2, 3, 4], entries: [0, 2, 3] };

/** The answer of `…/absence-proof?stream=r&records_from=…`. */
async function answer(published: Published, { newest, numbers, entries }: Shown): Promise<JsonObject> {
  const records = {
    look_ups: numbers.map((number) => operator.lookUp(published, STREAM, number)),
    entries: await Promise.all(entries.map((index) => operator.entryAt(published, index))),
  };
  const map = await operator.proof(published, STREAM, newest);
  return JSON.parse(JSON.stringify({ tenant_id: 'acme', ...SUBJECT, stream: 'r', number: newest + 1, records, map }));
}
async function verify(published: Published, shown: JsonObject) {
  const policy = await readPolicy(operator.policyOf(published));
  return verifyMapAnswer(Members.of('The proof', shown), { policy, vrfKey: operator.vrfKey });
}
const refused = (failure: string, message: RegExp) =>
  expect.objectContaining({ failure, message: expect.stringMatching(message) });

it('a list of all disclosures is proved to be complete', async () => {
  const published = await operator.publish();
  const { shown, json, notProved } = await verify(published, await answer(published, ALL));
  expect(Object.fromEntries(shown)).toMatchObject({
    Proved: expect.stringMatching(/^4 × disclosure, and no more among the first 5/),
    'Record 3': '2026-01-15T09:30:00.000Z: versions 1 to 2 to dan of bank, by snapshot',
  });
  expect(json['records']).toMatchObject([
    { number: 1, log_index: 0, principal_id: 'bob' },
    { number: 2, log_index: 2, principal_id: 'carol' },
    { number: 3, log_index: 2, principal_id: 'dan' },
    { number: 4, log_index: 3, principal_id: 'erin' },
  ]);
  expect(notProved).toEqual([]);
});

it('a part of the list is proved, and the missing records are named', async () => {
  const published = await operator.publish();
  const { notProved } = await verify(published, await answer(published, { ...ALL, numbers: [2, 3], entries: [2] }));
  expect(notProved).toEqual([
    'The records 1 to 1. Request them with records_from=1.',
    'The records 4 to 4. Request them with records_from=4.',
  ]);
  const none = await verify(published, await answer(published, { ...ALL, numbers: [], entries: [] }));
  expect(none.notProved).toEqual(['The records 1 to 4. Request them with records_from=1.']);
});

it('records that were logged before the map are proved', async () => {
  const index = operator.addOld({ type: 'disclosures.recorded', records: [of('old')] }, [[STREAM, 5]]);
  const published = await operator.publish();
  const shown = { newest: 5, numbers: [5], entries: [index] };
  await expect(verify(published, await answer(published, shown))).resolves.toMatchObject({ isNewest: true });
});

describe('a dishonest operator that holds all keys', () => {
  it.each<[string, Partial<Shown>, RegExp]>([
    ['omit an entry', { entries: [0, 2] }, /not those of successive numbers/],
    ['omit a number', { numbers: [1, 2, 3] }, /has 1 records of the stream, but the map leads to 0/],
    ['omit a number of an entry', { numbers: [1, 2, 4] }, /has 2 records of the stream, but the map leads to 1/],
    ['omit a number with its entry', { numbers: [1, 4], entries: [0, 3] }, /not those of successive numbers/],
    ['show an entry twice', { entries: [0, 0, 2] }, /not those of successive numbers/],
    ['show an entry twice instead of another one', { entries: [0, 2, 3, 3] }, /not those of successive numbers/],
  ])('cannot %s', async (_how, changes, message) => {
    const published = await operator.publish();
    const shown = await answer(published, { ...ALL, ...changes });
    await expect(verify(published, shown)).rejects.toEqual(refused('gap', message));
  });

  it('cannot claim fewer records than the log has', async () => {
    const published = await operator.publish();
    const shown = await answer(published, { newest: 3, numbers: [1, 2, 3], entries: [0, 2] });
    await expect(verify(published, shown)).rejects.toEqual(refused('not_newest', /look-up/));
  });

  it('cannot show another reader in an entry', async () => {
    const published = await operator.publish();
    const shown = await answer(published, ALL);
    const forged: JsonObject = JSON.parse(JSON.stringify(shown).replace('carol', 'mallory'));
    await expect(verify(published, forged)).rejects.toEqual(refused('not_in_log', /Entry 2 of the records/));
  });

  it('cannot log more records in an entry than it has keys', async () => {
    operator.add({ type: 'disclosures.recorded', records: [of('frank'), of('grace')] }, [[STREAM, 5]]);
    const published = await operator.publish();
    const shown = await answer(published, { newest: 5, numbers: [5], entries: [4] });
    await expect(verify(published, shown)).rejects.toEqual(refused('gap', /has 2 records .* leads to 1/));
  });

  it('cannot map the key of a record to an entry that does not carry it', async () => {
    add(['frank'], 5, [operator.keyTextOf(STREAM, 9)]);
    const published = await operator.publish();
    const shown = await answer(published, { newest: 5, numbers: [5], entries: [4] });
    await expect(verify(published, shown)).rejects.toEqual(refused('not_newest', /does not carry the key of number 5/));
  });

  it('cannot log the keys of two records in another order', async () => {
    const swapped = [6, 5].map((number) => operator.keyTextOf(STREAM, number));
    add(['frank', 'grace'], 5, swapped);
    const published = await operator.publish();
    const shown = await answer(published, { newest: 6, numbers: [5, 6], entries: [4] });
    await expect(verify(published, shown)).rejects.toEqual(refused('not_newest', /does not carry the key of number 5/));
  });

  it('cannot log a record twice', async () => {
    add(['erin'], 4);
    const published = await operator.publish();
    const shown = await answer(published, { newest: 3, numbers: [4], entries: [3] });
    await expect(verify(published, shown)).rejects.toEqual(refused('logged_twice', /Number 4 is in two log entries/));
  });

  it('cannot show an absent number, or the records of another tenant or stream', async () => {
    const published = await operator.publish();
    const absent = await answer(published, { ...ALL, numbers: [5], entries: [] });
    await expect(verify(published, absent)).rejects.toEqual(refused('not_newest', /Number 5 is not in the map/));
    const shown = await answer(published, ALL);
    await expect(verify(published, { ...shown, tenant_id: 'bank' })).rejects.toEqual(
      refused('not_in_log', /tenant_id is acme instead of bank/),
    );
    await expect(verify(published, { ...shown, subject_id: 'other' })).rejects.toEqual(
      refused('not_newest', /another input or another key/),
    );
    await expect(verify(published, { ...shown, records: { look_ups: {}, entries: [] } })).rejects.toThrow(/malformed/);
    await expect(verify(published, { ...shown, records: { look_ups: [], entries: {} } })).rejects.toThrow(/not a list/);
  });
});
