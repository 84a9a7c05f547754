import { type Envelope, validateEnvelope } from '../envelope/envelope';
import { type SearchTerms, searchTermsOf } from '../envelope/search-terms';
import { parseJson } from '../json/parse';
import { isEvidenceMissing } from '../provenance/trace';
import type { ChangeKind } from '../statuses';
import type { SubjectRef } from '../subject-ref';
import { seal, type Sealed } from './seal';

/** The members of an envelope that identify its snapshot. */
export interface EnvelopeHeader extends SubjectRef {
  /** In lower case, because UUIDs are compared without regard to case. The stored text is unchanged. */
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
  changeKind: ChangeKind;
}

export interface SealedEnvelope extends Sealed {
  header: EnvelopeHeader;
  terms: SearchTerms;
}

/** An envelope that a caller sent. */
export interface SentEnvelope extends SealedEnvelope {
  /** True if at least one leaf is `missing`, which is the only problem that a first version's evidence can have. */
  isEvidenceMissing: boolean;
}

/**
 * Parses and validates a request body and seals it. Throws `validation_error` as {@link parseJson} and {@link
 * validateEnvelope} do.
 */
export function readEnvelope({ bytes, maxDepth }: { bytes: Uint8Array; maxDepth: number }): SentEnvelope {
  const envelope = parseJson(bytes, { maxDepth });
  return { ...sealEnvelope(validateEnvelope(envelope)), isEvidenceMissing: isEvidenceMissing(envelope) };
}

export function sealEnvelope(envelope: Envelope): SealedEnvelope {
  const { subject, snapshot_id, snapshot_version, generated_at, change_kind } = envelope;
  return {
    ...seal(envelope),
    header: {
      subjectType: subject.subject_type,
      subjectId: subject.subject_id,
      snapshotId: snapshot_id.toLowerCase(),
      snapshotVersion: snapshot_version,
      generatedAt: generated_at,
      changeKind: change_kind ?? 'change',
    },
    terms: searchTermsOf(envelope),
  };
}
