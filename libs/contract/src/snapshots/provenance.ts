import { backingEvidence, EVIDENCE_STATUSES, POINTER_PATTERN, RULES } from '@iss/domain';
import { query, type SentOf } from '../describe/shape';
import { line, matching, oneOf, PAGE, positive, sentTime, text, time, version } from '../describe/fields';
import { AS_OF } from './queries';
import { part, view, type ViewOf } from '../describe/view';
import { field, listOf, shown } from '../describe/field';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader, WRITER } from './snapshot-header';
import { ENVELOPE_EXAMPLE, EvidenceRef } from './snapshots';
import { lastPage, pageFields } from '../describe/page';
import { answer, reads } from '../describe/operation';
import { LIST_LIMITS } from '../describe/page-limits';

const ROOT = '/attributes';

export const ProvenanceQuery = query({
  ...PAGE,
  path: matching(new RegExp(POINTER_PATTERN), 'must be a JSON Pointer (RFC 6901)')
    .optional()
    .byDefault(ROOT)
    .example(`${ROOT}/legal`)
    .described(
      'A JSON Pointer into the envelope, at `/attributes` or below. Only leaves below it are returned. 404 if ' +
        'the version has nothing at this path.',
    ),
  evidence_status: oneOf(EVIDENCE_STATUSES).optional().example('current').described('Only leaves with this status.'),
  evidence_id: line(512)
    .optional()
    .example('ev-1')
    .described('Only leaves that this evidence covers, by a reference in `attribute_paths`.'),
  version: positive({ example: 1 }).optional().described('The version. Defaults to the latest.'),
  ...AS_OF,
});
export type ProvenanceQuery = SentOf<typeof ProvenanceQuery>;

/** A value of the attributes with the version that set it, and its evidence. */
export const ProvedLeafView = view('ProvedLeaf', {
  path: text.described('JSON Pointer (RFC 6901) into the envelope.'),
  since_version: version.described('The version that set this value.'),
  since: part({
    recorded_at: time.from('createdAt').described('When that version was stored.'),
    effective_at: sentTime.from('generatedAt').described('`generated_at` of that version.'),
  }).described('The time of that version.'),
  evidence_status: oneOf(EVIDENCE_STATUSES)
    .from('status')
    .described(
      '`current`: evidence is named for this value. `carried`: the value changed, but neither its references ' +
        'nor their evidence did. `missing`: a reference resolves to nothing. `none`: no reference covers the ' +
        'value. `revoked`: an attestation that backs the value was revoked.',
    ),
  value: shown<unknown>({}).asText().described('The value: never a non-empty object or array.'),
  changed_by: text
    .nullable()
    .asText()
    .described(
      'The `audit.created_by` of that version, up to 1,024 characters. Null if it is not stored yet, or if that ' +
        'version was erased.',
    ),
  ...WRITER,
  evidence: listOf(field(backingEvidence))
    .asText()
    .described('The evidence that covers the value, as in the envelope, with the `role` of the reference.'),
  unresolved: listOf(EvidenceRef).asText().described('The references that resolve to no evidence.'),
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

export const PROVENANCE_READS = reads('Snapshot reads', {
  getProvenance: {
    path: '/subjects/{subject_type}/{subject_id}/provenance',
    summary: 'Show the origin of each value: its version, time and evidence',
    who: RULES.readLineage,
    globalSummary: 'Show the origin of each value, through any tenant of the caller that has access',
    query: ProvenanceQuery,
    page: LIST_LIMITS,
    description:
      'Returns the leaves of the attributes in canonical order: every value except non-empty objects and ' +
      'arrays. A leaf is covered by the nearest references in `attribute_paths`, at it or above it. An empty ' +
      'list there removes coverage. An array element that only moved keeps its version. All pages describe the ' +
      'version of the first page. See [/docs/provenance](/docs/provenance).',
    answers: {
      200: answer('The origin of each value, with its evidence.', Provenance, {
        ...SNAPSHOT_HEADER_EXAMPLE,
        ...lastPage(LEAVES),
      }),
    },
    errors: ['not_found', 'erased', 'damaged', 'unavailable'],
  },
});
