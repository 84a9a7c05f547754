import { type Evidence, IdentityState, IdentityStateError, StaleBaseError, type Subject } from '../src/index.ts';
import { MAX_CHANGE_ROUNDS } from '../src/limits.ts';
import { BASE_URL, FakeService, type Keys, makeKeys, NOW_MS } from './fake-service.ts';

type Attributes = { legal: { legal_name: string } };

/** The result of one apply. The last result of the plan repeats. */
type Outcome = 'applied' | 'stale' | 'applied, then broken' | 'another writer' | 'something else';

let service: FakeService;
let proposed: { base: unknown; ops: unknown; initiatedBy: unknown }[];
let withdrawn: number;
let plan: Outcome[];
let isApplied: boolean;
let keys: Keys;

beforeAll(async () => {
  keys = await makeKeys();
});
beforeEach(() => {
  service = new FakeService(keys);
  service.write('One');
  proposed = [];
  withdrawn = 0;
  isApplied = false;
  plan = ['applied'];
});

const conflict = (code: string): Response => {
  const details = [{ path: '/base_snapshot_version', code, message: 'the latest version is 2' }];
  return Response.json({ error: { code: 'conflict', message: 'No.', details, request_id: 'r' } }, { status: 409 });
};

function apply(outcome: Outcome, name: string): Response {
  if (outcome === 'stale') return conflict('stale');
  if (outcome === 'another writer') {
    service.write(`Faster ${service.snapshots.length}`);
    return conflict('stale');
  }
  isApplied = true;
  const { snapshot_id, snapshot_version } = service.write(outcome === 'something else' ? 'Forged' : name);
  if (outcome === 'applied, then broken') return conflict('applied');
  return Response.json({ update_id: 'u', status: 'applied', snapshot_id, snapshot_version });
}

const fetch: typeof globalThis.fetch = async (input, init) => {
  const { pathname } = new URL(String(input));
  if (init?.method !== 'POST') {
    if (!pathname.endsWith('/updates/u')) return service.fetch(input, init);
    return Response.json({ update_id: 'u', status: isApplied ? 'applied' : 'proposed' });
  }
  if (pathname.endsWith('/apply')) {
    const name = /"value":"([^"]+)"/.exec(JSON.stringify(proposed.at(-1)?.ops))?.[1] ?? '';
    return apply((plan.length > 1 ? plan.shift() : plan[0]) ?? 'applied', name);
  }
  if (pathname.endsWith('/withdraw')) {
    withdrawn++;
    return Response.json({ update_id: 'u', status: 'withdrawn' });
  }
  const body = JSON.parse(String(init.body));
  proposed.push({ base: body.base_snapshot_version, ops: body.patch_ops, initiatedBy: body.initiated_by });
  return Response.json({ update_id: 'u', status: 'proposed', base_snapshot_version: body.base_snapshot_version });
};
const subject = (): Subject<Attributes> =>
  new IdentityState({ baseUrl: BASE_URL, fetch, now: () => NOW_MS }).tenant('acme').organization('acme-corp');
const rename = (name: string) => (draft: { attributes: Attributes }) => void (draft.attributes.legal.legal_name = name);

it('change proposes a minimal patch on the latest version, and applies it', async () => {
  const written = await subject().change(rename('Two'), { initiatedBy: 'ann' });
  expect(written).toMatchObject({ snapshot_version: 2, envelope: { attributes: { legal: { legal_name: 'Two' } } } });
  const ops = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Two' }];
  expect(proposed).toEqual([{ base: 1, ops, initiatedBy: 'ann' }]);
});

it('change proposes nothing for an unchanged draft', async () => {
  expect(await subject().change(() => undefined)).toMatchObject({ snapshot_version: 1 });
  expect(proposed).toEqual([]);
});

it('change adds the evidence to the proposal', async () => {
  const extract: Evidence = { evidence_id: 'e', evidence_type: 't', source: 's', captured_at: '2026-01-01T00:00:00Z' };
  plan = ['stale'];
  await expect(subject().change(rename('Two'), { evidence: [extract] })).rejects.toThrow(StaleBaseError);
  expect(proposed[0]?.ops).toEqual(expect.arrayContaining([{ op: 'add', path: '/evidence/0', value: extract }]));
});

it('change retries after another writer, and withdraws its stale proposals', async () => {
  plan = ['another writer', 'another writer', 'applied'];
  const bases: number[] = [];
  const written = await subject().change((draft, base) => {
    bases.push(base.snapshot_version);
    rename('Mine')(draft);
  });
  expect(bases).toEqual([1, 2, 3]);
  expect(written).toMatchObject({ snapshot_version: 4, envelope: { attributes: { legal: { legal_name: 'Mine' } } } });
  expect(withdrawn).toBe(2);
});

it('change fails after MAX_CHANGE_ROUNDS stale proposals', async () => {
  plan = ['stale'];
  const failed = await subject()
    .change(rename('Two'))
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(StaleBaseError);
  expect(failed).toMatchObject({ latestVersion: 2 });
  expect(proposed).toHaveLength(MAX_CHANGE_ROUNDS);
  expect(withdrawn).toBe(MAX_CHANGE_ROUNDS);
});

it('change returns the version of an update that was already applied', async () => {
  plan = ['applied, then broken'];
  expect(await subject().change(rename('Two'))).toMatchObject({ snapshot_version: 2 });
});

it('change refuses a version that differs from the draft', async () => {
  plan = ['something else'];
  await expect(subject().change(rename('Two'))).rejects.toMatchObject({ failure: 'written' });
});

it('change refuses a draft that changes a member that the service sets', async () => {
  const change = subject().change((draft) => void (draft.snapshot_version = 9));
  await expect(change).rejects.toThrow(IdentityStateError);
  expect(proposed).toEqual([]);
});
