import { randomBytes } from 'node:crypto';
import { commitView, VIEW_SECRET_BYTES } from '@iss/domain';
import type { VersionWithoutView } from '@iss/persistence';

/** The secret and hash of the view of a version. */
export interface CommittedVersion {
  readonly snapshotId: string;
  readonly secret: Uint8Array;
  /** Lowercase hex. Null if the text is no envelope. */
  readonly hash: string | null;
}

/** Commits to the views of versions, with a new secret for each. */
export function commitVersions(versions: readonly VersionWithoutView[]): CommittedVersion[] {
  return versions.map((version) => {
    const secret = randomBytes(VIEW_SECRET_BYTES);
    return { snapshotId: version.snapshotId, secret, hash: hashOf(version, secret) };
  });
}

function hashOf({ text, envelopeHash, prevHash }: VersionWithoutView, secret: Uint8Array): string | null {
  try {
    return commitView({ text, envelopeHash, prevHash, secret });
  } catch {
    // An import can store any text, which must not stop the log.
    return null;
  }
}
