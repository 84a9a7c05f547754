import { type Envelope, validateEnvelope } from '../envelope/envelope';
import { type SearchTerms, searchTermsOf } from '../envelope/search-terms';
import { parseJson } from '../json/parse';
import { isEvidenceMissing } from '../provenance/trace';
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
  terms: SearchTerms;
}

/** An envelope as it was sent. */
export interface SentEnvelope extends SealedEnvelope {
  /** Whether evidence is `missing` for one of its leaves: all that a first version may lack. */
  isEvidenceMissing: boolean;
}

/** A body as an envelope, sealed. Throws `validation_error` as {@link parseJson} and {@link validateEnvelope} do. */
export function readEnvelope({ bytes, maxDepth }: { bytes: Uint8Array; maxDepth: number }): SentEnvelope {
  const envelope = parseJson(bytes, { maxDepth });
  return { ...sealEnvelope(validateEnvelope(envelope)), isEvidenceMissing: isEvidenceMissing(envelope) };
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
    terms: searchTermsOf(envelope),
  };
}
