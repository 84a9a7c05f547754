import { canonicalize, isJsonObject, type JsonObject, type JsonValue } from '@iss/domain/pure';
import { requireContent, requireMembers } from '@iss/proof';
import { VerificationError } from '../errors.ts';
import { notOfThisApi, requireLike } from '../http/shape.ts';
import { VERSION } from '../shapes.ts';
import type { SnapshotHeader, SubjectType, Version } from '../types.ts';
import { type HashContent, hashText } from './hash.ts';
import type { VersionLink } from './known-versions.ts';
import type { MapFault } from './map.ts';

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
  if (!Number.isSafeInteger(version) || version < 1 || !HASHES.test(`${hash}${previous}`)) throw notOfThisApi();
  return value;
}

/**
 * Verifies that an answer is the requested version, that its content has the claimed hash, and that the content matches the header. A partial
 * version shows what its view discloses. An erased version has no content to check.
 *
 * @throws VerificationError
 */
export async function verifySnapshot(
  snapshot: JsonValue & Version<unknown>,
  asked: Asked,
  hashContent: HashContent = async (content) => hashText(canonicalize(content)),
): Promise<VersionLink> {
  const { subject, snapshot_version, envelope_hash, envelope } = snapshot;
  const where = `Version ${snapshot_version} of ${subject.subject_type} ${subject.subject_id}`;
  requireMembers(
    where,
    { ...subject },
    { subject_type: asked.subjectType, subject_id: asked.subjectId },
    'other_subject',
  );
  requireAsked(where, snapshot, asked, 'other_snapshot');
  if (envelope_hash === null) {
    throw new VerificationError('unhashed', `${where} has no hash.`);
  }
  const link = linkOf(snapshot, envelope_hash);
  // Existing content must have the hash, even if an erasure is claimed.
  if (snapshot.erased !== undefined && envelope === undefined) return link;
  if (hasView(snapshot)) {
    const { refusalOfPart } = await import('./view.ts');
    requireNoRefusal(refusalOfPart(snapshot));
    return link;
  }
  const content: unknown = envelope;
  if (!isJsonObject(content)) throw new VerificationError('envelope_missing', `${where} has no content.`);
  requireContent(`${where}:`, snapshot, content, await hashContent(content));
  return link;
}

/** Returns whether a version shows only what the reader may see. */
export function hasView(version: object): version is JsonObject {
  return 'view' in version && version.view !== undefined;
}

/** Throws the refusal of a file that is loaded later. @throws VerificationError */
export function requireNoRefusal(refusal: MapFault | null): void {
  if (refusal !== null) throw new VerificationError(refusal.failure, refusal.message);
}

/** Requires the requested version and id. @throws VerificationError `other_version`, `other_snapshot` */
export function requireAsked(
  where: string,
  { snapshot_version, snapshot_id }: Pick<SnapshotHeader, 'snapshot_version' | 'snapshot_id'>,
  { version, snapshotId }: Asked,
  otherId: 'other_version' | 'other_snapshot',
): void {
  requireMembers(where, { snapshot_version }, { snapshot_version: version }, 'other_version');
  requireMembers(where, { id: snapshot_id.toLowerCase() }, { id: snapshotId?.toLowerCase() }, otherId);
}

/** Converts a version to the form in which it is remembered. */
export function linkOf(
  { subject, snapshot_id, snapshot_version, prev_hash, created_at = '', generated_at = '' }: Claimed,
  envelopeHash: string,
): VersionLink {
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

/** Two hashes, each of which can be null. */
const HASHES = /^(null|[0-9a-f]{64}){2}$/;
