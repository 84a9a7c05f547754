import { canonicalize } from '@iss/domain/pure';
import { encodeUtf8, type Policy, sha256, toHex, type VerifiedCheckpoint } from '@iss/tlog';
import { type LoggedVersion, requireContent, requireMembers } from './content';
import { UnreadableError, VerificationError } from './errors';
import { type BundleLine, type EntryProof, LineageProof, requireVersionEntry } from './inclusion';
import { Members } from './members';
import { type Proved, SECOND_ENTRY } from './report';
import { type Floor, requireCheckpoint } from './trust';
import { readPartialSnapshot, readViewProof } from './view/partial-proof';
import { requireLoggedView, requirePartialContent } from './view/view';

export const BUNDLE_FORMAT = 'iss_bundle_v1';
/** The format of bundles with a map: each line has keys, and a last line proves that the last version is the newest. */
export const MAPPED_BUNDLE_FORMAT = 'iss_bundle_v2';

/** A version whose line was verified. */
export interface ProvedVersion {
  readonly version: number;
  readonly tenantId: string;
  readonly logIndex: number;
  /** The writer according to the log entry; null if the entry does not name it. */
  readonly writtenBy: string | null;
  readonly isErased: boolean;
  /** Null for an erased version of which only the log index is proved. */
  readonly facts: ProvedFacts | null;
}
export interface ProvedFacts {
  readonly snapshotId: string;
  readonly envelopeHash: string;
  readonly createdAt: string;
}

/** Verifies an answer that uses the map, as `verifyMapAnswer` of `@iss/proof/complete` does. */
export type VerifyMap = (answer: Members) => Promise<Proved>;

/** Returns the SHA-256 of a text in UTF-8, as lowercase hex. */
export type HashText = (text: string) => string;

const hashTextHere: HashText = (text) => toHex(sha256(encodeUtf8(text)));

/**
 * Verifies a bundle line by line: a whole lineage, in which each version has its envelope, log entry and inclusion proof. An erased version has
 * the entry of its erasure instead. Each method throws {@link VerificationError} for a failed check and {@link UnreadableError} for an invalid file.
 */
export class BundleVerifier {
  private first: ProvedVersion | null = null;
  private last: ProvedVersion | null = null;
  private readonly erased: ProvedVersion[] = [];
  private readonly lineage: LineageProof;
  /** The expected `prev_hash` of the next version, which also confirms the hash of an erased version. */
  private lastHash: string | null = null;
  /** Versions that were logged before their previous version, as imports can be. */
  private outOfOrder = 0;
  /** Versions that are shown in part. */
  private partial = 0;
  private lastKeys: string[] | null = null;
  /** The `complete` of the last line. */
  private complete: Members | null = null;

  private constructor(
    private readonly subjectType: string,
    private readonly subjectId: string,
    readonly versions: number,
    private readonly isMapped: boolean,
    private readonly note: string,
    private readonly verified: VerifiedCheckpoint,
    private readonly hashText: HashText,
    since: Floor | null,
  ) {
    this.lineage = new LineageProof(verified.checkpoint, since);
  }

  /**
   * Starts with the first line.
   *
   * @param hashText a faster function of the platform
   * @param since an earlier checkpoint. Later entries must not have earlier times
   */
  static async open(
    line: Uint8Array,
    policy: Policy,
    hashText = hashTextHere,
    since: Floor | null = null,
  ): Promise<BundleVerifier> {
    const head = Members.parse('The first line', line);
    const format = head.text('bundle');
    if (format !== BUNDLE_FORMAT && format !== MAPPED_BUNDLE_FORMAT) {
      const expected = `${BUNDLE_FORMAT} or ${MAPPED_BUNDLE_FORMAT}`;
      throw new UnreadableError('not_in_log', `The format of the bundle is unknown. Expected ${expected}.`);
    }
    const subject = head.object('subject');
    const versions = head.count('versions');
    const headVersion = head.count('head_version');
    const note = head.text('checkpoint');
    const verified = await requireCheckpoint(note, policy, 'The checkpoint');
    if (head.text('log_origin') !== verified.checkpoint.origin) {
      throw new VerificationError(
        'checkpoint',
        `The first line names another log than its checkpoint (${verified.checkpoint.origin}).`,
      );
    }
    if (versions < 1 || headVersion !== versions) {
      throw new VerificationError(
        'gap',
        `The first line names ${versions} versions, but the newest is ${headVersion}: versions are missing.`,
      );
    }
    return new BundleVerifier(
      subject.text('subject_type'),
      subject.text('subject_id'),
      versions,
      format === MAPPED_BUNDLE_FORMAT,
      note,
      verified,
      hashText,
      since,
    );
  }

  /** Verifies the next line. Returns null for the last line of a bundle with a map, which {@link end} verifies. */
  add(line: Uint8Array): ProvedVersion | null {
    const version = (this.last?.version ?? 0) + 1;
    const where = `Version ${version}, in line ${version + 1},`;
    const members = Members.parse(where, line);
    if (this.isMapped && this.complete === null && members.has('complete')) {
      this.complete = members.object('complete');
      return null;
    }
    if (version > this.versions || this.complete !== null)
      throw new VerificationError(
        'gap',
        `There are more lines than the ${this.versions} versions that the first line names.`,
      );
    const snapshot = members.object('snapshot');
    const isErased = members.has('erased');
    if (isErased && (snapshot.has('envelope') || members.has('entry'))) {
      throw new VerificationError('header', `${where} it is marked as erased, but has an envelope or an entry.`);
    }
    const header = this.headerOf(where, version, snapshot);
    const isPartial = !isErased && snapshot.has('view');
    if (!isErased && !isPartial) {
      const { all: envelope } = snapshot.object('envelope');
      requireContent(where, header, envelope, this.hashText(canonicalize(envelope)));
    }
    const bundleLine = lineOf(where, header, members, isErased);
    const { logIndex, tenantId, writtenBy, proved } = this.lineage.line(where, bundleLine);
    if (isPartial) {
      this.partial++;
      const entry = requireVersionEntry(where, { entry: '', ...bundleLine }, header);
      const shown = { ...readPartialSnapshot(snapshot), ...header };
      const view = requirePartialContent(where, shown);
      const { checkpoint } = this.verified;
      requireLoggedView(where, { view, entry, own: readViewProof(members), snapshot: header, checkpoint });
    }
    const { snapshot_id: snapshotId, created_at: createdAt, envelope_hash: envelopeHash } = header;
    const isNamed = proved !== 'place';
    if (this.last !== null && logIndex < this.last.logIndex) this.outOfOrder++;
    const facts = isNamed ? { snapshotId, createdAt, envelopeHash: envelopeHash ?? '' } : null;
    const next = { version, tenantId, logIndex, writtenBy, isErased, facts };
    if (isErased) this.erased.push(next);
    this.lastHash = envelopeHash;
    this.lastKeys = members.keys();
    this.first ??= next;
    this.last = next;
    return next;
  }

  /** Returns the result after the last line. Without `verifyMap`, it is not proved that the last version is the newest. */
  async end(verifyMap?: VerifyMap): Promise<Proved> {
    const { first, last } = this;
    const found = last?.version ?? 0;
    if (first === null || last === null || found !== this.versions) {
      throw new VerificationError(
        'gap',
        `The first line names ${this.versions} versions, but there are ${found}: the end is missing.`,
      );
    }
    const newest = await this.newest(last, verifyMap);
    return {
      verified: this.verified,
      ...(newest === null ? {} : { isNewest: true }),
      notProved: newest === null ? (this.isMapped ? [NEEDS_VRF_KEY] : []) : [SECOND_ENTRY],
      shown: [
        ['Subject', `${this.subjectType} ${this.subjectId}, of the tenant ${first.tenantId}`],
        ['Versions', `1 to ${last.version}, complete; ${this.contentText()}, hashes and links recomputed`],
        ...(newest?.shown ?? []),
        ...erasedRows(this.erased),
        ['First', `${writtenText(first)} by the clock of the service, entry ${first.logIndex}`],
        [
          'Last',
          `${last.facts === null ? '' : `${last.facts.snapshotId}, `}${writtenText(last)}, entry ${last.logIndex}`,
        ],
        ...(last.writtenBy === null ? [] : [['Written by', `${last.writtenBy} (last version)`] as const]),
        ...(last.facts === null ? [] : [['Its hash', last.facts.envelopeHash] as const]),
        ...(this.outOfOrder === 0
          ? []
          : [['Order', `${this.outOfOrder} were logged before their previous version, as imports can be`] as const]),
      ],
      json: {
        kind: 'bundle',
        subject: { subject_type: this.subjectType, subject_id: this.subjectId },
        tenant_id: first.tenantId,
        versions: last.version,
        last_snapshot_id: last.facts?.snapshotId ?? null,
        last_envelope_hash: last.facts?.envelopeHash ?? null,
        last_created_at: last.facts?.createdAt ?? null,
        last_log_index: last.logIndex,
        last_written_by: last.writtenBy,
        is_newest: newest !== null,
        logged_out_of_order: this.outOfOrder,
        erased_versions: this.erased.map(({ version }) => version),
      },
    };
  }

  private contentText(): string {
    return this.partial === 0 ? 'envelopes' : `the shown parts of ${this.partial}`;
  }

  /** Verifies the last line of a bundle with a map; returns null if that is not possible. */
  private async newest({ version, logIndex }: ProvedVersion, verifyMap?: VerifyMap): Promise<Proved | null> {
    if (!this.isMapped) return null;
    if (this.complete === null) {
      throw new VerificationError('gap', 'The last line, complete, is missing: export the bundle again.');
    }
    const { all } = this.complete;
    requireMembers('The last line', all, { snapshot_version: version }, 'not_newest');
    requireMembers('The last line', this.complete.object('map').all, { checkpoint: this.note }, 'not_newest');
    const { subjectType: subject_type, subjectId: subject_id, lastKeys: keys, note: checkpoint } = this;
    const end = { ...all, subject_type, subject_id, checkpoint, last_log_index: logIndex, keys };
    return (await verifyMap?.(Members.of('The last line', end))) ?? null;
  }

  private headerOf(where: string, version: number, snapshot: Members): LoggedVersion & { created_at: string } {
    const subject = snapshot.object('subject');
    const own = { subject_type: this.subjectType, subject_id: this.subjectId };
    const found = {
      version: snapshot.count('snapshot_version'),
      subject_type: subject.text('subject_type'),
      subject_id: subject.text('subject_id'),
      prev_hash: snapshot.textOrNull('prev_hash'),
    };
    requireMembers(`${where} the snapshot`, found, { version, ...own, prev_hash: this.lastHash }, 'header');
    return {
      snapshot_id: snapshot.text('snapshot_id'),
      snapshot_version: version,
      created_at: snapshot.text('created_at'),
      generated_at: snapshot.has('generated_at') ? snapshot.text('generated_at') : undefined,
      envelope_hash: snapshot.text('envelope_hash'),
      prev_hash: this.lastHash,
      subject: own,
      written_by: snapshot.has('written_by') ? snapshot.textOrNull('written_by') : null,
      write_request_id: snapshot.has('write_request_id') ? snapshot.textOrNull('write_request_id') : null,
      change_kind: snapshot.has('change_kind') ? snapshot.text('change_kind') : undefined,
    };
  }
}

/** Builds the line to prove. An erased version has only its leaf hash. */
function lineOf(where: string, snapshot: LoggedVersion, members: Members, isErased: boolean): BundleLine {
  if (!isErased) return { snapshot, ...proofOf(`${where} its entry`, members) };
  return {
    snapshot,
    log_index: members.count('log_index'),
    inclusion: members.texts('inclusion'),
    leaf_hash: members.text('leaf_hash'),
    erased: erasureOf(`${where} the entry of its erasure`, members.object('erased')),
  };
}

/** Reads the proof of an erasure, or its log index if an earlier line has the proof. */
function erasureOf(where: string, members: Members): NonNullable<BundleLine['erased']> {
  return members.has('entry') ? proofOf(where, members) : { log_index: members.count('log_index') };
}

function proofOf(where: string, members: Members): EntryProof {
  const logged = members.logged();
  Members.parse(where, logged.entry);
  return { log_index: members.count('log_index'), inclusion: members.texts('inclusion'), ...logged };
}

function writtenText({ facts }: ProvedVersion): string {
  return facts === null ? 'erased' : `written ${facts.createdAt}`;
}

const NEEDS_VRF_KEY =
  'That the last version is the newest. The last line proves it with the VRF key of the log: add the key to the policy as a line vrf VRF+…, or name it with --vrf-key.';

/** The most erased versions that text output names. */
const NAMED = 20;

const PROVED_OF_ERASED = {
  facts: 'log entries prove the ids, hashes and times, but not the contents',
  place:
    'log entries prove only the log indexes, not the contents or times. A hash is proved only if the next version is present',
} as const;

function erasedRows(erased: readonly ProvedVersion[]): (readonly [string, string])[] {
  return (['facts', 'place'] as const).flatMap((proved) => {
    const versions = erased.filter(({ facts }) => (facts !== null) === (proved === 'facts'));
    if (versions.length === 0) return [];
    const named = versions.slice(0, NAMED).map(({ version }) => version);
    const more = versions.length > NAMED ? `, and ${versions.length - NAMED} more` : '';
    return [['Erased', `${named.join(', ')}${more}: ${PROVED_OF_ERASED[proved]}`]];
  });
}
