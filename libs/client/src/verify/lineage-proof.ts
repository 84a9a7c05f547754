import { canonicalize, isJsonObject, type JsonObject, type JsonValue, LOG_ENTRY_VERSION } from '@iss/domain/pure';
import { type Checkpoint, decodeHash, leafHash, TlogError, verifyInclusion } from '@iss/tlog';
import { VerificationError } from '../errors.ts';
import { parseAnswer } from '../http/answer.ts';
import { requireLike, type Shape } from '../http/shape.ts';
import { VERSION } from '../shapes.ts';

/** A log entry with its inclusion proof. */
export interface LogProof {
  readonly log_index: number;
  /** Base64. */
  readonly inclusion: readonly string[];
  readonly entry: string;
}
export const LOG_PROOF: Shape<LogProof> = { log_index: 0, inclusion: [''], entry: '' };

/** The facts of a version that its header and its log entry must both state. */
export interface LoggedVersion {
  readonly subject: Readonly<Partial<Record<'subject_type' | 'subject_id', string>>>;
  readonly snapshot_id: string;
  readonly snapshot_version: number;
  readonly envelope_hash: string | null;
  readonly prev_hash: string | null;
  /** Absent in the receipt of an erasure. */
  readonly created_at?: string | undefined;
  readonly written_by?: string | null | undefined;
  readonly write_request_id?: string | null | undefined;
}

/**
 * A line of a bundle. An erased version has no entry, only its leaf hash and the proof of the erasure. Later lines of the same erasure name
 * that proof only by its log index.
 */
export interface BundleLine extends Omit<LogProof, 'entry'> {
  readonly snapshot: LoggedVersion;
  readonly entry?: string | undefined;
  readonly leaf_hash?: string | undefined;
  readonly erased?: (LogProof | { readonly log_index: number; readonly entry?: undefined }) | undefined;
}
export const BUNDLE_LINE = {
  snapshot: VERSION,
  log_index: 0,
  inclusion: [''],
  entry: null,
  leaf_hash: null,
  erased: { '?': { log_index: 0 } },
} as const;

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

/** An erasure according to its log entry. */
interface Erasure {
  readonly tenantId: string;
  /** Log indexes of the erased versions. */
  readonly indexes: readonly JsonValue[];
  /** The versions in the same order; null if the entry does not name them. */
  readonly versions: readonly JsonValue[] | null;
}

/**
 * Proves the versions of one subject against one checkpoint: the lines of a bundle, or a single version. Each method throws
 * VerificationError `not_in_log` if a proof fails. `where` starts the message.
 */
export class LineageProof {
  /** Used log indexes. */
  readonly #places = new Set<number>();
  /** Proved erasures by log index. */
  readonly #erasures = new Map<number, Erasure & { entry: string }>();
  #tenantId: string | null = null;

  constructor(private readonly checkpoint: Checkpoint) {}

  /** Proves the line of a version with content, or of an erased version. */
  line(where: string, line: BundleLine): Logged {
    const { snapshot, erased, leaf_hash: hex } = line;
    const hasContent = 'envelope' in snapshot && snapshot.envelope !== undefined;
    // Existing content must be proved, even if an erasure is claimed.
    if (hasContent || erased === undefined) return this.version(where, line, snapshot);
    const { tenantId, indexes, versions } = this.#erasure(where, erased, snapshot);
    const at = indexes.indexOf(line.log_index);
    if (at < 0) throw refusal(`${where} the entry of its erasure does not name index ${line.log_index}.`);
    if (versions !== null) requireMembers(`${where} the entry of its erasure`, versions[at], factsOf(snapshot));
    const bytes = String(hex).match(/[0-9a-f]{2}/g) ?? [];
    this.#include(
      where,
      line,
      Uint8Array.from(bytes, (byte) => parseInt(byte, 16)),
    );
    const proved = versions === null ? 'place' : 'facts';
    return this.#logged(where, { logIndex: line.log_index, tenantId, writtenBy: null, proved });
  }

  /** Proves a version with its entry. */
  version(
    where: string,
    { entry: text, ...proof }: Omit<LogProof, 'entry'> & { entry?: string | undefined },
    of: LoggedVersion,
  ): Logged {
    requireLike<string>(text, '');
    const at = `${where} the entry`;
    const entry = requireEntry(at, text, {
      type: 'snapshot.created',
      ...of.subject,
      ...factsOf(of),
      created_at: of.created_at ?? null,
    });
    const { written_by = null, write_request_id = null } = of;
    // Entries of earlier releases name no writer.
    const namesWriter = 'written_by' in entry;
    if (namesWriter) requireMembers(at, entry, { written_by, write_request_id });
    const writtenBy = namesWriter ? written_by : null;
    const logged = this.#logged(where, {
      logIndex: proof.log_index,
      tenantId: entry.tenant_id,
      writtenBy,
      proved: 'content',
    });
    this.#include(where, proof, leafHash(text));
    return logged;
  }

  /** Proves the entry of an erasure and returns its data. */
  #erasure(where: string, proof: NonNullable<BundleLine['erased']>, { subject }: LoggedVersion): Erasure {
    const known = this.#erasures.get(proof.log_index);
    if (known !== undefined && (proof.entry === undefined || proof.entry === known.entry)) return known;
    const at = `${where} the entry of its erasure`;
    requireLike<LogProof>(proof, LOG_PROOF);
    const entry = requireEntry(at, proof.entry, { type: 'subject.erased', ...subject });
    this.#include(`${where} the erasure,`, proof, leafHash(proof.entry));
    const { erased_indexes: indexes, erased_versions: versions = null } = entry;
    if (!Array.isArray(indexes)) throw refusal(`${at} names no indexes.`);
    const isPaired = versions === null || (Array.isArray(versions) && versions.length === indexes.length);
    if (!isPaired) throw refusal(`${at} does not name a version for each index.`);
    const erasure = { tenantId: entry.tenant_id, indexes, versions, entry: proof.entry };
    this.#erasures.set(proof.log_index, erasure);
    return erasure;
  }

  /** Checks that no other version has the log index, and that all entries name the same tenant. */
  #logged(where: string, logged: Logged): Logged {
    const { logIndex, tenantId } = logged;
    if (this.#places.has(logIndex)) throw refusal(`${where} its entry ${logIndex} is of another version.`);
    this.#places.add(logIndex);
    this.#tenantId ??= tenantId;
    requireMembers(`${where} the entry`, { tenant_id: tenantId }, { tenant_id: this.#tenantId });
    return logged;
  }

  #include(where: string, { log_index: index, inclusion }: Omit<LogProof, 'entry'>, leaf: Uint8Array): void {
    try {
      const hashes = inclusion.map((hash) => decodeHash(hash, 'hash of the proof'));
      verifyInclusion(leaf, index, this.checkpoint, hashes);
    } catch (cause) {
      if (!(cause instanceof TlogError)) throw cause;
      throw refusal(`${where} its proof: ${cause.message}`, cause);
    }
  }
}

/** Parses an entry and checks its members. It must name a tenant. */
function requireEntry(where: string, text: string, expected: JsonObject): JsonObject & { tenant_id: string } {
  const entry = parseAnswer(text);
  if (!isJsonObject(entry) || canonicalize(entry) !== text) throw refusal(`${where} is not RFC 8785 text.`);
  requireMembers(where, entry, { entry_version: LOG_ENTRY_VERSION, ...expected });
  requireLike<JsonObject & { tenant_id: string }>(entry, { tenant_id: '' });
  return entry;
}

/** Returns the members of an entry that identify a version. */
function factsOf({ snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at }: LoggedVersion): JsonObject {
  return {
    // UUIDs are case-insensitive.
    snapshot_id: snapshot_id.toLowerCase(),
    snapshot_version,
    envelope_hash,
    prev_hash,
    ...(created_at === undefined ? {} : { created_at }),
  };
}

function requireMembers(where: string, entry: JsonValue | undefined, expected: JsonObject): void {
  const members = isJsonObject(entry) ? entry : {};
  for (const [name, value] of Object.entries(expected)) {
    if (members[name] === value) continue;
    throw refusal(`${where}’s ${name} is ${JSON.stringify(members[name])} instead of ${JSON.stringify(value)}.`);
  }
}

function refusal(message: string, cause?: unknown): VerificationError {
  return new VerificationError('not_in_log', message, { cause });
}
