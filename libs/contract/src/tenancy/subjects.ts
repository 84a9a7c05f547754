import { EVIDENCE_TO_MEND, RULES, SUBJECT_TYPES } from '@iss/domain';
import {
  CONTENT_FILTERS,
  oneOf,
  PAGE,
  prefix,
  subjectId,
  subjectName,
  subjectType,
  tenantId,
  time,
} from '../describe/fields';
import { view, type ViewOf } from '../describe/view';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../snapshots/snapshot-header';
import { query, type SentOf } from '../describe/shape';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { operations } from '../describe/operation';
import { paged } from '../describe/page';
import { SPECIFIED_LISTS } from '../describe/page-limits';

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
  ...CONTENT_FILTERS,
});
export type SubjectListQuery = SentOf<typeof SubjectListQuery>;

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

const OWNERSHIP_EXAMPLE: Ownership = { owner_tenant_id: 'acme', ...ACME_CORP };

export const SUBJECTS = operations('Tenants, members, principals', '/v1/tenants/{tenant_id}/subjects', {
  listSubjects: {
    route: 'GET ',
    summary: 'List the subjects that the tenant owns, by type and id, or search them by name or identifier',
    who: RULES.readSubjects,
    ...paged('One page.', Subject, [SUBJECT_EXAMPLE], SPECIFIED_LISTS.tenantSubjects),
    query: SubjectListQuery,
    description:
      'Use it to see if a subject exists: a read of a subject that does not exist returns 403, like a read of ' +
      'another tenant’s subject.',
  },
  listOwners: {
    route: 'GET /{subject_type}/{subject_id}/owners',
    summary: 'Read the tenant that owns a subject',
    who: RULES.readOwners,
    ...paged('The owner.', Ownership, [OWNERSHIP_EXAMPLE]),
  },
});
