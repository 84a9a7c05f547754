import { canonicalize, isJsonObject, type JsonValue } from '@iss/domain/pure';
import { VerificationError, type VerificationFailure } from '../errors.ts';
import { notOfThisApi, requireLike } from '../http/shape.ts';
import { VERSION } from '../shapes.ts';
import type { SnapshotHeader, SubjectType, Version } from '../types.ts';
import { hashText } from './hash.ts';
import type { Link } from './known-versions.ts';

/** The request. The answer must match each given member. */
export interface Asked {
  readonly subjectType?: SubjectType | undefined;
  readonly subjectId?: string | undefined;
  readonly version?: number | undefined;
  readonly snapshotId?: string | undefined;
}

/** Checks the shape of a version. @throws ProtocolError */
export function requireVersion<A>(value: JsonValue | undefined): JsonValue & Version<A> {
  requireLike<JsonValue & Version<A>>(value, VERSION);
  const { snapshot_version: version, envelope_hash: hash, prev_hash: previous } = value;
  const isVersion = Number.isSafeInteger(version) && version >= 1 && [hash, previous].every(isHash);
  if (!isVersion) throw notOfThisApi();
  return value;
}

/**
 * Verifies that an answer is the requested version, that its content has the claimed hash, and that the content matches the header. An erased
 * version has no content to check.
 *
 * @throws VerificationError
 */
export async function verifySnapshot(snapshot: JsonValue & Version<unknown>, asked: Asked): Promise<Link> {
  const { subject, snapshot_id, snapshot_version, generated_at, envelope_hash, envelope } = snapshot;
  const where = `Version ${snapshot_version} of ${subject.subject_type} ${subject.subject_id}`;
  const require = (holds: boolean, failure: VerificationFailure, message: string): void => {
    if (!holds) throw new VerificationError(failure, `${where}: ${message}`);
  };
  const answers: readonly (readonly [VerificationFailure, name: string, asked: unknown, found: unknown])[] = [
    ['other_subject', 'subject type', asked.subjectType, subject.subject_type],
    ['other_subject', 'subject id', asked.subjectId, subject.subject_id],
    ['other_version', 'version', asked.version, snapshot_version],
    ['other_snapshot', 'snapshot', asked.snapshotId?.toLowerCase(), snapshot_id.toLowerCase()],
  ];
  for (const [failure, name, wanted, found] of answers) {
    require(wanted === undefined || wanted === found, failure, `expected ${name} ${String(wanted)}.`);
  }
  if (envelope_hash === null) {
    throw new VerificationError('unhashed', `${where} has no hash.`);
  }
  const link = linkOf(snapshot, envelope_hash);
  // Existing content must have the hash, even if an erasure is claimed.
  if (snapshot.erased !== undefined && envelope === undefined) return link;
  const content: unknown = envelope;
  if (envelope === undefined || !isJsonObject(content))
    throw new VerificationError('envelope_missing', `${where} has no content.`);
  require((await hashText(canonicalize(content))) === envelope_hash, 'hash', 'the content has another hash.');
  const says: readonly (readonly [name: string, inContent: string | number, inHeader: string | number])[] = [
    ['snapshot_id', envelope.snapshot_id.toLowerCase(), snapshot_id.toLowerCase()],
    ['snapshot_version', envelope.snapshot_version, snapshot_version],
    ['generated_at', envelope.generated_at, generated_at],
    ['subject_type', envelope.subject.subject_type, subject.subject_type],
    ['subject_id', envelope.subject.subject_id, subject.subject_id],
  ];
  for (const [name, inContent, inHeader] of says) {
    require(inContent ===
      inHeader, 'header', `${name} is ${JSON.stringify(inHeader)}, and ${JSON.stringify(inContent)} in its content.`);
  }
  return link;
}

/** Converts a version to the form in which it is remembered. */
export function linkOf(
  { subject, snapshot_id, snapshot_version, prev_hash, created_at = '', generated_at = '' }: Claimed,
  envelopeHash: string,
): Link {
  return {
    subjectType: subject.subject_type,
    subjectId: subject.subject_id,
    version: snapshot_version,
    // UUIDs are case-insensitive.
    snapshotId: snapshot_id.toLowerCase(),
    envelopeHash,
    prevHash: prev_hash,
    recorded: Date.parse(created_at),
    effective: Date.parse(generated_at),
  };
}

/** The claimed members of a version. Some answers have only one of the times. */
export type Claimed = Pick<SnapshotHeader, 'subject' | 'snapshot_id' | 'snapshot_version' | 'prev_hash'> &
  Partial<Pick<SnapshotHeader, 'created_at' | 'generated_at'>>;

const HASH = /^[0-9a-f]{64}$/;

function isHash(value: string | null): boolean {
  return value === null || HASH.test(value);
}
