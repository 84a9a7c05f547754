import {
  canonicalize,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  LOG_ENTRY_VERSION,
  parseJsonText,
} from '@iss/domain/pure';
import { type Checkpoint, decodeHash, TlogError, verifyInclusion } from '@iss/tlog';
import { type Expected, type LoggedVersion, requireMembers } from './content';
import { VerificationError } from './errors';
import { KEYED_ENTRY_VERSION, leafOf, type LoggedText } from './leaf';
import { type Floor, requireNotBackdated } from './trust';

/** Deeper than any stored envelope. */
export const MAX_DEPTH = 10_000;

/** The place of a leaf in the log, with the hashes (base64) that prove it. */
export interface LeafProof {
  readonly log_index: number;
  readonly inclusion: readonly string[];
}

/** A log entry with its inclusion proof. */
export interface EntryProof extends LeafProof, LoggedText {}

/**
 * A line of a bundle. An erased version has no entry, only its leaf hash and the proof of the erasure. Later lines of the same erasure name
 * that proof only by its log index.
 */
export interface BundleLine extends LeafProof, Partial<LoggedText> {
  readonly snapshot: LoggedVersion;
  readonly leaf_hash?: string | undefined;
  readonly erased?: (Partial<EntryProof> & Pick<LeafProof, 'log_index'>) | undefined;
}

/** The proved log facts of a version. */
export interface Logged {
  readonly logIndex: number;
  /** The owner of the subject. */
  readonly tenantId: string;
  /** The writer according to the entry; null if the entry does not name it. */
  readonly writtenBy: string | null;
  /**
   * `content`: everything. For an erased version, `facts` (id, hashes and time), or only `place` (the log index), if an earlier release
   * logged the erasure without naming the versions.
   */
  readonly proved: 'content' | 'facts' | 'place';
}

/** A log entry, which names a tenant. */
export type Entry = JsonObject & { tenant_id: string };

/**
 * Proves the versions of one subject against one checkpoint: the lines of a bundle, or a single version. Each method throws
 * VerificationError `not_in_log` if a proof fails. `where` starts the message.
 */
export class LineageProof {
  /** Used log indexes. */
  readonly #places = new Set<number>();
  /** Proved erasures by log index. */
  readonly #erasures = new Map<number, Entry>();
  #tenantId: string | null = null;

  constructor(
    private readonly checkpoint: Checkpoint,
    /** An earlier checkpoint. Later entries must not have earlier times. */
    private readonly floor: Floor | null,
  ) {}

  /** Proves the line of a version with content, or of an erased version. */
  line(where: string, line: BundleLine): Logged {
    const { snapshot, erased, leaf_hash, log_index: logIndex } = line;
    const hasContent = 'envelope' in snapshot && snapshot.envelope !== undefined;
    // Existing content must be proved, even if an erasure is claimed.
    if (hasContent || erased === undefined) return this.#version(where, line);
    const erasure = this.#erasure(where, erased, snapshot);
    const proved = requireErasedVersion(where, erasure, line) === null ? 'place' : 'facts';
    requireIncluded(`${where} its proof`, bytesOfHex(leaf_hash), line, this.checkpoint);
    return this.#logged(where, snapshot, { logIndex, tenantId: erasure.tenant_id, writtenBy: null, proved });
  }

  #version(where: string, { snapshot, ...line }: BundleLine): Logged {
    const proof = { entry: '', ...line };
    const { tenant_id: tenantId, written_by } = requireVersionEntry(where, proof, snapshot);
    const writtenBy = typeof written_by === 'string' ? written_by : null;
    const logged = this.#logged(where, snapshot, { logIndex: line.log_index, tenantId, writtenBy, proved: 'content' });
    requireIncluded(`${where} its proof`, leafOf(proof), line, this.checkpoint);
    return logged;
  }

  /** Proves the entry of an erasure and returns it. */
  #erasure(where: string, given: NonNullable<BundleLine['erased']>, { subject }: LoggedVersion): Entry {
    const known = this.#erasures.get(given.log_index);
    if (known && given.entry === undefined) return known;
    const proof = { entry: '', inclusion: [], ...given };
    const erasure = requireErasureEntry(where, proof, subject);
    requireIncluded(`${where} the erasure, its proof`, leafOf(proof), proof, this.checkpoint);
    this.#erasures.set(given.log_index, erasure);
    return erasure;
  }

  /** Checks the time, that no other version has the log index, and that all entries name the same tenant. */
  #logged(where: string, { created_at }: LoggedVersion, logged: Logged): Logged {
    const { logIndex, tenantId, proved } = logged;
    if (created_at !== undefined && proved !== 'place') requireNotBackdated(where, logIndex, created_at, this.floor);
    if (this.#places.has(logIndex)) throw refusal(`${where} its entry ${logIndex} is of another version.`);
    this.#places.add(logIndex);
    this.#tenantId ??= tenantId;
    requireMembers(`${where} the entry`, { tenant_id: tenantId }, { tenant_id: this.#tenantId });
    return logged;
  }
}

/** Checks that the entry of a version states the same as its header. @throws VerificationError */
export function requireVersionEntry(where: string, logged: LoggedText, version: LoggedVersion): Entry {
  const at = `${where} the entry`;
  const { subject, created_at = null, written_by = null, write_request_id = null } = version;
  const entry = requireEntry(at, logged, { type: 'snapshot.created', ...subject, ...factsOf(version), created_at });
  // Entries of earlier releases name no writer.
  if ('written_by' in entry) requireMembers(at, entry, { written_by, write_request_id });
  return entry;
}

/** Checks that a log entry records an erasure of the subject. @throws VerificationError */
export function requireErasureEntry(where: string, logged: LoggedText, subject: LoggedVersion['subject']): Entry {
  return requireEntry(`${where} the entry of its erasure`, logged, { type: 'subject.erased', ...subject });
}

/**
 * Checks that the erasure names the log index and, if it names versions, this one. Returns what it says of the version; null if it names
 * no versions. @throws VerificationError
 */
export function requireErasedVersion(
  where: string,
  { erased_indexes: indexes, erased_versions: versions = null }: Entry,
  { log_index: logIndex, snapshot }: Pick<BundleLine, 'log_index' | 'snapshot'>,
): JsonObject | null {
  const at = `${where} the entry of its erasure`;
  const place = Array.isArray(indexes) ? indexes.indexOf(logIndex) : -1;
  if (place < 0) throw refusal(`${at} does not name index ${logIndex}.`);
  if (versions === null) return null;
  // The versions are in the order of the indexes.
  const named = Array.isArray(versions) ? versions[place] : versions;
  return requireMembers(at, named, factsOf(snapshot));
}

/** Verifies that a leaf is in the tree. @throws VerificationError `not_in_log` */
export function requireIncluded(
  where: string,
  leaf: Uint8Array,
  { log_index: index, inclusion }: LeafProof,
  checkpoint: Checkpoint,
): void {
  try {
    verifyInclusion(leaf, index, checkpoint, decodeHashes(inclusion));
  } catch (cause) {
    // A hash that is not base64 proves as little as a wrong one.
    throw cause instanceof TlogError ? refusal(`${where}: ${cause.message}`, cause) : cause;
  }
}

/** @throws TlogError `malformed` */
export function decodeHashes(hashes: readonly string[]): Uint8Array[] {
  return hashes.map((hash) => decodeHash(hash, 'hash of the proof'));
}

/** Decodes lowercase hex. The result of any other text has another length than a hash. */
export function bytesOfHex(hex: string | undefined): Uint8Array {
  return Uint8Array.from(String(hex).match(/[0-9a-f]{2}/g) ?? [], (byte) => parseInt(byte, 16));
}

/** Parses an entry and checks its members. It must name a tenant. */
export function requireEntry(where: string, logged: LoggedText, expected: Expected): Entry {
  const entry = parsed(logged.entry);
  if (!isJsonObject(entry) || canonicalize(entry) !== logged.entry) throw refusal(`${where} is not RFC 8785 text.`);
  // Otherwise, an entry could be shown without its keys.
  const entry_version = logged.keys ? KEYED_ENTRY_VERSION : LOG_ENTRY_VERSION;
  requireMembers(where, entry, { entry_version, ...expected });
  const { tenant_id } = entry;
  if (typeof tenant_id !== 'string') throw refusal(`${where} names no tenant.`);
  return { ...entry, tenant_id };
}

/** Parses an entry; undefined if it is not JSON. */
export function parsed(text: string): JsonValue | undefined {
  try {
    return parseJsonText(text, { maxDepth: MAX_DEPTH });
  } catch {
    return undefined;
  }
}

/** Returns the members of an entry that identify a version. */
function factsOf({ snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at }: LoggedVersion): Expected {
  return {
    // UUIDs are case-insensitive.
    snapshot_id: snapshot_id.toLowerCase(),
    snapshot_version,
    envelope_hash,
    prev_hash,
    created_at,
  };
}

function refusal(message: string, cause?: unknown): VerificationError {
  return new VerificationError('not_in_log', message, { cause });
}
