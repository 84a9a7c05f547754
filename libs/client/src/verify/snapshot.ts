import { canonicalize, DomainError, isJsonObject, type JsonValue, parseJsonText } from '@iss/domain/pure';
import { VerificationError, type VerificationFailure } from '../errors.ts';
import { MAX_DEPTH } from '../limits.ts';
import type { SubjectType, Version } from '../types.ts';
import { hashText } from './hash.ts';
import type { Link } from './known-versions.ts';

/** What was asked for: whatever is named has to be so in the answer. */
export interface Asked {
  readonly subjectType?: string | undefined;
  readonly subjectId?: string | undefined;
  readonly version?: number | undefined;
  readonly snapshotId?: string | undefined;
}

/**
 * The value of an answer whose content is verified: parsed strictly, since two keys of one name would be read by some as the
 * one and by others as the other.
 *
 * @throws VerificationError `malformed`
 */
export function parseStrictly(text: string): JsonValue {
  try {
    return parseJsonText(text, { maxDepth: MAX_DEPTH });
  } catch (cause) {
    if (!(cause instanceof DomainError)) throw cause;
    throw new VerificationError('malformed', `The answer cannot be read: ${cause.message}`, { cause });
  }
}

/** A version in an answer, if it has a version's members. @throws VerificationError `malformed` */
export function requireVersion<A>(value: JsonValue | undefined): JsonValue & Version<A> {
  if (value !== undefined && isVersion<A>(value)) return value;
  throw new VerificationError('malformed', 'The answer is not a snapshot: members are missing or of other types.');
}

/**
 * Recomputes what an answer claims of a version: that it is what was asked for, that its content has the hash, and that the
 * content says of itself what the header says. Of an erased one there is nothing left to hash.
 *
 * @throws VerificationError
 */
export async function verifySnapshot(snapshot: JsonValue & Version<unknown>, asked: Asked): Promise<Link> {
  const { subject, snapshot_id, snapshot_version, generated_at, envelope_hash, envelope } = snapshot;
  const where = `Version ${snapshot_version} of ${subject.subject_type} ${subject.subject_id}`;
  const require = (holds: boolean, failure: VerificationFailure, message: string): void => {
    if (!holds) throw new VerificationError(failure, `${where}: ${message}`);
  };
  const isAsked = <T>(wanted: T | undefined, found: T): boolean => wanted === undefined || wanted === found;
  require(isAsked(asked.subjectType, subject.subject_type) &&
    isAsked(
      asked.subjectId,
      subject.subject_id,
    ), 'other_subject', `${asked.subjectType} ${asked.subjectId} was asked for.`);
  require(isAsked(asked.version, snapshot_version), 'other_version', `version ${asked.version} was asked for.`);
  require(isAsked(
    asked.snapshotId?.toLowerCase(),
    snapshot_id.toLowerCase(),
  ), 'other_snapshot', `the snapshot ${asked.snapshotId} was asked for.`);
  if (envelope_hash === null) {
    throw new VerificationError('unhashed', `${where} has no hash, so nothing of it can be verified.`);
  }
  const link = linkOf(snapshot, envelope_hash);
  // Whoever has the content must prove it, erased or not: what is said beside it excuses nothing.
  if (snapshot.erased !== undefined && envelope === undefined) return link;
  const content: unknown = envelope;
  if (!isJsonObject(content)) throw new VerificationError('envelope_missing', `${where} comes without its content.`);
  require((await hashText(canonicalize(content))) ===
    envelope_hash, 'hash', 'the content has another hash than is claimed.');
  const says: readonly (readonly [name: string, inContent: JsonValue | undefined, inHeader: JsonValue])[] = [
    ['snapshot_id', lowerCase(content['snapshot_id']), snapshot_id.toLowerCase()],
    ['snapshot_version', content['snapshot_version'], snapshot_version],
    ['generated_at', content['generated_at'], generated_at],
    ['subject_type', memberOf(content['subject'], 'subject_type'), subject.subject_type],
    ['subject_id', memberOf(content['subject'], 'subject_id'), subject.subject_id],
  ];
  for (const [name, inContent, inHeader] of says) {
    require(inContent ===
      inHeader, 'header', `${name} is ${JSON.stringify(inHeader)}, and ${JSON.stringify(inContent)} in its content.`);
  }
  return link;
}

/** A version as it is remembered, and as its entry in the log names it. */
export function linkOf(
  {
    subject,
    snapshot_id,
    snapshot_version,
    prev_hash,
  }: Omit<Version<unknown>, 'envelope' | 'generated_at' | 'created_at'>,
  envelopeHash: string,
): Link {
  return {
    subjectType: subject.subject_type,
    subjectId: subject.subject_id,
    version: snapshot_version,
    // UUIDs are equal whatever their case.
    snapshotId: snapshot_id.toLowerCase(),
    envelopeHash,
    prevHash: prev_hash,
  };
}

const SUBJECT_TYPES: readonly unknown[] = ['individual', 'organization', 'entity'] satisfies SubjectType[];
const HASH = /^[0-9a-f]{64}$/;

function isVersion<A>(value: JsonValue): value is JsonValue & Version<A> {
  if (!isJsonObject(value)) return false;
  const { subject, erased } = value;
  return (
    isText(value['snapshot_id']) &&
    Number.isSafeInteger(value['snapshot_version']) &&
    Number(value['snapshot_version']) >= 1 &&
    isText(value['generated_at']) &&
    isText(value['created_at']) &&
    isHash(value['envelope_hash']) &&
    isHash(value['prev_hash']) &&
    isJsonObject(subject) &&
    SUBJECT_TYPES.includes(subject['subject_type']) &&
    isText(subject['subject_id']) &&
    (erased === undefined || (isJsonObject(erased) && isText(erased['erasure_id']) && isText(erased['erased_at'])))
  );
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string';
}

function isHash(value: JsonValue | undefined): boolean {
  return value === null || (typeof value === 'string' && HASH.test(value));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

/** UUIDs are equal whatever their case. */
function lowerCase(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' ? value.toLowerCase() : value;
}
