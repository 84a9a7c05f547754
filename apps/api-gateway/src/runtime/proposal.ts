import {
  DomainError,
  parseJson,
  patchOperation,
  type PatchOperation,
  patchOperationSchema,
  readPatch,
  type SubjectRef,
} from '@iss/domain';
import {
  alias,
  arrayWith,
  EXAMPLE_IDS,
  line,
  type SentOf,
  body as shapeOf,
  subjectId,
  subjectType,
  uuid,
  version,
} from '@iss/contract';

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

export const baseId = uuid.described('The snapshot that the update changes.');
export const baseVersion = version.described('The version of that snapshot.');
export const operations = arrayWith(patchOperation.schema);
export const requestId = line(128).nullable().described('The proposer’s id for the proposal.');
export const initiator = line(512).nullable().described('The initiator of the change, in the proposer’s words.');

const PATCH_ALIASES = ['operations', 'ops'] as const;
const VARIANT_B_OPS = ['add', 'replace', 'remove'] as const satisfies readonly PatchOperation['op'][];
export const PATCH_EXAMPLE = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }];

const patchOps = operations.example(PATCH_EXAMPLE);
const proposed = {
  subject_id: subjectId.example('acme-corp'),
  base_snapshot_version: baseVersion.example(1),
  request_id: requestId
    .optional()
    .described('Sending the same id again returns the first proposal.')
    .example('req-0001'),
};
const PROPOSAL_EXAMPLE = {
  subject_id: 'acme-corp',
  base_snapshot_version: 1,
  patch_ops: PATCH_EXAMPLE,
  request_id: 'req-0001',
};
const RENAME = 'Change the legal name';

/** Body of a proposal on the tenant-level path (specification, "Updates", variant A), with every alias. */
export const ProposeUpdateBody = shapeOf(
  'ProposeUpdateBody',
  {
    subject_type: subjectType.example('organization'),
    subject_id: proposed.subject_id,
    base_snapshot_id: baseId.example(EXAMPLE_IDS.snapshot_id),
    base_snapshot_version: proposed.base_snapshot_version,
    patch_ops: patchOps.described('RFC 6902 operations; all six are allowed.'),
    operations: alias('patch_ops'),
    ops: alias('patch_ops'),
    request_id: proposed.request_id,
    initiated_by: initiator.optional().example('registry-sync'),
    initiator: alias('initiated_by'),
  },
  {
    rename: {
      summary: RENAME,
      value: { ...PROPOSAL_EXAMPLE, subject_type: 'organization', base_snapshot_id: EXAMPLE_IDS.snapshot_id },
    },
  },
);
type ProposeUpdateBody = SentOf<typeof ProposeUpdateBody>;

/** Body of a proposal on the subject-level path (specification, "Updates", variant B). */
export const ProposeSubjectUpdateBody = shapeOf(
  'ProposeSubjectUpdateBody',
  {
    subject_id: proposed.subject_id.described('Must equal the subject_id in the path.'),
    base_snapshot_version: proposed.base_snapshot_version,
    patch_ops: arrayWith(patchOperationSchema('SubjectPatchOperation', VARIANT_B_OPS))
      .described('RFC 6902 operations: add, replace, remove.')
      .example(PATCH_EXAMPLE),
    request_id: proposed.request_id,
  },
  { rename: { summary: RENAME, value: PROPOSAL_EXAMPLE } },
);
type ProposeSubjectUpdateBody = SentOf<typeof ProposeSubjectUpdateBody>;

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
    requestId: body.request_id ?? null,
    initiatedBy: null,
  };
}
