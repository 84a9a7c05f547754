import { backingEvidence, EVIDENCE_STATUSES, POINTER_PATTERN } from '@iss/domain';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader, WRITER } from '../../../http/answer/snapshot-header.view';
import { field, listOf, shown } from '../../../http/describe/field';
import { answer, type Route } from '../../../http/describe/openapi';
import { part, view, type ViewOf } from '../../../http/describe/view';
import { lastPage, pageFields } from '../../../http/lists/paging';
import { line, matching, oneOf, PAGE, positive, sentTime, text, time, version } from '../../../http/request/fields';
import { query, type SentOf } from '../../../http/request/shape';
import { ENVELOPE_EXAMPLE, EvidenceRef } from '../snapshot/snapshot.openapi';
import { AS_OF } from '../snapshot/snapshot.query';

const ROOT = '/attributes';

/** Query of a subject's provenance. */
export const ProvenanceQuery = query({
  ...PAGE,
  path: matching(new RegExp(POINTER_PATTERN), 'must be a JSON Pointer (RFC 6901)')
    .optional()
    .byDefault(ROOT)
    .example(`${ROOT}/legal`)
    .described(
      'A JSON Pointer into the envelope, `/attributes` or below: only the leaves there. 404 where the version has nothing there.',
    ),
  evidence_status: oneOf(EVIDENCE_STATUSES)
    .optional()
    .example('current')
    .described('Only the leaves with this status.'),
  evidence_id: line(512)
    .optional()
    .example('ev-1')
    .described(
      'Only the leaves that rest on this evidence: a reference in `attribute_paths` that covers them names it.',
    ),
  version: positive({ example: 1 }).optional().described('Of which version. Absent: of the latest.'),
  ...AS_OF,
});
export type ProvenanceQuery = SentOf<typeof ProvenanceQuery>;

/** A value of the attributes, since when it is known, and what backs it. */
export const ProvedLeafView = view('ProvedLeaf', {
  path: text.described('JSON Pointer (RFC 6901) into the envelope.'),
  since_version: version.described('The version in which it became this value.'),
  since: part({
    recorded_at: time.from('createdAt').described('When that version was stored.'),
    effective_at: sentTime.from('generatedAt').described('`generated_at` of that version.'),
  }).described('When that was.'),
  evidence_status: oneOf(EVIDENCE_STATUSES)
    .from('status')
    .described(
      '`current`: evidence is named for this value. `carried`: the value changed, and neither the references nor the evidence did. `missing`: a reference resolves to nothing. `none`: no reference covers it.',
    ),
  value: shown<unknown>({}).asText().described('The value: no object or array with anything in it.'),
  changed_by: text
    .nullable()
    .asText()
    .described(
      '`audit.created_by` of that version, up to 1,024 characters. Null where it is not kept yet, and where that version was erased.',
    ),
  ...WRITER,
  evidence: listOf(field(backingEvidence))
    .asText()
    .described('The evidence that covers it, as it stands in the envelope, with the `role` of the reference.'),
  unresolved: listOf(EvidenceRef).asText().described('The references that resolve to nothing.'),
});

const Provenance = view('Provenance', { ...SnapshotHeader.fields, ...pageFields(ProvedLeafView) });

const since = {
  since_version: 1,
  since: { recorded_at: SNAPSHOT_HEADER_EXAMPLE.created_at, effective_at: SNAPSHOT_HEADER_EXAMPLE.generated_at },
};
const { written_by, write_request_id } = SNAPSHOT_HEADER_EXAMPLE;
const writer = { written_by, write_request_id };
const LEAVES: readonly ViewOf<typeof ProvedLeafView>[] = [
  {
    path: `${ROOT}/legal/legal_form`,
    ...since,
    evidence_status: 'none',
    value: 'AG',
    changed_by: 'oidc:dev#alice',
    ...writer,
    evidence: [],
    unresolved: [],
  },
  {
    path: `${ROOT}/legal/legal_name`,
    ...since,
    evidence_status: 'current',
    value: 'Acme Corporation AG',
    changed_by: 'oidc:dev#alice',
    ...writer,
    evidence: ENVELOPE_EXAMPLE.evidence.map((item) => ({ ...item, role: 'primary' as const })),
    unresolved: [],
  },
];

export const PROVENANCE: Route = {
  description:
    'The leaves of the attributes in canonical order: every value that is no object or array with something in it. The ' +
    'references nearest to a leaf in `attribute_paths`, at it or around it, cover it; an empty list there takes evidence ' +
    'away. An element of an array that only moved keeps its version. Further pages are of the version that the first one ' +
    'was of. See docs/provenance.md.',
  answers: {
    200: answer('What is known, since when, and from what evidence.', Provenance, {
      ...SNAPSHOT_HEADER_EXAMPLE,
      ...lastPage(LEAVES, 200),
    }),
  },
  errors: ['not_found', 'erased', 'damaged', 'unavailable'],
};
