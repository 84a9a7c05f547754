import { canonicalize, type JsonObject, type JsonValue, LOG_ENTRY_VERSION } from '@iss/domain/pure';
import { leafHash, parseCheckpoint, parseNote, toHex } from '@iss/tlog';
import { signedLog } from '../../../tools/testing/signed-log';
import type { LoggedVersion } from './content';
import { type BundleLine, type Entry, LineageProof, requireVersionEntry } from './inclusion';
import { KEYED_ENTRY_VERSION, leafTextOf, type LoggedText } from './leaf';
import type { Floor } from './trust';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const CREATED_AT = '2026-01-15T09:30:00.000Z';
/** A checkpoint before all entries, but signed after the time that they state. */
const FLOOR: Floor = { size: 0, at: Date.UTC(2026, 1, 1) };
const FACTS = (version: number) => ({
  ...{ snapshot_id: `id-${version}`, snapshot_version: version, created_at: CREATED_AT },
  ...{ envelope_hash: `hash-${version}`, prev_hash: version === 1 ? null : `hash-${version - 1}` },
});
const WRITER = { written_by: 'oidc:p#alice', write_request_id: 'request-1' };
const snapshotOf = (version: number): LoggedVersion => ({ subject: SUBJECT, ...FACTS(version), ...WRITER });

function entryOf(version: number, changes: JsonObject = {}): string {
  const members = { entry_version: LOG_ENTRY_VERSION, type: 'snapshot.created', tenant_id: 'acme' };
  return canonicalize({ ...members, ...SUBJECT, ...FACTS(version), ...WRITER, ...changes });
}

/** The entry of an erasure of the entries 0 and 1. */
function erasureOf(changes: JsonObject = {}): string {
  const members = { entry_version: LOG_ENTRY_VERSION, type: 'subject.erased', tenant_id: 'acme' };
  const erased = { erased_indexes: [0, 1], erased_versions: [FACTS(1), FACTS(2)] };
  return canonicalize({ ...members, ...SUBJECT, ...erased, ...changes });
}

/** Makes a log of these entries. */
async function logOf(...logged: readonly (string | LoggedText)[]) {
  const entries = logged.map((one) => (typeof one === 'string' ? { entry: one } : one));
  const log = await signedLog(entries.map(leafTextOf));
  const proofs = await Promise.all(entries.map((_, index) => log.inclusion(index)));
  const checkpoint = parseCheckpoint(parseNote(await log.checkpoint()).text);
  const proofOf = (index: number) => ({
    ...{ log_index: index, inclusion: proofs[index] ?? [] },
    ...(entries[index] ?? { entry: '' }),
  });
  return {
    prover: (floor: Floor | null = null) => new LineageProof(checkpoint, floor),
    proofOf,
    /** The line of a version, whose entry has the index before its number. */
    version: (version: number): BundleLine => ({ snapshot: snapshotOf(version), ...proofOf(version - 1) }),
    /** The line of an erased version, with the proof of the erasure in entry 2. */
    erased: (version: number, changes: Partial<BundleLine> = {}): BundleLine => ({
      ...{ snapshot: snapshotOf(version), log_index: version - 1, inclusion: proofs[version - 1] ?? [] },
      ...{ leaf_hash: toHex(leafHash(entries[version - 1]?.entry ?? '')), erased: proofOf(2) },
      ...changes,
    }),
  };
}

const logOfErasure = (changes: JsonObject = {}) => logOf(entryOf(1), entryOf(2), erasureOf(changes));
const refusal = (message: RegExp, failure = 'not_in_log') =>
  expect.objectContaining({ failure, message: expect.stringMatching(message) });

describe('LineageProof', () => {
  it('returns the index, tenant and writer of each version', async () => {
    const log = await logOf(entryOf(1), entryOf(2));
    const prover = log.prover();
    const logged = { tenantId: 'acme', writtenBy: 'oidc:p#alice', proved: 'content' };
    expect(prover.line('One:', log.version(1))).toEqual({ logIndex: 0, ...logged });
    expect(prover.line('Two:', log.version(2))).toEqual({ logIndex: 1, ...logged });
  });

  it('refuses a version that another tenant owns', async () => {
    const log = await logOf(entryOf(1), entryOf(2, { tenant_id: 'other' }));
    const prover = log.prover();
    prover.line('One:', log.version(1));
    expect(() => prover.line('Two:', log.version(2))).toThrow(
      refusal(/^Two: the entry’s tenant_id is other instead of acme/),
    );
  });

  it('refuses a backdated version, with content or erased', async () => {
    const log = await logOfErasure();
    const backdated = refusal(/ created 2026-01-15.* but not logged at/, 'backdated');
    expect(() => log.prover(FLOOR).line('One:', log.version(1))).toThrow(backdated);
    expect(() => log.prover(FLOOR).line('One:', log.erased(1))).toThrow(backdated);
  });

  it('ignores the time of an erased version that the erasure does not name', async () => {
    const log = await logOfErasure({ erased_versions: null });
    const logged = { logIndex: 0, tenantId: 'acme', writtenBy: null, proved: 'place' };
    expect(log.prover(FLOOR).line('One:', log.erased(1))).toEqual(logged);
  });
});

describe('LineageProof of erased versions', () => {
  it('reuses the proof of an erasure for lines that only name its index', async () => {
    const log = await logOfErasure();
    const prover = log.prover();
    const logged = { tenantId: 'acme', writtenBy: null, proved: 'facts' };
    expect(prover.line('One:', log.erased(1))).toEqual({ logIndex: 0, ...logged });
    expect(prover.line('Two:', log.erased(2, { erased: { log_index: 2 } }))).toEqual({ logIndex: 1, ...logged });
  });

  it('refuses a line that names an erasure without a proof', async () => {
    const log = await logOfErasure();
    const line = log.erased(1, { erased: { log_index: 2 } });
    expect(() => log.prover().line('One:', line)).toThrow(refusal(/the entry of its erasure is not RFC 8785 text/));
  });

  it('verifies a second proof of the same erasure', async () => {
    const log = await logOfErasure();
    const prover = log.prover();
    prover.line('One:', log.erased(1));
    const forged = { ...log.proofOf(2), entry: erasureOf({ erased_at: '2020-01-01' }) };
    expect(() => prover.line('Two:', log.erased(2, { erased: forged }))).toThrow(
      refusal(/^Two: the erasure, its proof: /),
    );
  });

  it.each<[string, (log: Awaited<ReturnType<typeof logOf>>) => Partial<BundleLine>, RegExp]>([
    [
      'an erasure that is not in the log',
      (log) => ({ erased: { ...log.proofOf(2), inclusion: log.proofOf(0).inclusion } }),
      /^One: the erasure, its proof: /,
    ],
    ['a leaf hash that is not in the log', () => ({ leaf_hash: 'ab'.repeat(32) }), /^One: its proof: /],
    ['a leaf without a valid proof', (log) => ({ inclusion: log.proofOf(2).inclusion }), /^One: its proof: /],
    [
      'a created_at that differs from the erasure entry',
      () => ({ snapshot: { ...snapshotOf(1), created_at: '2026-01-16T00:00:00.000Z' } }),
      /the entry of its erasure’s created_at is 2026-01-15/,
    ],
    [
      'an erasure of another subject',
      () => ({ snapshot: { ...snapshotOf(1), subject: { ...SUBJECT, subject_id: 'other' } } }),
      /the entry of its erasure’s subject_id is acme-corp instead of other/,
    ],
    [
      'an erasure of another subject type',
      () => ({ snapshot: { ...snapshotOf(1), subject: { ...SUBJECT, subject_type: 'person' } } }),
      /the entry of its erasure’s subject_type is organization instead of person/,
    ],
  ])('refuses %s', async (_, changes, message) => {
    const log = await logOfErasure();
    expect(() => log.prover().line('One:', log.erased(1, changes(log)))).toThrow(refusal(message));
  });

  it('accepts an erased version whose envelope is undefined', async () => {
    const log = await logOfErasure();
    const snapshot: LoggedVersion & { envelope: undefined } = { ...snapshotOf(1), envelope: undefined };
    expect(log.prover().line('One:', log.erased(1, { snapshot }))).toMatchObject({ proved: 'facts' });
  });

  it('requires the own entry of a version with content, despite a claimed erasure', async () => {
    const log = await logOfErasure();
    const snapshot: LoggedVersion & { envelope: JsonObject } = { ...snapshotOf(1), envelope: {} };
    const withoutEntry = log.erased(1, { snapshot });
    expect(() => log.prover().line('One:', withoutEntry)).toThrow(refusal(/^One: the entry is not RFC 8785 text/));
    const { entry } = log.proofOf(0);
    expect(log.prover().line('One:', { ...withoutEntry, entry })).toMatchObject({ proved: 'content' });
  });
});

describe('requireVersionEntry', () => {
  const entryFor = (logged: LoggedText): Entry => requireVersionEntry('One:', logged, snapshotOf(1));

  it.each<[string, JsonValue]>([
    ['type', 'subject.erased'],
    ['subject_type', 'person'],
    ['subject_id', 'other'],
    ['snapshot_id', 'id-2'],
    ['snapshot_version', 2],
    ['envelope_hash', 'hash-2'],
    ['prev_hash', 'hash-0'],
    ['created_at', '2026-01-16T00:00:00.000Z'],
    ['written_by', 'oidc:p#eve'],
    ['write_request_id', 'request-2'],
    ['entry_version', 'iss_log_entry_v0'],
  ])('refuses an entry with another %s', (name, value) => {
    expect(entryFor({ entry: entryOf(1) })).toMatchObject(FACTS(1));
    const entry = entryOf(1, { [name]: value });
    expect(() => entryFor({ entry })).toThrow(refusal(new RegExp(`^One: the entry’s ${name} is `)));
  });

  it('refuses an entry with a created_at that the header lacks', () => {
    const version = { ...snapshotOf(1), created_at: undefined };
    expect(() => requireVersionEntry('One:', { entry: entryOf(1) }, version)).toThrow(
      refusal(/created_at is 2026-01-15.* instead of null/),
    );
  });

  it('compares snapshot_id without regard to case', () => {
    const version = { ...snapshotOf(1), snapshot_id: 'ID-1' };
    expect(requireVersionEntry('One:', { entry: entryOf(1) }, version)).toMatchObject(FACTS(1));
  });

  it('accepts an entry of an earlier release, which names no writer', () => {
    const members = Object.entries(JSON.parse(entryOf(1))).filter(([name]) => !Object.hasOwn(WRITER, name));
    const entry = JSON.stringify(Object.fromEntries(members));
    expect(entryFor({ entry })).toMatchObject(FACTS(1));
  });

  it('refuses keys of an entry whose format has none, and an entry without the keys of its format', () => {
    const keys = ['A'.repeat(43)];
    const keyed = entryOf(1, { entry_version: KEYED_ENTRY_VERSION });
    expect(entryFor({ entry: keyed, keys })).toMatchObject(FACTS(1));
    const wrongVersion = refusal(/the entry’s entry_version is iss_log_entry_v[12] instead of/);
    expect(() => entryFor({ entry: keyed })).toThrow(wrongVersion);
    expect(() => entryFor({ entry: entryOf(1), keys })).toThrow(wrongVersion);
  });

  it('refuses an entry without a tenant', () => {
    expect(() => entryFor({ entry: entryOf(1, { tenant_id: null }) })).toThrow(refusal(/the entry names no tenant/));
  });
});
