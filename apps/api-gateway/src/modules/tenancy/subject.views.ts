import { SUBJECT_TYPES } from '@iss/domain';
import { EVIDENCE_TO_MEND, type SubjectSearch } from '@iss/persistence';
import {
  EXAMPLE_IDS,
  oneOf,
  PAGE,
  prefix,
  query,
  type SentOf,
  subjectId,
  subjectName,
  subjectType,
  tenantId,
  time,
  view,
  type ViewOf,
} from '@iss/contract';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../../http/answer/snapshot-header.view';
import { CONTENT, contentSearch } from '../../http/request/content-search';

const fields = {
  subject_type: subjectType,
  subject_id: subjectId,
  created_at: time.described('When its first snapshot was written.'),
};

/** An item of the list of owned subjects (contract, "`GET …/subjects` (tenant)"). */
export const Subject = view('Subject', {
  ...fields,
  name: subjectName,
  latest_snapshot: SnapshotHeader.from('latest').described('The header of the latest snapshot.'),
});
export type Subject = ViewOf<typeof Subject>;

/** Specification, "Subject": the ownership record. */
export const Ownership = view('Ownership', {
  owner_tenant_id: tenantId.described('The tenant that wrote its first snapshot.'),
  ...fields,
});
export type Ownership = ViewOf<typeof Ownership>;

/** Query of the list of owned subjects (contract, "`GET …/subjects` (tenant)"). */
export const SubjectListQuery = query({
  ...PAGE,
  subject_type: oneOf(SUBJECT_TYPES)
    .optional()
    .example('organization')
    .described('Only subjects of this type. Absent: all types.'),
  subject_id_prefix: prefix(512)
    .optional()
    .described('The beginning of the id, compared byte for byte.')
    .example('acme-'),
  evidence: oneOf(EVIDENCE_TO_MEND)
    .optional()
    .example('carried')
    .described(
      'Only subjects whose latest version has values with this evidence status: `missing` or `carried`. See ' +
        '[/docs/provenance](/docs/provenance).',
    ),
  ...CONTENT,
});
export type SubjectListQuery = SentOf<typeof SubjectListQuery>;

/** Returns the requested search. Throws `validation_error` for two searches at once, and for an invalid identifier. */
export function searchSent(sent: SubjectListQuery): SubjectSearch {
  const { subject_id_prefix, evidence } = sent;
  const search = contentSearch(sent, { subject_id_prefix, evidence });
  return search ?? { by: 'id', prefix: subject_id_prefix ?? '', evidence: evidence ?? null };
}

const ACME_CORP = { ...SNAPSHOT_HEADER_EXAMPLE.subject, created_at: SNAPSHOT_HEADER_EXAMPLE.created_at };

export const SUBJECT_EXAMPLE: Subject = {
  ...ACME_CORP,
  name: 'Acme Corporation AG',
  latest_snapshot: {
    ...SNAPSHOT_HEADER_EXAMPLE,
    snapshot_id: EXAMPLE_IDS.next_snapshot_id,
    snapshot_version: 2,
    generated_at: '2026-01-16T09:00:00.000Z',
    created_at: '2026-01-16T09:00:00.000Z',
    envelope_hash: '28e139c59906799360e037034297c075c9172cf6cde20ac75b9a88841d97c438',
    prev_hash: SNAPSHOT_HEADER_EXAMPLE.envelope_hash,
  },
};
export const OWNERSHIP_EXAMPLE: Ownership = { owner_tenant_id: 'acme', ...ACME_CORP };
