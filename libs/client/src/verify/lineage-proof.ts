import { canonicalize, isJsonObject, type JsonObject, LOG_ENTRY_VERSION } from '@iss/domain/pure';
import { type Checkpoint, decodeHash, leafHash, TlogError, verifyInclusion } from '@iss/tlog';
import { VerificationError } from '../errors.ts';
import { parseStrictly } from '../http/answer.ts';
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
  readonly subject: { readonly subject_type: string; readonly subject_id: string };
  readonly snapshot_id: string;
  readonly snapshot_version: number;
  readonly envelope_hash: string | null;
  readonly prev_hash: string | null;
  readonly created_at: string;
  readonly written_by?: string | null | undefined;
  readonly write_request_id?: string | null | undefined;
}

/** A line of a bundle. Of an erased version the entry is gone: its leaf is left, and the proof of the erasure. */
export interface BundleLine extends Omit<LogProof, 'entry'> {
  readonly snapshot: LoggedVersion;
  readonly entry?: string | undefined;
  readonly leaf_hash?: string | undefined;
  readonly erased?: LogProof | undefined;
}
export const BUNDLE_LINE = {
  snapshot: VERSION,
  log_index: 0,
  inclusion: [''],
  entry: null,
  leaf_hash: null,
  erased: { '?': LOG_PROOF },
} as const;

/** What the log proves of a version. */
export interface Logged {
  readonly logIndex: number;
  /** The owner of the subject. */
  readonly tenantId: string;
  /** The principal that wrote the version, by the entry; null where that does not say it. */
  readonly writtenBy: string | null;
  /** What it said is gone: its place is proved, and that the log says so. */
  readonly isErased: boolean;
}

/** What an entry says that versions were erased. */
interface Erasure {
  readonly tenantId: string;
  /** Places of the versions' entries. */
  readonly indexes: readonly unknown[];
}

/**
 * Proves the versions of one subject by one checkpoint: of a bundle, line by line, or a single one. Every method throws
 * VerificationError `not_in_log` for what does not hold; `where` begins its message.
 */
export class LineageProof {
  /** Places that a version has, or an erasure. */
  readonly #places = new Set<number>();
  /** Erasures that were proved, by the text of their entry. */
  readonly #erasures = new Map<string, Erasure>();
  #tenantId: string | null = null;

  constructor(private readonly checkpoint: Checkpoint) {}

  /** Proves a version, with content or erased, by its line of a bundle. */
  line(where: string, line: BundleLine): Logged {
    const { snapshot, erased, leaf_hash: hex } = line;
    const hasContent = 'envelope' in snapshot && snapshot.envelope !== undefined;
    // Of what is there all must hold, whatever is said of its erasure.
    if (hasContent || erased === undefined) return this.version(where, line, snapshot);
    const { tenantId, indexes } = this.#erasure(where, erased, snapshot);
    if (!indexes.includes(line.log_index)) {
      throw refusal(`${where} the entry of its erasure does not name its place, ${line.log_index}.`);
    }
    const bytes = String(hex).match(/[0-9a-f]{2}/g) ?? [];
    this.#include(
      where,
      line,
      Uint8Array.from(bytes, (byte) => parseInt(byte, 16)),
    );
    return this.#logged(where, { logIndex: line.log_index, tenantId, writtenBy: null, isErased: true });
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
      // UUIDs are equal whatever their case.
      snapshot_id: of.snapshot_id.toLowerCase(),
      snapshot_version: of.snapshot_version,
      envelope_hash: of.envelope_hash,
      prev_hash: of.prev_hash,
      created_at: of.created_at,
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
      isErased: false,
    });
    this.#include(where, proof, leafHash(text));
    return logged;
  }

  /** The entry that says that versions of the subject were erased, which the log has. */
  #erasure(where: string, proof: LogProof, { subject }: LoggedVersion): Erasure {
    const known = this.#erasures.get(proof.entry);
    if (known !== undefined) return known;
    const at = `${where} the entry of its erasure`;
    const entry = requireEntry(at, proof.entry, { type: 'subject.erased', ...subject });
    this.#include(`${where} the erasure,`, proof, leafHash(proof.entry));
    const indexes = entry['erased_indexes'];
    if (!Array.isArray(indexes)) throw refusal(`${at} names no places.`);
    const erasure = { tenantId: entry.tenant_id, indexes };
    this.#erasures.set(proof.entry, erasure);
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
  const entry = parseStrictly(text);
  if (!isJsonObject(entry) || canonicalize(entry) !== text) throw refusal(`${where} is not RFC 8785 text.`);
  requireMembers(where, entry, { entry_version: LOG_ENTRY_VERSION, ...expected });
  requireLike<JsonObject & { tenant_id: string }>(entry, { tenant_id: '' });
  return entry;
}

function requireMembers(where: string, entry: JsonObject, expected: JsonObject): void {
  for (const [name, value] of Object.entries(expected)) {
    if (entry[name] === value) continue;
    throw refusal(`${where}’s ${name} is ${JSON.stringify(entry[name])} and has to be ${JSON.stringify(value)}.`);
  }
}

function refusal(message: string, cause?: unknown): VerificationError {
  return new VerificationError('not_in_log', message, { cause });
}
