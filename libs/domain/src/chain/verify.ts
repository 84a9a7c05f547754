import { sameUuid } from '../envelope/formats';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { isJsonObject, type JsonValue } from '../json/value';
import { HASH_ALGORITHM, hashText } from './seal';

/** A snapshot as its row holds it. `envelopeHash` is null where an import left it out. */
export interface StoredSnapshot {
  snapshotId: string;
  snapshotVersion: number;
  envelopeText: string;
  envelopeHash: string | null;
  prevHash: string | null;
}

export const VERIFY_MODES = ['none', 'hash', 'chain'] as const;
export type VerifyMode = (typeof VERIFY_MODES)[number];

/** Contract row `verification`. `valid` is null for what the mode did not look at or had nothing to compare with. */
export interface Verification {
  mode: 'hash' | 'chain';
  /** False where an import left the snapshot unhashed: there is no chain through it yet. */
  chain_supported: boolean;
  hash: HashVerification & { alg: typeof HASH_ALGORITHM };
  /** `depth` is the number of links that were followed. */
  chain: { prev_hash: string | null; valid: boolean | null; depth: number };
}
export interface HashVerification {
  /** What the stored envelope hashes to now; null when it is no JSON any more. */
  value: string | null;
  stored: string | null;
  valid: boolean | null;
}
export interface DiffVerification {
  mode: 'hash' | 'chain';
  chain_supported: boolean;
  hash: { alg: typeof HASH_ALGORITHM; from: HashVerification; to: HashVerification };
  chain: Verification['chain'] & { from: Verification['chain']; to: Verification['chain'] };
}

/**
 * Recomputes from stored rows what their writer claims; trusts nothing that was stored beside the text.
 *
 * A hash is valid when the stored text is canonical (RFC 8785), names the row's own id and version, and its SHA-256 is
 * the stored one. A chain is valid when that is so for the snapshot and each parent walked, versions have no gap, each
 * `prev_hash` is the parent's `envelope_hash`, and version 1 has none.
 *
 * @param parents the preceding snapshots, newest first; only looked at in the mode `chain`.
 * @param depth the links to follow, ≥ 1. Fewer parents than that are a gap, unless they reach version 1.
 */
export function verifySnapshot(
  mode: 'hash' | 'chain',
  snapshot: StoredSnapshot,
  parents: readonly StoredSnapshot[],
  depth = Math.max(1, parents.length),
): Verification {
  const hash = verifyHash(snapshot);
  const chain = { prev_hash: snapshot.prevHash, valid: null, depth: 0 };
  return {
    mode,
    chain_supported: snapshot.envelopeHash !== null,
    hash: { alg: HASH_ALGORITHM, ...hash },
    chain: mode === 'hash' ? chain : { ...chain, ...walk(snapshot, hash.valid, parents, depth) },
  };
}

/** The verification of a diff, from those of its two snapshots: `chain` is that of `to`, and both must hold. */
export function verificationOfDiff(from: Verification, to: Verification): DiffVerification {
  return {
    mode: to.mode,
    chain_supported: from.chain_supported && to.chain_supported,
    hash: { alg: HASH_ALGORITHM, from: figures(from.hash), to: figures(to.hash) },
    chain: { ...to.chain, valid: both(from.chain.valid, to.chain.valid), from: from.chain, to: to.chain },
  };
}

function figures({ value, stored, valid }: HashVerification): HashVerification {
  return { value, stored, valid };
}

function verifyHash(snapshot: StoredSnapshot): HashVerification {
  const stored = snapshot.envelopeHash;
  const envelope = parse(snapshot.envelopeText);
  const canonicalText = envelope === undefined ? undefined : canonicalTextOf(envelope);
  const value = canonicalText === undefined ? null : hashText(canonicalText);
  if (stored === null) return { value, stored, valid: null };
  const isIntact = canonicalText === snapshot.envelopeText && envelope !== undefined && names(envelope, snapshot);
  return { value, stored, valid: isIntact && value === stored };
}

function walk(
  snapshot: StoredSnapshot,
  isSnapshotValid: boolean | null,
  parents: readonly StoredSnapshot[],
  depth: number,
): { valid: boolean | null; depth: number } {
  let valid = isSnapshotValid;
  let child = snapshot;
  let followed = 0;
  while (followed < depth && child.snapshotVersion > 1) {
    const parent = parents[followed];
    if (parent === undefined || parent.snapshotVersion !== child.snapshotVersion - 1) {
      return { valid: false, depth: followed };
    }
    valid = both(both(valid, linkHolds(child, parent)), isParentValid(parent));
    child = parent;
    followed++;
  }
  if (child.snapshotVersion === 1) valid = both(valid, child.prevHash === null);
  return { valid, depth: followed };
}

/**
 * A walk of 1,000 is as fast as hashing: bytes that have the stored hash, to which a child's `prev_hash` is compared, are
 * those that were sealed, and are not parsed again. Whatever the quick look does not confirm gets the full one.
 */
function isParentValid(parent: StoredSnapshot): boolean | null {
  const { envelopeText, envelopeHash, snapshotId, snapshotVersion } = parent;
  const isQuicklyConfirmed =
    hashText(envelopeText) === envelopeHash &&
    envelopeText.includes(`"snapshot_id":"${snapshotId}"`) &&
    envelopeText.includes(`"snapshot_version":${snapshotVersion},`);
  return isQuicklyConfirmed || verifyHash(parent).valid;
}

function linkHolds(child: StoredSnapshot, parent: StoredSnapshot): boolean | null {
  if (child.prevHash === null && parent.envelopeHash === null) return null;
  return child.prevHash === parent.envelopeHash;
}

/** False wins over null (unknown), null over true. */
function both(left: boolean | null, right: boolean | null): boolean | null {
  if (left === false || right === false) return false;
  return left === null || right === null ? null : true;
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
