import { type Envelope, validateEnvelope } from '../envelope/envelope';
import { parseJson } from '../json/parse';
import type { SubjectRef } from '../subject-ref';
import { seal, type Sealed } from './seal';

/** What an envelope says of itself. */
export interface EnvelopeHeader extends SubjectRef {
  /** In lower case: UUIDs are equal whatever their case. The text keeps the one that was sent. */
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
}

export interface SealedEnvelope extends Sealed {
  header: EnvelopeHeader;
}

/** A body as an envelope, sealed. Throws `validation_error` as {@link parseJson} and {@link validateEnvelope} do. */
export function readEnvelope({ bytes, maxDepth }: { bytes: Uint8Array; maxDepth: number }): SealedEnvelope {
  return sealEnvelope(validateEnvelope(parseJson(bytes, { maxDepth })));
}

/** A valid envelope, sealed. */
export function sealEnvelope(envelope: Envelope): SealedEnvelope {
  const { subject, snapshot_id, snapshot_version, generated_at } = envelope;
  return {
    ...seal(envelope),
    header: {
      subjectType: subject.subject_type,
      subjectId: subject.subject_id,
      snapshotId: snapshot_id.toLowerCase(),
      snapshotVersion: snapshot_version,
      generatedAt: generated_at,
    },
  };
}
