import { canonicalize, isJsonObject, type JsonObject, type JsonValue, LOG_ENTRY_VERSION } from '@iss/domain/pure';
import { type Checkpoint, decodeHash, leafHash, TlogError, verifyInclusion } from '@iss/tlog';
import { VerificationError } from '../errors.ts';
import { parseAnswer } from '../http/answer.ts';
import { requireLike, type Shape } from '../http/shape.ts';
import { VERSION } from '../shapes.ts';

/** Where a leaf is in the tree, and what proves it. */
export interface LogProof {
  readonly log_index: number;
  /** Base64. */
  readonly inclusion: readonly string[];
  readonly entry: string;
}
export const LOG_PROOF: Shape<LogProof> = { log_index: 0, inclusion: [''], entry: '' };

/** What is proved of a version: its header says it, and so does its entry. */
export interface LoggedVersion {
  readonly subject: Readonly<Partial<Record<'subject_type' | 'subject_id', string>>>;
  readonly snapshot_id: string;
  readonly snapshot_version: number;
  readonly envelope_hash: string | null;
  readonly prev_hash: string | null;
  /** A receipt of an erasure does not tell it. */
  readonly created_at?: string | undefined;
  readonly written_by?: string | null | undefined;
  readonly write_request_id?: string | null | undefined;
}

/**
 * A line of a bundle. Of an erased version the entry is gone: its leaf is left, and the proof of the erasure. A later line of the
 * same erasure names that proof by its place alone.
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

/** What the log proves of a version. */
export interface Logged {
  readonly logIndex: number;
  /** The owner of the subject. */
  readonly tenantId: string;
  /** The principal that wrote the version, by the entry; null where that does not say it. */
  readonly writtenBy: string | null;
  /**
   * `content`: all of it. Of an erased version `facts`: its id, hashes and time; or only its `place`, where an earlier release
   * made the entry of the erasure, which does not name the versions.
   */
  readonly proved: 'content' | 'facts' | 'place';
}

/** What an entry says that versions were erased. */
interface Erasure {
  readonly tenantId: string;
  /** Places of the versions' entries. */
  readonly indexes: readonly JsonValue[];
  /** The versions in the order of their places; null: the entry does not name them. */
  readonly versions: readonly JsonValue[] | null;
}

/**
 * Proves the versions of one subject by one checkpoint: of a bundle, line by line, or a single one. Every method throws
 * VerificationError `not_in_log` for what does not hold; `where` begins its message.
 */
export class LineageProof {
  /** Places that a version has, or an erasure. */
  readonly #places = new Set<number>();
  /** Erasures that were proved, by the place of their entry. */
  readonly #erasures = new Map<number, Erasure & { entry: string }>();
  #tenantId: string | null = null;

  constructor(private readonly checkpoint: Checkpoint) {}

  /** Proves a version, with content or erased, by its line of a bundle. */
  line(where: string, line: BundleLine): Logged {
    const { snapshot, erased, leaf_hash: hex } = line;
    const hasContent = 'envelope' in snapshot && snapshot.envelope !== undefined;
    // Of what is there all must hold, whatever is said of its erasure.
    if (hasContent || erased === undefined) return this.version(where, line, snapshot);
    const { tenantId, indexes, versions } = this.#erasure(where, erased, snapshot);
    const at = indexes.indexOf(line.log_index);
    if (at < 0) throw refusal(`${where} the entry of its erasure does not name its place, ${line.log_index}.`);
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

  /** Proves a version by its entry. */
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
    // Entries that an earlier release made name no writer.
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

  /** The entry that says that versions of the subject were erased, which the log has. */
  #erasure(where: string, proof: NonNullable<BundleLine['erased']>, { subject }: LoggedVersion): Erasure {
    const known = this.#erasures.get(proof.log_index);
    if (known !== undefined && (proof.entry === undefined || proof.entry === known.entry)) return known;
    const at = `${where} the entry of its erasure`;
    requireLike<LogProof>(proof, LOG_PROOF);
    const entry = requireEntry(at, proof.entry, { type: 'subject.erased', ...subject });
    this.#include(`${where} the erasure,`, proof, leafHash(proof.entry));
    const { erased_indexes: indexes, erased_versions: versions = null } = entry;
    if (!Array.isArray(indexes)) throw refusal(`${at} names no places.`);
    const isPaired = versions === null || (Array.isArray(versions) && versions.length === indexes.length);
    if (!isPaired) throw refusal(`${at} does not name a version for each place.`);
    const erasure = { tenantId: entry.tenant_id, indexes, versions, entry: proof.entry };
    this.#erasures.set(proof.log_index, erasure);
    return erasure;
  }

  /** One place is one version's, and one subject one tenant's. */
  #logged(where: string, logged: Logged): Logged {
    const { logIndex, tenantId } = logged;
    if (this.#places.has(logIndex)) throw refusal(`${where} its entry is that of another version, ${logIndex}.`);
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

/** The members of an entry that says what is expected, and names a tenant. */
function requireEntry(where: string, text: string, expected: JsonObject): JsonObject & { tenant_id: string } {
  const entry = parseAnswer(text);
  if (!isJsonObject(entry) || canonicalize(entry) !== text) throw refusal(`${where} is not RFC 8785 text.`);
  requireMembers(where, entry, { entry_version: LOG_ENTRY_VERSION, ...expected });
  requireLike<JsonObject & { tenant_id: string }>(entry, { tenant_id: '' });
  return entry;
}

/** The members that name a version in an entry. */
function factsOf({ snapshot_id, snapshot_version, envelope_hash, prev_hash, created_at }: LoggedVersion): JsonObject {
  return {
    // UUIDs are equal whatever their case.
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
    throw refusal(`${where}’s ${name} is ${JSON.stringify(members[name])} and has to be ${JSON.stringify(value)}.`);
  }
}

function refusal(message: string, cause?: unknown): VerificationError {
  return new VerificationError('not_in_log', message, { cause });
}
