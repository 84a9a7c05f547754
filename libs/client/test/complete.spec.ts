import { type MapOperator, mapOperator, type Published } from '../../../tools/testing/map-operator.ts';
import { LINEAGE_STREAM, mappedBundle } from '../../../tools/testing/mapped-bundle.ts';
import { IdentityState, type IdentityStateOptions, type Subject, verificationOf } from '../src/index.ts';
import { loadSodiumGroup } from '../src/sodium.ts';
import { BASE_URL } from './fake-service.ts';

const GRANT = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';
const REF = { subject_type: 'organization', subject_id: 'acme-corp' };

let operator: MapOperator;
let bundle: Awaited<ReturnType<typeof mappedBundle>>;
let published: Published;
/** Replaces an answer, by the end of its path. */
let lies: Record<string, () => Promise<unknown>>;
let asked: string[];

beforeEach(async () => {
  operator = await mapOperator();
  bundle = await mappedBundle(operator, 3);
  operator.add({ type: 'grant.created', grant_id: GRANT }, [[`g/${GRANT}`, 1]]);
  published = await operator.publish();
  lies = {};
  asked = [];
});

const indexOf = (stream: string, number: number): number =>
  operator.entries.findIndex(({ places }) => places.some(([one, other]) => one === stream && other === number));
const proofOf = async (stream: string, newest: number, of = published) => operator.proof(of, stream, newest);

/** The answer of `…/latest-proof`. */
async function latestProof(version: number, of = published): Promise<object> {
  const head = await operator.entryAt(of, indexOf(LINEAGE_STREAM, version));
  return {
    ...REF,
    snapshot_version: version,
    as_of_size: of.size,
    head,
    map: await proofOf(LINEAGE_STREAM, version, of),
  };
}
async function absenceProof(stream: string, count: number): Promise<object> {
  const [letter] = stream;
  return { tenant_id: 'bank', ...REF, stream: letter, number: count + 1, map: await proofOf(stream, count) };
}
async function logProof(version: number): Promise<object> {
  const entry = await operator.entryAt(published, indexOf(LINEAGE_STREAM, version));
  return { ...entry, checkpoint: published.note };
}
async function exported(count?: number): Promise<string> {
  const { first, lines, last } = await bundle.linesOf(published, count);
  return [first, ...lines, last].map((line) => JSON.stringify(line)).join('\n');
}

const ANSWERS: readonly (readonly [
  end: RegExp,
  answer: (match: RegExpExecArray, query: URLSearchParams) => unknown,
])[] = [
  [/snapshots\/latest$/, () => bundle.snapshots[2]],
  [/snapshots\/(\d)$/, ([, version]) => bundle.snapshots[Number(version) - 1]],
  [/latest-proof$/, async () => latestProof(3)],
  [/log-proof$/, async () => logProof(2)],
  [/state-proof$/, async () => stateProof('live')],
  [/absence-proof$/, async (_, query) => absenceProof(`${query.get('stream')}/bank/organization/acme-corp`, 0)],
  [/export$/, async () => exported()],
  [/consistency$/, async (_, query) => published.log.consistency(Number(query.get('from')), Number(query.get('to')))],
];
async function stateProof(state: string): Promise<object> {
  const entry = await operator.entryAt(published, indexOf(`g/${GRANT}`, 1));
  return { grant_id: GRANT, state, number: 1, ...entry, map: await proofOf(`g/${GRANT}`, 1) };
}

const fetch: typeof globalThis.fetch = async (input) => {
  const { pathname, searchParams } = new URL(String(input));
  asked.push(pathname.split('/').at(-1) ?? '');
  const lie = Object.entries(lies).find(([end]) => pathname.endsWith(end))?.[1];
  for (const [end, answer] of ANSWERS) {
    const match = end.exec(pathname);
    if (match === null) continue;
    const value: unknown = await (lie?.() ?? answer(match, searchParams));
    return new Response(typeof value === 'string' ? `${value}\n` : JSON.stringify(value));
  }
  return new Response('{}', { status: 404 });
};
const trust = (more: object = {}) => ({
  policy: `${operator.policyOf(published)}vrf ${operator.vrfKey}\n`,
  ...more,
});
const client = (options: Partial<IdentityStateOptions> = {}) =>
  new IdentityState({ baseUrl: BASE_URL, token: 'token', fetch, trust: trust(), ...options });
const subjectOf = (options?: Partial<IdentityStateOptions>): Subject<object> =>
  client(options).tenant('bank').organization('acme-corp');
const failing = (failure: string, message = /./): unknown =>
  expect.objectContaining({ name: 'VerificationError', failure, message: expect.stringMatching(message) });
async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('the latest version', () => {
  it('is proved to be the newest by default if the policy or trust has a VRF key', async () => {
    const latest = await subjectOf().latest();
    expect(verificationOf(latest)).toMatchObject({
      mode: 'complete',
      log: { logIndex: 2, checkpoint: { size: 5, cosignedBy: ['witness.example/w'] } },
    });
    expect(asked).toEqual(['latest', 'latest-proof']);
    const named = { policy: operator.policyOf(published), vrfKey: operator.vrfKey };
    expect(verificationOf(await subjectOf({ trust: named }).latest())).toMatchObject({ mode: 'complete' });
  });

  it('is verified with trust.group', async () => {
    const sodium = await loadSodiumGroup();
    let hashed = 0;
    const group = { ...sodium, sha512: (message: Uint8Array) => (hashed++, sodium.sha512(message)) };
    const latest = await subjectOf({ trust: trust({ group }) }).latest();
    expect(verificationOf(latest)).toMatchObject({ mode: 'complete' });
    expect(hashed).toBeGreaterThan(0);
  });

  it('is verified by the log alone without a VRF key, or with verify: log', async () => {
    lies['log-proof'] = async () => logProof(3);
    const policy = operator.policyOf(published);
    expect(verificationOf(await subjectOf({ trust: { policy } }).latest())).toMatchObject({ mode: 'log' });
    expect(verificationOf(await subjectOf({ verify: 'log' }).latest())).toMatchObject({ mode: 'log' });
    await expect(subjectOf({ trust: { policy }, verify: 'complete' }).latest()).rejects.toThrow('Set trust.vrfKey.');
  });

  it('is read again if a newer version was logged in the meantime', async () => {
    let reads = 0;
    lies['snapshots/latest'] = async () => bundle.snapshots[reads++ === 0 ? 1 : 2];
    expect((await subjectOf().latest()).snapshot_version).toBe(3);
  });

  it('is refused if its hash differs from the log entry', async () => {
    const other = await mapOperator();
    const [, , forged] = (await mappedBundle(other, 3)).snapshots;
    lies['snapshots/latest'] = async () => forged;
    await expect(subjectOf().latest()).rejects.toEqual(failing('not_in_log', /snapshot_id/));
  });

  it('is refused if the map has a newer version', async () => {
    lies['snapshots/latest'] = async () => bundle.snapshots[1];
    await expect(subjectOf().latest()).rejects.toEqual(failing('not_newest', /snapshot_version is 3 instead of 2/));
    lies['latest-proof'] = async () => latestProof(2);
    await expect(subjectOf().latest()).rejects.toEqual(failing('not_newest', /newest version is 3 instead of 2/));
  });

  it.each<[string, string, RegExp, () => Promise<object>]>([
    [
      'of fewer entries',
      'not_newest',
      /only about the first 3 entries/,
      async () => ({ ...(await latestProof(3)), as_of_size: 3 }),
    ],
    [
      'of another subject',
      'not_newest',
      /subject_id is other/,
      async () => ({ ...(await latestProof(3)), subject_id: 'other' }),
    ],
    [
      'of another stream',
      'not_newest',
      /another input/,
      async () => ({ ...(await latestProof(3)), map: await proofOf(`g/${GRANT}`, 1) }),
    ],
    [
      'of another entry',
      'not_newest',
      /log_index is 1/,
      async () => ({ ...(await latestProof(3)), head: await operator.entryAt(published, 1) }),
    ],
  ])('is refused with a proof %s', async (_of, failure, message, lie) => {
    lies['latest-proof'] = lie;
    await expect(subjectOf().latest()).rejects.toEqual(failing(failure, message));
  });

  it('is refused if the checkpoint is older than trust.maxAgeMs', async () => {
    published = await operator.publish({}, Date.now() - 7_200_000);
    expect(verificationOf(await subjectOf().latest())).toMatchObject({ mode: 'complete' });
    const young = subjectOf({ trust: trust({ maxAgeMs: 3_600_000 }) });
    await expect(young.latest()).rejects.toEqual(failing('stale', /Too few witnesses/));
  });

  it('is refused with a checkpoint that is inconsistent with the stored one', async () => {
    const subject = subjectOf();
    await subject.latest();
    const older = await operator.publish({ hidden: [[LINEAGE_STREAM, 3]] });
    lies['snapshots/latest'] = async () => bundle.snapshots[2];
    lies['latest-proof'] = async () => latestProof(3, older);
    await expect(subject.latest()).rejects.toEqual(failing('forked'));
  });
});

it('a version read by number is not proved to be the newest', async () => {
  const version = await subjectOf().version(2);
  expect(verificationOf(version)).toMatchObject({ mode: 'log', log: { logIndex: 1 } });
  expect(asked).toEqual(['2', 'log-proof']);
});

describe('an export', () => {
  it('is proved to end at the newest version', async () => {
    expect(await all(subjectOf().export())).toHaveLength(3);
    expect(await all(subjectOf({ verify: 'log' }).export())).toHaveLength(3);
  });

  it.each<[string, string, () => Promise<string>]>([
    ['without its last line', 'gap', async () => (await exported()).split('\n').slice(0, -1).join('\n')],
    ['with fewer versions', 'not_newest', async () => exported(2)],
    [
      'with the map proof of another stream',
      'not_newest',
      async () => {
        const { first, lines } = await bundle.linesOf(published);
        const map = await proofOf(`g/${GRANT}`, 1);
        const last = { complete: { snapshot_version: 3, map } };
        return [first, ...lines, last].map((line) => JSON.stringify(line)).join('\n');
      },
    ],
    [
      'with the map proof of another checkpoint',
      'not_newest',
      async () => {
        const lines = (await exported()).split('\n');
        const stale = await operator.publish({}, Date.now() - 7_200_000);
        const { last } = await bundle.linesOf(stale);
        return [...lines.slice(0, -1), JSON.stringify(last)].join('\n');
      },
    ],
  ])('is refused %s', async (_how, failure, lie) => {
    lies['export'] = lie;
    await expect(all(subjectOf().export())).rejects.toEqual(failing(failure));
  });
});

describe('an absence proof', () => {
  it('is accepted for the stream of the tenant', async () => {
    const { number, checkpoint } = await subjectOf().absence('p');
    expect([number, checkpoint.size]).toEqual([1, 5]);
  });

  it('is refused for another stream, tenant or subject, and for a number that the map has', async () => {
    const map = await proofOf('p/bank/organization/acme-corp', 0);
    for (const changes of [{ stream: 'a' }, { tenant_id: 'lender' }, { subject_id: 'other' }]) {
      lies['absence-proof'] = async () => ({ tenant_id: 'bank', ...REF, stream: 'p', number: 1, map, ...changes });
      await expect(subjectOf().absence('p')).rejects.toEqual(failing('not_newest', / instead of /));
    }
    lies['absence-proof'] = async () => ({ ...(await absenceProof('v/organization/acme-corp', 3)), number: 3 });
    await expect(subjectOf().absence('v')).rejects.toEqual(failing('not_newest', /not of the absence of 3/));
  });
});

it('grantState returns a proved state, and refuses the proof of another state or grant', async () => {
  const tenant = client().tenant('bank');
  expect(await tenant.grantState(GRANT)).toMatchObject({ state: 'live', number: 1, checkpoint: { size: 5 } });
  lies['state-proof'] = async () => stateProof('revoked');
  await expect(tenant.grantState(GRANT)).rejects.toEqual(failing('not_in_log', /type is/));
  const other = tenant.grantState('00000000-0000-4000-8000-000000000000');
  await expect(other).rejects.toEqual(failing('not_newest', /grant_id/));
});

it('absence requires a VRF key', async () => {
  const policy = operator.policyOf(published);
  await expect(subjectOf({ trust: { policy } }).absence('p')).rejects.toThrow('Set trust.vrfKey.');
});
