import { accessStream, grantStream, granteeStream, versionStream } from '@iss/map';
import { mapOperator, type Lie, type MapOperator, type Published } from '../../../../tools/testing/map-operator';
import type { JsonObject } from '@iss/domain/pure';
import { encodeBase64 } from '@iss/tlog';
import { Members } from '../members';
import { readPolicy } from '../trust';
import { verifyMapAnswer } from './answer';
import { proveNewest } from './newest';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const STREAM = versionStream(SUBJECT.subject_type, SUBJECT.subject_id);
const GRANT = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';
const GRANT_STREAM = grantStream(GRANT);
const HOUR_MS = 3_600_000;

let operator: MapOperator;
beforeEach(async () => {
  operator = await mapOperator();
  for (const version of [1, 2, 3]) {
    addVersion(version);
    operator.add({ type: 'another' }, [[`v/organization/other-${version}`, 1]]);
  }
  addGrant('grant.created', 1);
});

function addVersion(version: number, keys?: string[]): number {
  const body = { ...SUBJECT, type: 'snapshot.created', snapshot_version: version, envelope_hash: `hash ${version}` };
  return operator.add({ ...body, created_at: '2026-01-15T09:30:00.000Z' }, [[STREAM, version]], keys);
}
function addGrant(type: string, number: number): number {
  return operator.add({ type, grant_id: GRANT }, [[GRANT_STREAM, number]]);
}
const indexOf = (stream: string, number: number): number =>
  operator.entries.findIndex(({ places }) => places.some(([one, other]) => one === stream && other === number));

const asJson = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

/** The answer of `…/latest-proof`. */
async function latest(published: Published, version: number, changes: object = {}): Promise<JsonObject> {
  const head = await operator.entryAt(published, indexOf(STREAM, version));
  const map = await operator.proof(published, STREAM, version);
  return asJson({ ...SUBJECT, snapshot_version: version, as_of_size: published.size, head, map, ...changes });
}
/** The answer of `…/state-proof`. */
async function stateOf(published: Published, state: string, number: number): Promise<JsonObject> {
  const entry = await operator.entryAt(published, indexOf(GRANT_STREAM, number));
  return asJson({
    grant_id: GRANT,
    state,
    number,
    ...entry,
    map: await operator.proof(published, GRANT_STREAM, number),
  });
}
async function verify(published: Published, answer: JsonObject, more: { vrfKey?: string; maxAgeMs?: number } = {}) {
  const policy = await readPolicy(operator.policyOf(published));
  return verifyMapAnswer(Members.of('The proof', answer), { policy, vrfKey: operator.vrfKey, ...more });
}
const refused = (failure: string, message: RegExp) =>
  expect.objectContaining({ failure, message: expect.stringMatching(message) });

it('a latest-proof proves the newest version, with the tree size, the witness and the time', async () => {
  const published = await operator.publish({}, Date.UTC(2026, 0, 15, 14, 3));
  const { isNewest, shown, json } = await verify(published, await latest(published, 3));
  expect(isNewest).toBe(true);
  expect(Object.fromEntries(shown)['Version']).toBe(
    '3, the newest among the first 8 entries, cosigned by witness.example/w at 2026-01-15T14:03:00Z',
  );
  expect(json).toMatchObject({ kind: 'latest', snapshot_version: 3, envelope_hash: 'hash 3' });
});

it('a state-proof proves that a grant is live or revoked', async () => {
  const created = await operator.publish();
  await expect(verify(created, await stateOf(created, 'live', 1))).resolves.toMatchObject({ isNewest: true });
  addGrant('grant.changed', 2);
  addGrant('grant.revoked', 3);
  const revoked = await operator.publish();
  await expect(verify(revoked, await stateOf(revoked, 'revoked', 3))).resolves.toMatchObject({ isNewest: true });
  await expect(verify(revoked, await stateOf(revoked, 'live', 3))).rejects.toEqual(
    refused('not_in_log', /type is "?grant.revoked"? instead of "?grant.created/),
  );
});

/** An answer of `…/absence-proof`, without its proof. */
interface Absence extends Partial<typeof SUBJECT> {
  readonly tenant_id: string;
  readonly stream: string;
  readonly number: number;
}

describe('an absence-proof', () => {
  const ofBank = { ...SUBJECT, tenant_id: 'bank', number: 1 };
  const absence = async (published: Published, answer: Absence, name: string) =>
    asJson({ ...answer, map: await operator.proof(published, name, answer.number - 1) });

  it.each<[string, Absence, RegExp]>([
    [STREAM, { ...ofBank, stream: 'v', number: 4 }, /^3 × version, and no more among the first 9/],
    ['p/bank/organization/acme-corp', { ...ofBank, stream: 'p', number: 2 }, /^1 × grant to bank, and no more/],
    ['p/lender/organization/acme-corp', { ...ofBank, stream: 'p', tenant_id: 'lender' }, /^no grant to lender among/],
    ['a/organization/acme-corp', { ...ofBank, stream: 'a' }, /^no change of access/],
    ['r/organization/acme-corp', { ...ofBank, stream: 'r' }, /^no disclosure/],
    ['d/bank', { tenant_id: 'bank', stream: 'd', number: 1 }, /^no audit record/],
    ['o/bank', { tenant_id: 'bank', stream: 'o', number: 1 }, /^no change of owner/],
    ['w/bank', { tenant_id: 'bank', stream: 'w', number: 1 }, /^no change of a grant on all subjects/],
  ])('is accepted for %s', async (name, answer, text) => {
    operator.add({ type: 'grant.created' }, [['p/bank/organization/acme-corp', 1]]);
    const published = await operator.publish();
    const { shown, isNewest, json } = await verify(published, await absence(published, answer, name));
    expect(isNewest).toBe(true);
    expect(Object.fromEntries(shown)['Proved']).toMatch(text);
    expect(json).toMatchObject({ kind: 'absence', stream: answer.stream, number: answer.number });
  });

  it('is refused if the map has the number or lacks a lower one', async () => {
    const published = await operator.publish();
    for (const number of [1, 3, 5]) {
      const answer = await absence(published, { ...ofBank, stream: 'v', number }, STREAM);
      await expect(verify(published, answer)).rejects.toEqual(
        refused('not_newest', /look-up|is not of the absence of 3/),
      );
    }
    const answer = await absence(published, { ...ofBank, stream: 'v', number: 4 }, STREAM);
    await expect(verify(published, { ...answer, number: 5 })).rejects.toEqual(
      refused('not_newest', /newest number of v\/organization\/acme-corp is 3/),
    );
  });

  it('is refused for another subject, tenant or stream', async () => {
    const published = await operator.publish();
    const name = 'p/bank/organization/acme-corp';
    for (const changes of [{ tenant_id: 'lender' }, { subject_id: 'other' }, { stream: 'a' }]) {
      const answer = await absence(published, { ...ofBank, stream: 'p', ...changes }, name);
      await expect(verify(published, answer)).rejects.toEqual(refused('not_newest', /another input or another key/));
    }
    for (const stream of ['d', 'toString', '']) {
      const answer = await absence(published, { ...ofBank, stream }, name);
      await expect(verify(published, answer)).rejects.toThrow(/Expected one of v, a, r/);
    }
  });
});

it('proveNewest proves that a stream is empty', async () => {
  const published = await operator.publish();
  const policy = await readPolicy(operator.policyOf(published));
  const trust = { policy, vrfKey: operator.vrfKey };
  for (const stream of [versionStream('entity', 'nobody'), granteeStream('bank', 'organization', 'acme-corp')]) {
    const map = asJson(await operator.proof(published, stream, 0));
    await expect(proveNewest(stream, map, trust)).resolves.toMatchObject({ number: 0, head: null });
  }
});

describe('a dishonest operator that holds all keys', () => {
  it('cannot hide the newest version if its key is in the map', async () => {
    const published = await operator.publish();
    await expect(verify(published, await latest(published, 2))).rejects.toEqual(
      refused('not_newest', /newest version is 3 instead of 2/),
    );
  });

  it('cannot deny the newest version with the path of its own or another leaf', async () => {
    const published = await operator.publish();
    const map = await operator.proof(published, STREAM, 3);
    const third = map.look_ups.find(({ number }) => number === 3);
    const others = published.leaves.map(({ key, value }) => ({ key: encodeBase64(key), value: encodeBase64(value) }));
    for (const other of [null, ...others]) {
      const denied = { ...third, log_indexes: [], other };
      const look_ups = map.look_ups.map((one) => (one === third ? denied : one));
      const answer = await latest(published, 2, { map: { ...map, look_ups } });
      await expect(verify(published, answer)).rejects.toEqual(refused('not_newest', /path does not prove/));
    }
  });

  it('changes the map root if it removes the key of the newest version from the map', async () => {
    const honest = await operator.publish();
    const lying = await operator.publish({ hidden: [[STREAM, 3]] });
    // A reader of the second tree is deceived: the witness that rebuilds the map is not.
    await expect(verify(lying, await latest(lying, 2))).resolves.toMatchObject({ isNewest: true });
    expect(lying.rootEntry).not.toBe(honest.rootEntry);
    // The proof of one tree is refused under the checkpoint of the other.
    const map = { ...(await operator.proof(lying, STREAM, 2)), checkpoint: honest.note };
    await expect(verify(honest, await latest(honest, 2, { map }))).rejects.toEqual(
      refused('not_newest', /leads to another root/),
    );
  });

  it.each([
    ['a subject', versionStream('organization', 'acme-corp')],
    ['a grant', GRANT_STREAM],
  ])('cannot deny that %s exists', async (_what, stream) => {
    const published = await operator.publish();
    const policy = await readPolicy(operator.policyOf(published));
    const map = asJson(await operator.proof(published, stream, 0));
    await expect(proveNewest(stream, map, { policy, vrfKey: operator.vrfKey })).rejects.toEqual(
      refused('not_newest', /look-up 2 must be of the number 2/),
    );
  });

  it('cannot hide a revocation', async () => {
    addGrant('grant.revoked', 2);
    const published = await operator.publish();
    await expect(verify(published, await stateOf(published, 'live', 1))).rejects.toEqual(
      refused('not_newest', /look-up 3 must be of the number 4/),
    );
  });

  it('cannot log a version twice', async () => {
    addVersion(3);
    const published = await operator.publish();
    await expect(verify(published, await latest(published, 3))).rejects.toEqual(
      refused('logged_twice', /Number 3 is in two log entries/),
    );
  });

  it('cannot map the key of a version to an entry that does not carry it', async () => {
    addVersion(4, [operator.keyTextOf(STREAM, 9)]);
    const published = await operator.publish();
    await expect(verify(published, await latest(published, 4))).rejects.toEqual(
      refused('not_newest', /does not carry the key/),
    );
  });

  it('cannot map the key of a version to another body', async () => {
    operator.add({ type: 'another' }, [[STREAM, 4]]);
    const published = await operator.publish();
    await expect(verify(published, await latest(published, 4))).rejects.toEqual(refused('not_in_log', /type/));
  });

  it.each<[string, Lie, RegExp]>([
    ['with a root that covers fewer entries', { covers: 3 }, /covers the log to 3, not to 7/],
    ['without a root as the last entry', { last: '{"type":"another"}' }, /canonical text of a map.root entry/],
  ])('cannot publish a checkpoint %s', async (_how, lie, message) => {
    const published = await operator.publish(lie);
    await expect(verify(published, await latest(published, 3))).rejects.toEqual(refused('not_newest', message));
  });

  it('cannot show an older root under a newer checkpoint', async () => {
    const older = await operator.publish();
    const answer = await latest(older, 3);
    addVersion(4);
    const newer = await operator.publish();
    const map = asJson({ ...(await operator.proof(older, STREAM, 3)), checkpoint: newer.note });
    await expect(verify(newer, { ...answer, map })).rejects.toEqual(refused('not_newest', /covers the log to 7/));
  });

  it('cannot show a checkpoint that is older than maxAgeMs', async () => {
    const stale = await operator.publish({}, Date.now() - 2 * HOUR_MS);
    const answer = await latest(stale, 3);
    await expect(verify(stale, answer, { maxAgeMs: 3 * HOUR_MS })).resolves.toMatchObject({ isNewest: true });
    await expect(verify(stale, answer, { maxAgeMs: HOUR_MS })).rejects.toEqual(refused('stale', /Too few witnesses/));
  });

  it.each<[string, (published: Published) => Promise<object>]>([
    ['stream', (published) => operator.proof(published, accessStream('organization', 'acme-corp'), 0)],
    ['number', async (published) => renumbered(await operator.proof(published, STREAM, 3))],
    ['origin', (published) => operator.proof(published, STREAM, 3, 'other.example/log')],
  ])('cannot show a proof of another %s', async (_what, prove) => {
    const published = await operator.publish();
    const answer = await latest(published, 3, { map: await prove(published) });
    await expect(verify(published, answer)).rejects.toEqual(
      refused('not_newest', /belongs to another input or another key/),
    );
  });

  it('cannot use the VRF output of another key', async () => {
    const published = await operator.publish();
    const { vrfKey } = await mapOperator();
    await expect(verify(published, await latest(published, 3), { vrfKey })).rejects.toEqual(
      refused('not_newest', /belongs to another input or another key/),
    );
  });

  it('cannot claim the wrong version for an earlier tree size', async () => {
    const published = await operator.publish();
    // The third version has the log index 4: it is the newest from a size of 5 on.
    await expect(verify(published, await latest(published, 3, { as_of_size: 5 }))).resolves.toMatchObject({
      isNewest: true,
    });
    await expect(verify(published, await latest(published, 3, { as_of_size: 4 }))).rejects.toEqual(
      refused('not_newest', /newest version is 2 instead of 3/),
    );
    await expect(verify(published, await latest(published, 2, { as_of_size: 4 }))).resolves.toMatchObject({
      isNewest: true,
    });
    await expect(verify(published, await latest(published, 2, { as_of_size: 5 }))).rejects.toEqual(
      refused('not_newest', /newest version is 3 instead of 2/),
    );
  });

  it('cannot omit a look-up', async () => {
    const published = await operator.publish();
    const map = await operator.proof(published, STREAM, 3);
    for (const at of map.look_ups.keys()) {
      const look_ups = map.look_ups.filter((_one, place) => place !== at);
      const answer = await latest(published, 3, { map: { ...map, look_ups } });
      await expect(verify(published, answer)).rejects.toEqual(refused('not_newest', /look-up/));
    }
  });
});

/** Exchanges the proofs of the first two numbers. */
function renumbered(map: Awaited<ReturnType<MapOperator['proof']>>): object {
  const [first, second, ...rest] = map.look_ups;
  return { ...map, look_ups: [{ ...second, number: first?.number }, { ...first, number: second?.number }, ...rest] };
}
