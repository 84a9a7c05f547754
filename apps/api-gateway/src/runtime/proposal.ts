import { type ChangeKind, DomainError, parseJson, readPatch, type SubjectRef } from '@iss/domain';
import { ProposeSubjectUpdateBody, ProposeUpdateBody, VARIANT_B_OPS } from '@iss/contract';

/** A proposal from either path family. */
export interface Proposal {
  subject: SubjectRef;
  /** Null if the caller names the base only by its version. */
  baseSnapshotId: string | null;
  baseSnapshotVersion: number;
  /** The operations as RFC 8785 text. */
  patchOps: string;
  /** JSON Pointer of the operations in the request's body. Problems are named below it. */
  at: string;
  changeKind: ChangeKind;
  requestId: string | null;
  initiatedBy: string | null;
}

/** The body of a proposal as it was sent. */
export interface SentProposal {
  bytes: Uint8Array;
  maxDepth: number;
  maxOperations: number;
  /** The subject in the path; null on the tenant-level path. */
  subject: SubjectRef | null;
}

const PATCH_ALIASES = ['operations', 'ops'] as const;

/** Parses the body of a proposal. Throws `validation_error` that names each place. */
export function readProposal({ bytes, maxDepth, maxOperations, subject }: SentProposal): Proposal {
  const sent = parseJson(bytes, { maxDepth });
  return subject === null
    ? proposalOf(ProposeUpdateBody.require(sent), maxOperations)
    : subjectProposalOf(subject, ProposeSubjectUpdateBody.require(sent), maxOperations);
}

/** Reads variant A: base named by id and version, all operations. */
function proposalOf(body: ProposeUpdateBody, maxOperations: number): Proposal {
  const at = `/${PATCH_ALIASES.find((name) => body[name] !== undefined) ?? 'patch_ops'}`;
  return {
    subject: { subjectType: body.subject_type, subjectId: body.subject_id },
    baseSnapshotId: body.base_snapshot_id,
    baseSnapshotVersion: body.base_snapshot_version,
    patchOps: readPatch({ ops: body.patch_ops, at, maxOperations }),
    at,
    changeKind: body.change_kind ?? 'change',
    requestId: body.request_id ?? null,
    initiatedBy: body.initiated_by ?? null,
  };
}

/**
 * Reads variant B: base named by version, three operations. Throws `validation_error` if the body names another subject
 * than the path.
 */
function subjectProposalOf(subject: SubjectRef, body: ProposeSubjectUpdateBody, maxOperations: number): Proposal {
  if (body.subject_id !== subject.subjectId) {
    throw new DomainError('validation_error', 'subject_id must equal the subject_id in the path.', [
      { path: '/subject_id', message: 'must equal the subject_id in the path', code: 'mismatch' },
    ]);
  }
  const at = '/patch_ops';
  return {
    subject,
    baseSnapshotId: null,
    baseSnapshotVersion: body.base_snapshot_version,
    patchOps: readPatch({ ops: body.patch_ops, at, allowedOps: VARIANT_B_OPS, maxOperations }),
    at,
    changeKind: body.change_kind ?? 'change',
    requestId: body.request_id ?? null,
    initiatedBy: null,
  };
}
