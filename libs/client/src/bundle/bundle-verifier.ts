import { canonicalize, LOG_ENTRY_VERSION } from '@iss/domain/pure';
import {
  decodeHash,
  encodeBase64,
  leafHash,
  type Policy,
  sha256,
  toHex,
  type VerifiedCheckpoint,
  verifyInclusion,
} from '@iss/tlog';
import { requireCheckpoint } from './checkpoint.ts';
import { judged, RefusedError, UnreadableError } from './errors.ts';
import { Members } from './members.ts';
import type { Proved } from './proved.ts';

export const BUNDLE_FORMAT = 'iss_bundle_v1';
/** What it is, what is there, and what it has to be. */
type Row = readonly [what: string, found: string | number | null, expected: string | number | null];

/** An entry that says that versions were erased. */
interface Erasure {
  readonly tenantId: string;
  /** Places of their entries in the log. */
  readonly indexes: ReadonlySet<number>;
}

/** Hashes of the tree that are kept decoded: proofs against one checkpoint share nearly all of theirs. */
const KEPT_HASHES = 50_000;

/** A version whose line was verified. */
export interface ProvedVersion {
  readonly version: number;
  readonly snapshotId: string;
  readonly envelopeHash: string;
  readonly createdAt: string;
  readonly tenantId: string;
  readonly logIndex: number;
  /** What it said is gone: its place is proved, and that the log says so. */
  readonly isErased: boolean;
}

/** Lowercase hex SHA-256 of a text in UTF-8. */
export type HashText = (text: string) => string;

const utf8 = new TextEncoder();
const hashTextHere: HashText = (text) => toHex(sha256(utf8.encode(text)));

/**
 * Verifies a bundle, line by line, each as soon as it is there: a whole lineage, each version with its envelope, its entry
 * in the log and the proof that it is there; of one that was erased its place, and the proof that the log says so. Every
 * method throws {@link RefusedError} for what does not fit, which it names, and {@link UnreadableError} for what is no bundle.
 */
export class BundleVerifier {
  private first: ProvedVersion | null = null;
  private last: ProvedVersion | null = null;
  /** Of those that were erased: their content is not proved, their place is. */
  private readonly erased: number[] = [];
  /** Places in the log that were shown. */
  private readonly places = new Set<number>();
  /** Erasures that were proved, by their text. */
  private readonly erasures = new Map<string, Erasure>();
  /** Versions that were logged before the one that they are made of: an import that was sealed in another order. */
  private outOfOrder = 0;
  private readonly hashes = new Map<string, Uint8Array>();

  private constructor(
    private readonly subjectType: string,
    private readonly subjectId: string,
    private readonly versions: number,
    private readonly verified: VerifiedCheckpoint,
    private readonly hashText: HashText,
  ) {}

  /**
   * Begins with the first line.
   *
   * @param hashText the platform's own, where that is faster than this library's
   */
  static async open(line: Uint8Array, policy: Policy, hashText = hashTextHere): Promise<BundleVerifier> {
    const head = Members.parse('The first line', line);
    if (head.text('bundle') !== BUNDLE_FORMAT) {
      throw new UnreadableError(`The bundle has a format that is not known here: ${BUNDLE_FORMAT} is.`);
    }
    const subject = head.object('subject');
    const versions = head.count('versions');
    const headVersion = head.count('head_version');
    const verified = await requireCheckpoint(head.text('checkpoint'), policy, 'The checkpoint');
    if (head.text('log_origin') !== verified.checkpoint.origin) {
      throw new RefusedError(`The first line names another log than its checkpoint, ${verified.checkpoint.origin}.`);
    }
    if (versions < 1 || headVersion !== versions) {
      throw new RefusedError(
        `The first line says ${versions} versions, the newest one ${headVersion}: some are left out.`,
      );
    }
    return new BundleVerifier(subject.text('subject_type'), subject.text('subject_id'), versions, verified, hashText);
  }

  /** Verifies the line of the next version. */
  add(line: Uint8Array): ProvedVersion {
    const version = (this.last?.version ?? 0) + 1;
    const where = `Version ${version}, in line ${version + 1},`;
    if (version > this.versions)
      throw new RefusedError(`There are more lines than the ${this.versions} versions of the first one.`);
    const members = Members.parse(where, line);
    const isErased = members.has('erased');
    const next = isErased ? this.erasedVersionOf(where, version, members) : this.versionOf(where, version, members);
    if (this.places.has(next.logIndex))
      throw new RefusedError(`${where} its entry is that of another version, ${next.logIndex}.`);
    this.places.add(next.logIndex);
    if (isErased) this.erased.push(version);
    else this.requireIncluded(where, next.logIndex, leafHash(members.text('entry')), members);
    if (this.last !== null && next.logIndex < this.last.logIndex) this.outOfOrder++;
    this.first ??= next;
    this.last = next;
    return next;
  }

  /** After the last line: what the bundle proves. */
  end(): Proved {
    const { first, last } = this;
    const found = last?.version ?? 0;
    if (first === null || last === null || found !== this.versions) {
      throw new RefusedError(
        `The first line says ${this.versions} versions, and ${found} are there: the end is missing.`,
      );
    }
    return {
      verified: this.verified,
      shown: [
        ['Subject', `${this.subjectType} ${this.subjectId}, of the tenant ${first.tenantId}`],
        ['Versions', `1 to ${last.version}, none left out between; envelopes, hashes and links recomputed`],
        ...(this.erased.length === 0 ? [] : [['Erased', erasedText(this.erased)] as const]),
        ['First', `written ${first.createdAt} by the service's own clock, entry ${first.logIndex}`],
        ['Last', `${last.snapshotId}, written ${last.createdAt}, entry ${last.logIndex}`],
        ['Its hash', last.envelopeHash],
        ...(this.outOfOrder === 0
          ? []
          : [
              [
                'Order',
                `${this.outOfOrder} were logged before the version that they are made of, as an import may be`,
              ] as const,
            ]),
      ],
      json: {
        kind: 'bundle',
        subject: { subject_type: this.subjectType, subject_id: this.subjectId },
        tenant_id: first.tenantId,
        versions: last.version,
        last_snapshot_id: last.snapshotId,
        last_envelope_hash: last.envelopeHash,
        last_created_at: last.createdAt,
        last_log_index: last.logIndex,
        logged_out_of_order: this.outOfOrder,
        erased_versions: this.erased,
      },
    };
  }

  private versionOf(where: string, version: number, line: Members): ProvedVersion {
    const { last } = this;
    const snapshot = line.object('snapshot');
    const subject = snapshot.object('subject');
    const envelope = snapshot.object('envelope');
    const entryText = line.text('entry');
    const entry = Members.parse(`${where} its entry`, entryText);
    if (canonicalize(entry.all) !== entryText) throw new RefusedError(`${where} its entry is not RFC 8785 text.`);

    const snapshotId = snapshot.text('snapshot_id');
    const envelopeHash = snapshot.text('envelope_hash');
    const createdAt = snapshot.text('created_at');
    const computed = this.hashText(canonicalize(envelope.all));
    const own = envelope.object('subject');
    const rows: readonly Row[] = [
      ['the snapshot’s version', snapshot.count('snapshot_version'), version],
      ['the snapshot’s subject_type', subject.text('subject_type'), this.subjectType],
      ['the snapshot’s subject_id', subject.text('subject_id'), this.subjectId],
      ['the SHA-256 of the envelope', computed, envelopeHash],
      ['the envelope’s snapshot_id', envelope.text('snapshot_id').toLowerCase(), snapshotId],
      ['the envelope’s snapshot_version', envelope.count('snapshot_version'), version],
      ['the envelope’s subject_type', own.text('subject_type'), this.subjectType],
      ['the envelope’s subject_id', own.text('subject_id'), this.subjectId],
      ['the snapshot’s prev_hash', snapshot.textOrNull('prev_hash'), last?.envelopeHash ?? null],
      ['the entry’s entry_version', entry.text('entry_version'), LOG_ENTRY_VERSION],
      ['the entry’s type', entry.text('type'), 'snapshot.created'],
      ['the entry’s tenant_id', entry.text('tenant_id'), last?.tenantId ?? entry.text('tenant_id')],
      ['the entry’s subject_type', entry.text('subject_type'), this.subjectType],
      ['the entry’s subject_id', entry.text('subject_id'), this.subjectId],
      ['the entry’s snapshot_id', entry.text('snapshot_id'), snapshotId],
      ['the entry’s snapshot_version', entry.count('snapshot_version'), version],
      ['the entry’s envelope_hash', entry.text('envelope_hash'), envelopeHash],
      ['the entry’s prev_hash', entry.textOrNull('prev_hash'), last?.envelopeHash ?? null],
      ['the entry’s created_at', entry.text('created_at'), createdAt],
    ];
    requireRows(where, rows);
    const logIndex = line.count('log_index');
    return {
      version,
      snapshotId,
      envelopeHash,
      createdAt,
      tenantId: entry.text('tenant_id'),
      logIndex,
      isErased: false,
    };
  }

  /**
   * Of a version that was erased: its leaf stands in the log, and so does an entry that names its place as erased. What it said
   * cannot be proved any more; its hash is what the version after it names.
   */
  private erasedVersionOf(where: string, version: number, line: Members): ProvedVersion {
    const { last } = this;
    const snapshot = line.object('snapshot');
    if (snapshot.has('envelope') || line.has('entry')) {
      throw new RefusedError(`${where} it is said to be erased, and has its envelope or its entry.`);
    }
    const subject = snapshot.object('subject');
    const erasure = this.erasureOf(where, line.object('erased'));
    const logIndex = line.count('log_index');
    const rows: readonly Row[] = [
      ['the snapshot’s version', snapshot.count('snapshot_version'), version],
      ['the snapshot’s subject_type', subject.text('subject_type'), this.subjectType],
      ['the snapshot’s subject_id', subject.text('subject_id'), this.subjectId],
      ['the snapshot’s prev_hash', snapshot.textOrNull('prev_hash'), last?.envelopeHash ?? null],
      ['the erasure’s tenant_id', erasure.tenantId, last?.tenantId ?? erasure.tenantId],
    ];
    requireRows(where, rows);
    if (!erasure.indexes.has(logIndex)) {
      throw new RefusedError(
        `${where} it is said to be erased, and the entry that says so does not name its place, ${logIndex}.`,
      );
    }
    const leaf = judged(`${where} its leaf_hash`, () => hashOfHex(line.text('leaf_hash')));
    this.requireIncluded(where, logIndex, leaf, line);
    const { tenantId } = erasure;
    const created = { snapshotId: snapshot.text('snapshot_id'), createdAt: snapshot.text('created_at') };
    return { version, ...created, envelopeHash: snapshot.text('envelope_hash'), tenantId, logIndex, isErased: true };
  }

  /** The entry that says that versions were erased, proved to be in the log. */
  private erasureOf(where: string, line: Members): Erasure {
    const text = line.text('entry');
    const known = this.erasures.get(text);
    if (known !== undefined) return known;
    const entry = Members.parse(`${where} the entry of its erasure`, text);
    if (canonicalize(entry.all) !== text)
      throw new RefusedError(`${where} the entry of its erasure is not RFC 8785 text.`);
    requireRows(where, [
      ['the erasure’s entry_version', entry.text('entry_version'), LOG_ENTRY_VERSION],
      ['the erasure’s type', entry.text('type'), 'subject.erased'],
      ['the erasure’s subject_type', entry.text('subject_type'), this.subjectType],
      ['the erasure’s subject_id', entry.text('subject_id'), this.subjectId],
    ]);
    this.requireIncluded(`${where} the erasure,`, line.count('log_index'), leafHash(text), line);
    const erasure = { tenantId: entry.text('tenant_id'), indexes: new Set(entry.counts('erased_indexes')) };
    this.erasures.set(text, erasure);
    return erasure;
  }

  private requireIncluded(where: string, index: number, leaf: Uint8Array, line: Members): void {
    judged(`${where} its proof`, () => {
      const proof = line.texts('inclusion').map((hash) => this.hashOf(hash));
      verifyInclusion(leaf, index, this.verified.checkpoint, proof);
    });
  }

  private hashOf(base64: string): Uint8Array {
    const kept = this.hashes.get(base64);
    if (kept !== undefined) return kept;
    if (this.hashes.size >= KEPT_HASHES) this.hashes.clear();
    const hash = decodeHash(base64, 'hash of the proof');
    this.hashes.set(base64, hash);
    return hash;
  }
}

function requireRows(where: string, rows: readonly Row[]): void {
  for (const [what, found, expected] of rows) {
    if (found !== expected)
      throw new RefusedError(`${where} ${what} is ${String(found)} and has to be ${String(expected)}.`);
  }
}

function hashOfHex(hex: string): Uint8Array {
  return decodeHash(
    encodeBase64(Uint8Array.from(hex.match(/[0-9a-f]{2}/g) ?? [], (byte) => parseInt(byte, 16))),
    'hash of the entry',
  );
}

/** Versions that somebody reads; the JSON has them all. */
const NAMED = 20;

function erasedText(versions: readonly number[]): string {
  const named =
    versions.slice(0, NAMED).join(', ') + (versions.length > NAMED ? `, and ${versions.length - NAMED} more` : '');
  return `${named}: by entries of the log that name their places. What they said is not proved, nor when it was written; their hashes are where the version after is there`;
}
