import { sameUuid } from '../envelope/formats';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { isJsonObject, type JsonValue } from '../json/value';
import { HASH_ALGORITHM, hashText } from './seal';

/**
 * A row of a snapshot. `envelopeHash` is null if an import did not hash the snapshot, `envelopeText` if it was erased.
 */
export interface StoredSnapshot {
  snapshotId: string;
  snapshotVersion: number;
  envelopeText: string | null;
  envelopeHash: string | null;
  prevHash: string | null;
}

/** The modes that need nothing but snapshots. */
export const CHAIN_VERIFY_MODES = ['none', 'hash', 'chain'] as const;
export const VERIFY_MODES = [...CHAIN_VERIFY_MODES, 'complete'] as const;
export type VerifyMode = (typeof VERIFY_MODES)[number];

/** Contract row `verification`. `valid` is null if the mode does not check it or nothing is stored to compare with. */
export interface SnapshotVerification {
  mode: 'hash' | 'chain' | 'complete';
  /** False if an import did not hash the snapshot: no chain can lead through it yet. */
  chain_supported: boolean;
  hash: HashVerification & { alg: typeof HASH_ALGORITHM };
  /** `depth` is the number of links that were followed. `complete` says whether they reach version 1. */
  chain: ChainVerification;
  /** Only in the mode `complete`. */
  complete?: CompleteVerification;
}
/** The newest version of a subject by the map of the published log. */
export interface NewestLogged {
  /** 0 if the log has no version of the subject. */
  newest_version: number;
  /** The entries of the log that the map covers. */
  as_of_size: number;
  /** The log index of the newest version. */
  log_index: number | null;
}
export interface CompleteVerification extends NewestLogged {
  /** Null if the version is not in the published log yet. */
  is_newest: boolean | null;
}
export interface ChainVerification {
  prev_hash: string | null;
  valid: boolean | null;
  depth: number;
  complete: boolean | null;
  /**
   * The erased versions on the way. Their links are checked, but their texts no longer exist. Absent if there are none.
   */
  erased?: number[];
}
export interface HashVerification {
  /** The hash of the stored envelope, computed now. Null if the text was erased or is not JSON. */
  value: string | null;
  stored: string | null;
  valid: boolean | null;
}
export interface DiffVerification {
  mode: 'hash' | 'chain';
  chain_supported: boolean;
  hash: { alg: typeof HASH_ALGORITHM; from: HashVerification; to: HashVerification };
  chain: ChainVerification & { from: ChainVerification; to: ChainVerification };
}

/** The result of checking a snapshot's text, with its links. A chain can be walked without keeping the texts. */
export interface CheckedLink {
  snapshotVersion: number;
  envelopeHash: string | null;
  prevHash: string | null;
  /** True if the text is the one that was sealed. Null if no hash was stored or the text was erased. */
  valid: boolean | null;
  isErased: boolean;
}
/** A checked link with the computed hash. */
export interface CheckedSnapshot extends CheckedLink {
  hash: HashVerification;
}

/**
 * Verifies a stored snapshot by recomputing everything from its text.
 *
 * A hash is valid if the stored text is canonical (RFC 8785), contains the id and version of its row, and has the
 * stored SHA-256. A chain is valid if this is true of the snapshot and of each parent that was walked, no version is
 * skipped, each `prev_hash` is the parent's `envelope_hash`, and version 1 has none. For an erased snapshot only the
 * links are checked.
 *
 * @param parents the preceding snapshots, newest first; used only in the mode `chain`.
 * @param depth the number of links to follow, ≥ 1. Fewer parents are a gap, unless they reach version 1.
 */
export function verifyStoredSnapshot(
  mode: 'hash' | 'chain',
  snapshot: StoredSnapshot,
  parents: readonly StoredSnapshot[],
  depth = Math.max(1, parents.length),
): SnapshotVerification {
  return verifyChecked(mode, checkSnapshot(snapshot), mode === 'chain' ? parents.map(checkLink) : [], depth);
}

/** Does the same as {@link verifyStoredSnapshot} with snapshots that were already checked. */
export function verifyChecked(
  mode: 'hash' | 'chain',
  snapshot: CheckedSnapshot,
  parents: readonly CheckedLink[],
  depth: number,
): SnapshotVerification {
  const chain = { prev_hash: snapshot.prevHash, valid: null, depth: 0, complete: null };
  return {
    mode,
    chain_supported: snapshot.envelopeHash !== null,
    hash: { alg: HASH_ALGORITHM, ...snapshot.hash },
    chain: mode === 'hash' ? chain : { ...chain, ...walkChain(snapshot, parents, depth) },
  };
}

/** Adds to the verification of a version whether it is the newest one by the map of the log. */
export function verifyComplete(
  verification: SnapshotVerification,
  version: number,
  newest: NewestLogged,
): SnapshotVerification {
  const isNewest = version > newest.newest_version ? null : version === newest.newest_version;
  return { ...verification, mode: 'complete', complete: { is_newest: isNewest, ...newest } };
}

/** Checks a snapshot's own text and hash in full. */
export function checkSnapshot(snapshot: StoredSnapshot): CheckedSnapshot {
  const hash = verifyHash(snapshot);
  return { ...linkOf(snapshot), valid: hash.valid, hash };
}

/**
 * Checks a snapshot as a link of a chain, in little more time than hashing takes. If the bytes have the stored hash,
 * they are the bytes that were sealed, and need not be parsed again; a child's `prev_hash` is compared with that hash.
 * If this quick check does not succeed, the full check decides.
 */
export function checkLink(snapshot: StoredSnapshot): CheckedLink {
  const { envelopeText, envelopeHash, snapshotId, snapshotVersion } = snapshot;
  const isQuicklyConfirmed =
    envelopeText !== null &&
    hashText(envelopeText) === envelopeHash &&
    envelopeText.includes(`"snapshot_id":"${snapshotId}"`) &&
    envelopeText.includes(`"snapshot_version":${snapshotVersion},`);
  return { ...linkOf(snapshot), valid: isQuicklyConfirmed || verifyHash(snapshot).valid };
}

/**
 * Follows up to `depth` links from a snapshot to its parents (newest first). `valid` is defined in {@link
 * verifySnapshot}, and `depth` is the number of links that were followed. `complete` says whether they reach version 1.
 */
export function walkChain(
  snapshot: CheckedLink,
  parents: readonly CheckedLink[],
  depth: number,
): { valid: boolean | null; depth: number; complete: boolean; erased?: number[] } {
  let valid = ownVerdict(snapshot);
  let child = snapshot;
  const erased = snapshot.isErased ? [snapshot.snapshotVersion] : [];
  let followed = 0;
  while (followed < depth && child.snapshotVersion > 1) {
    const parent = parents[followed];
    if (parent === undefined || parent.snapshotVersion !== child.snapshotVersion - 1) {
      return { valid: false, depth: followed, complete: false, ...unlessNone(erased) };
    }
    valid = allValid([valid, linkHolds(child, parent), ownVerdict(parent)]);
    if (parent.isErased) erased.push(parent.snapshotVersion);
    child = parent;
    followed++;
  }
  const complete = child.snapshotVersion === 1;
  if (complete) valid = allValid([valid, child.prevHash === null]);
  return { valid, depth: followed, complete, ...unlessNone(erased) };
}

/** Treats an erased snapshot as valid: it has no text, so only its links are checked. */
function ownVerdict({ valid, isErased }: CheckedLink): boolean | null {
  return isErased ? true : valid;
}

function unlessNone(erased: number[]): { erased?: number[] } {
  return erased.length === 0 ? {} : { erased };
}

/** Combines verdicts: false wins over null (unknown), and null over true. */
export function allValid(verdicts: readonly (boolean | null)[]): boolean | null {
  if (verdicts.includes(false)) return false;
  return verdicts.includes(null) ? null : true;
}

/**
 * Combines the verifications of the two snapshots of a diff. `chain` is that of `to`; it is valid and complete only if
 * both chains are.
 */
export function verificationOfDiff(from: SnapshotVerification, to: SnapshotVerification): DiffVerification {
  return {
    mode: to.mode === 'chain' ? 'chain' : 'hash',
    chain_supported: from.chain_supported && to.chain_supported,
    hash: { alg: HASH_ALGORITHM, from: figures(from.hash), to: figures(to.hash) },
    chain: {
      ...to.chain,
      valid: allValid([from.chain.valid, to.chain.valid]),
      complete: allValid([from.chain.complete, to.chain.complete]),
      from: from.chain,
      to: to.chain,
    },
  };
}

function figures({ value, stored, valid }: HashVerification): HashVerification {
  return { value, stored, valid };
}

function verifyHash(snapshot: StoredSnapshot): HashVerification {
  const stored = snapshot.envelopeHash;
  if (snapshot.envelopeText === null) return { value: null, stored, valid: null };
  const envelope = parse(snapshot.envelopeText);
  const canonicalText = envelope === undefined ? undefined : canonicalTextOf(envelope);
  const value = canonicalText === undefined ? null : hashText(canonicalText);
  if (stored === null) return { value, stored, valid: null };
  const isIntact = canonicalText === snapshot.envelopeText && envelope !== undefined && names(envelope, snapshot);
  return { value, stored, valid: isIntact && value === stored };
}

function linkOf({ snapshotVersion, envelopeHash, prevHash, envelopeText }: StoredSnapshot): Omit<CheckedLink, 'valid'> {
  return { snapshotVersion, envelopeHash, prevHash, isErased: envelopeText === null };
}

function linkHolds(child: CheckedLink, parent: CheckedLink): boolean | null {
  if (child.prevHash === null && parent.envelopeHash === null) return null;
  return child.prevHash === parent.envelopeHash;
}

function names(envelope: JsonValue, { snapshotId, snapshotVersion }: StoredSnapshot): boolean {
  return (
    isJsonObject(envelope) &&
    typeof envelope['snapshot_id'] === 'string' &&
    sameUuid(envelope['snapshot_id'], snapshotId) &&
    envelope['snapshot_version'] === snapshotVersion
  );
}

function parse(text: string): JsonValue | undefined {
  try {
    return parseStoredJson(text);
  } catch {
    return undefined;
  }
}

function canonicalTextOf(value: JsonValue): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}
