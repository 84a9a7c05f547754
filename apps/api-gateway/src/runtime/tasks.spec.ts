import { canonicalize, isJsonObject, type JsonValue } from '@iss/domain';
import { parseVrfSecretKey } from '@iss/map';
import { nobleGroup } from '@iss/map/noble';
import * as fc from 'fast-check';
import { CreateRefreshRequestBody, ProposeUpdateBody } from '@iss/contract';
import { editedJson, hostileJson, nearlyJsonText } from '../../../../libs/domain/src/testing/hostile-json';
import { TEST_VRF_SECRET } from '../../../../tools/testing/vrf-key';
import { outlineOf } from './outline';
import { type TaskName, TASKS } from './tasks';
import { type Order, type TaskOutcome, perform } from './thread-messages';
import { ThreadPool } from './thread-pool';

const ID = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';
const pool = new ThreadPool({
  threads: 1,
  queue: 100,
  deadlineMs: 60_000,
  resourceLimits: {},
  onRun: () => undefined,
  onRefused: () => undefined,
});
beforeAll(() => TASKS.prove_numbers.prepare?.());
afterAll(() => pool.close());

const envelopeWith = (attributes: JsonValue): JsonValue => ({
  envelope_version: 'entity_state_envelope_v1',
  snapshot_id: ID,
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  subject: { subject_type: 'entity', subject_id: 'a' },
  attributes: isJsonObject(attributes) ? attributes : { attributes },
  evidence: [],
  audit: { created_by: 'x', created_at: '2026-01-15T09:30:00Z', source: 'x' },
});
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (value: JsonValue): string => JSON.stringify(value);
const limits = { maxOperations: 20, maxDepth: 64, maxBytes: 4_000 };
const value = hostileJson;

const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'upsert'),
  path: fc.constantFrom('/attributes/a', '/attributes/b/0', '/evidence', '/evidence/-', '/subject', 'a', ''),
  from: fc.constantFrom('/attributes', '/attributes/a', '/none'),
  value,
});
const proposals = fc
  .tuple(fc.array(operation, { maxLength: 4 }), fc.dictionary(fc.constantFrom('unknown', '__proto__', 'ops'), value))
  .map(([patch_ops, more]) => ({
    subject_type: 'entity',
    subject_id: 'a',
    base_snapshot_id: ID,
    base_snapshot_version: 1,
    patch_ops,
    ...more,
  }));
const validOps = fc.array(
  fc.record({ op: fc.constantFrom('add', 'replace'), path: fc.constantFrom('/attributes/a', '/evidence/-'), value }),
  { maxLength: 4 },
);
const snapshot = fc.tuple(value, fc.boolean()).map(([attributes, isHashed]) => ({
  snapshotId: ID,
  snapshotVersion: 1,
  envelopeText: canonicalize(envelopeWith(attributes)),
  envelopeHash: isHashed ? 'ab'.repeat(32) : null,
  prevHash: null,
}));

const next = {
  snapshotVersion: 2,
  generatedAt: '2026-01-16T09:30:00Z',
  changeKind: 'change' as const,
  audit: { created_by: 'b', created_at: '2026-01-16T09:30:00Z', source: 'entity_state_update' },
  id: { subject_type: 'entity', subject_id: 'a', base_snapshot_id: ID },
  idSecret: 'secret',
};
const patches = fc.tuple(value, validOps).map(([attributes, ops]) => ({
  base: canonicalize(envelopeWith(attributes)),
  patchOps: canonicalize(ops),
  at: '/patch_ops',
  limits,
  policy: 'fresh' as const,
}));

const sentTexts = fc.oneof(nearlyJsonText, value.map(textOf));

/** Inputs of every task, good and bad. */
const ORDERS: { readonly [Name in TaskName]: fc.Arbitrary<Order<Name>['input']> } = {
  read_body: fc.tuple(sentTexts, fc.boolean()).map(([text, isProposal]) => ({
    bytes: bytes(text),
    maxDepth: 64,
    fields: isProposal ? ProposeUpdateBody.names : ['a', 'id', '__proto__'],
    items: isProposal ? {} : { a: ['id', '__proto__'] },
  })),
  read_envelope: fc
    .oneof(sentTexts, value.map((attributes) => textOf(envelopeWith(attributes))))
    .map((text) => ({ bytes: bytes(text), maxDepth: 64 })),
  read_proposal: fc.tuple(fc.oneof(sentTexts, proposals.map((one) => JSON.stringify(one))), validOps, fc.nat(3)).map(([text, ops, way]) => ({
    bytes: bytes(way === 0 ? JSON.stringify({ subject_id: 'a', base_snapshot_version: 1, patch_ops: ops.slice(0, 1) }) : text),
    maxDepth: 128,
    maxOperations: 3,
    subject: way > 1 ? null : { subjectType: 'entity', subjectId: 'a' },
  })),
  try_patch: patches,
  apply_update: patches.map((patch) => ({ ...patch, next, baseOrigins: { origins: null } })),
  trace_version: editedJson.map(([from, to]) => ({
    base: canonicalize(envelopeWith(from)),
    baseOrigins: null,
    text: canonicalize(envelopeWith(to)),
    version: 2,
  })),
  hold_to_policy: editedJson.map(([from, to]) => ({
    policy: 'fresh' as const,
    base: canonicalize(envelopeWith(from)),
    text: canonicalize(envelopeWith(to)),
  })),
  list_provenance: fc.tuple(value, fc.constantFrom('/attributes', '/attributes/a')).map(([attributes, path]) => ({
    text: canonicalize(envelopeWith(attributes)),
    origins: null,
    path,
    status: null,
    evidenceId: null,
    revoked: [],
    shown: null,
    from: 0,
    limit: 100,
    maxBytes: 1_000,
  })),
  answered_requests: fc.array(fc.tuple(value, fc.subarray(['/attributes', '/attributes/a', '/a'])).map(([attributes, paths]) => ({
    text: canonicalize(envelopeWith(attributes)),
    origins: null,
    asked: [{ paths, askedAt: 0 }],
  })), { maxLength: 3 }),
  diff: editedJson.map(([from, to]) => ({
    from: canonicalize(envelopeWith(from)),
    to: canonicalize(envelopeWith(to)),
    include: ['/attributes'],
    withAttribution: true,
  })),
  summarize: fc.oneof(value.map(envelopeWith), value).map((one) => ({ text: canonicalize(one) })),
  disclose_view: value.map((attributes) => ({
    text: canonicalize(envelopeWith(attributes)),
    ...{ envelopeHash: 'ab'.repeat(32), prevHash: null, secret: new Uint8Array(32), visible: ['/attributes/a'] },
  })),
  check_snapshot: snapshot,
  check_links: fc.array(snapshot, { maxLength: 3 }),
  prove_inclusions: fc.array(fc.nat(4), { maxLength: 3 }).map((indexes) => ({
    indexes,
    size: 5,
    tiles: [{ level: 0, index: 0, hashes: Uint8Array.from({ length: 5 * 32 }, (_, at) => at) }],
  })),
  prove_numbers: fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 2 }).map((inputs) => ({
    keys: parseVrfSecretKey(nobleGroup, TEST_VRF_SECRET),
    inputs,
  })),
}; // prettier-ignore

/** Writes an outcome completely: in its order, and with members that are undefined. */
const written = (outcome: TaskOutcome): string =>
  JSON.stringify(outcome, (_key, member: unknown) => (member === undefined ? 'undefined' : member));

it.each(Object.keys(ORDERS) as TaskName[])('%s returns the same in a thread, byte for byte', async (task) => {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(ORDERS[task], async (input) => {
      const order: Order = { task, input };
      const here = perform(order);
      kinds.add(here.kind);
      expect(written(await pool.run({ principalId: 'a' }, order))).toBe(written(here));
    }),
    // A fixed seed, because a random run could by chance contain no input that leads to one of the kinds.
    { numRuns: 50, seed: Number(process.env['FUZZ_SEED'] ?? 2026) },
  );
  expect(kinds).not.toContain('failed');
  expect(kinds).toContain('done');
});

it('an internal error in a thread is returned as failed', async () => {
  const order: Order = { task: 'summarize', input: Object({}) };
  expect(perform(order).kind).toBe('failed');
  const { kind, ...rest } = await pool.run({ principalId: 'a' }, order);
  expect(kind).toBe('failed');
  expect(String(Reflect.get(rest, 'error'))).toBe(String(Reflect.get(perform(order), 'error')));
});

describe('the outline of a body', () => {
  const outcomeOf = (sent: JsonValue): string => {
    try {
      return JSON.stringify(CreateRefreshRequestBody.require(sent));
    } catch (error) {
      return JSON.stringify([String(error), Reflect.get(Object(error), 'details')]);
    }
  };
  const good = { requesting_tenant_id: 'beta', requested_paths: ['/attributes/a'] };
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`u${at}`, [at]]));
  const list = (length: number): JsonValue => ({ ...good, requested_paths: Array.from({ length }, () => '/a') });
  it.each<[string, JsonValue, JsonValue?]>([
    ['a good body', good],
    ['unknown members', { ...many, ...good }],
    ['objects and arrays where texts should be', { requesting_tenant_id: [[1]], reason_code: { a: 1 }, message: [] }],
    ['a list that is not an array', { ...good, requested_paths: { a: [1] } }],
    ['null', null],
    ['a list', [good]],
    ['a string', 'x'],
    // Callers use the length of the list, and which elements are strings.
    [
      'strange elements',
      { ...good, requested_paths: [[1, [2]], { a: 1 }, 1, null] },
      { ...good, requested_paths: [[], {}, 1, null] },
    ],
    ['a list that is too long', list(20_000), list(16_384)],
  ])('is validated like the body itself: %s', (_what, sent, same = sent) => {
    const fields = CreateRefreshRequestBody.names;
    expect(outcomeOf(outlineOf(structuredClone(sent), fields))).toBe(outcomeOf(structuredClone(same)));
  });
});
