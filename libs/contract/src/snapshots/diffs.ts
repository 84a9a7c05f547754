import { DIFF_ROOTS, HASH_ALGORITHM, RULES } from '@iss/domain';
import { part, view, type ViewOf } from '../describe/view';
import { count, flag, hash, matching, oneOf, positive, SubjectRef, text, uuid, version } from '../describe/fields';
import { alias, listOf, shown } from '../describe/field';
import { CHAIN_VERDICT, EvidenceRef, PARTIAL, VERDICT_OF_HASH, VERIFICATION, VERIFIED } from './snapshots';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { answer, reads } from '../describe/operation';
import { query, type SentOf } from '../describe/shape';
import { changeKind } from './snapshot-header';
import { DiffVerifyQuery, MOMENT } from './queries';

const side = part({ snapshot_id: uuid.described('The id of the snapshot.'), snapshot_version: version });
const FROM_SIDE = 'The "before" state.';
const TO_SIDE = 'The "after" state.';

const DiffOperation = view('DiffOperation', {
  op: oneOf(['add', 'remove', 'replace']).described('The operation at `path`.'),
  path: text.described('RFC 6901 JSON Pointer into the envelope.'),
  value: shown<unknown>({}).described('The new value, for `add` and `replace`.').optional(),
});

const evidence = listOf(EvidenceRef).nullable();
const coveringPath = text.nullable();

const referencesByPath = shown<Record<string, unknown[]>>({
  type: 'object',
  additionalProperties: { type: 'array', items: {} },
});

const verdictOfHash = part(VERDICT_OF_HASH);

const DiffVerification = view('DiffVerification', {
  ...VERIFIED,
  hash: part({
    alg: oneOf([HASH_ALGORITHM]).described('The algorithm of the hash.'),
    from: verdictOfHash.described(FROM_SIDE),
    to: verdictOfHash.described(TO_SIDE),
  }).described('The verification of both envelope hashes.'),
  chain: part({
    ...CHAIN_VERDICT,
    from: part(CHAIN_VERDICT).described(FROM_SIDE),
    to: part(CHAIN_VERDICT).described(TO_SIDE),
  }).described(
    'The verification of the parents. The members of this object describe `to`, except `valid` and ' +
      '`complete`, which describe both.',
  ),
});

/** Specification, "Diff result". */
const Diff = view('DiffResult', {
  format: oneOf(['rfc6902']).described('RFC 6902 operations.'),
  from: side.described(FROM_SIDE),
  to: side.described(TO_SIDE),
  change_kind: changeKind.described('`correction` if `to` corrects an error; `change` if the world changed.'),
  include: listOf(oneOf(DIFF_ROOTS)).described('The roots that were compared.'),
  ops: listOf(DiffOperation).described('The operations that turn `from` into `to`, in order.'),
  ops_hash: hash.described('SHA-256 of the RFC 8785 text of `ops`.'),
  change_summary: part({
    total_ops: count.described('The number of operations.'),
    adds: count.described('The number of `add` operations.'),
    removes: count.described('The number of `remove` operations.'),
    replaces: count.described('The number of `replace` operations.'),
    paths_changed: count.described('The number of distinct paths.'),
  }).described('The size of the change.'),
  attribution: listOf(
    part({
      path: text.described('The path of an operation.'),
      from: evidence.described('The references at exactly this path before the change; null if there are none.'),
      to: evidence.described('The references at exactly this path after the change; null if there are none.'),
      evidence_unchanged: flag
        .optional()
        .described(
          'True if the value changed but its references did not, so no reference confirms the new value. Otherwise ' +
            'absent. An array element is compared with its previous self and with the previous element at its index. ' +
            'See [/docs/provenance](/docs/provenance).',
        ),
      inherited: part({
        from: coveringPath.described(
          'The covering path before the change; null if `from` covers the value, or nothing does.',
        ),
        to: coveringPath.described(
          'The covering path after the change; null if `to` covers the value, or nothing does.',
        ),
      })
        .optional()
        .described(
          'The paths whose references cover the value if this path has none: the path of a group around it, or the ' +
            'previous path of its array element. `inherited_evidence` has the references. Absent if there are none.',
        ),
    }),
  )
    .optional()
    .described('The evidence for each changed path. Absent with `include_attribution=none`.'),
  inherited_evidence: part({
    from: referencesByPath.described('The references before the change, by path.'),
    to: referencesByPath.described('The references after the change, by path.'),
  })
    .optional()
    .described('The references of each path that `inherited` names. Absent if there is none.'),
  ...PARTIAL,
  verification: DiffVerification.optional().described(VERIFICATION),
});

const VersionDiff = view('VersionDiffResult', {
  subject: SubjectRef,
  from_version: alias('from.snapshot_version'),
  to_version: alias('to.snapshot_version'),
  ...Diff.fields,
});

const FROM = { snapshot_id: EXAMPLE_IDS.snapshot_id, snapshot_version: 1 };
const TO = { snapshot_id: EXAMPLE_IDS.next_snapshot_id, snapshot_version: 2 };

const EXAMPLE: ViewOf<typeof Diff> = {
  format: 'rfc6902',
  from: FROM,
  to: TO,
  change_kind: 'change',
  include: ['/attributes', '/subject'],
  ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' }],
  ops_hash: '848ff1de862ca67f905526140f2cc105addc3f7f5657bd49ce569bb81a2ab743',
  change_summary: { total_ops: 1, adds: 0, removes: 0, replaces: 1, paths_changed: 1 },
  attribution: [
    {
      path: '/attributes/legal/legal_name',
      from: [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }],
      to: [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }],
      evidence_unchanged: true,
    },
  ],
};

const VERSION_EXAMPLE: ViewOf<typeof VersionDiff> = {
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
  from_version: 1,
  to_version: 2,
  ...EXAMPLE,
};

/** The tags of these examples. */
const ETAG = '"8c3937cff73d2860e6aadfc9caefbe979652f8d1b99006df81bee596444d0302"';
const VERSION_ETAG = '"7a14eb6cb5c877a349790fe5ce39a0461557ee0daacdaa005d50ad3e47fe7340"';
const CHANGED = 'The difference. To get the included roots of `to`, apply `ops` in order to those of `from`.';

export const DEFAULT_INCLUDE = '/subject,/attributes';
const ROOT = `(?:${DIFF_ROOTS.join('|')})`;
const INCLUDE = new RegExp(`^${ROOT}(?:,${ROOT})*$`);

/** Query of a diff between two snapshot ids (specification, "Diff", query parameters). */
export const DiffQuery = query({
  ...DiffVerifyQuery.fields,
  format: oneOf(['rfc6902']).optional().byDefault('rfc6902').described('RFC 6902 operations.'),
  include: matching(INCLUDE, `must be comma-separated roots from ${DIFF_ROOTS.join(', ')}`)
    .optional()
    .byDefault(DEFAULT_INCLUDE)
    .described('Comma-separated roots: `/subject`, `/attributes`, or `/` for the full envelope.'),
  include_attribution: oneOf(['changed_only', 'none'])
    .optional()
    .byDefault('changed_only')
    .described('`changed_only` adds the evidence for each changed path; `none` omits it.'),
});
export type DiffQuery = SentOf<typeof DiffQuery>;

export const VersionDiffQuery = query({
  ...DiffQuery.fields,
  from_version: positive({ example: 1 }).orAnother().described('The "before" state. Send either this or `from_as_of`.'),
  from_as_of: MOMENT.moment.described('The "before" state: the newest version at this moment.'),
  to_version: positive({ example: 2 }).orAnother().described('The "after" state. Send either this or `as_of`.'),
  as_of: MOMENT.moment.described('The "after" state: the newest version at this moment.'),
  basis: MOMENT.basis,
});
export type VersionDiffQuery = SentOf<typeof VersionDiffQuery>;

export const DIFFS = reads('Diff', {
  diffVersions: {
    path: '/subjects/{subject_type}/{subject_id}/diff',
    summary: 'Compare two versions of a subject',
    who: RULES.readDiff,
    query: VersionDiffQuery,
    answers: { 200: answer(CHANGED, VersionDiff, VERSION_EXAMPLE) },
    etag: VERSION_ETAG,
    errors: ['not_found', 'erased', 'damaged'],
  },
  diffSnapshots: {
    path: '/snapshots/{from_snapshot_id}/diff/{to_snapshot_id}',
    summary: 'Compare two snapshots of one subject by their ids',
    who: RULES.readDiff,
    globalSummary: 'Compare two snapshots by their ids, through any tenant of the caller that has access',
    query: DiffQuery,
    answers: { 200: answer(CHANGED, Diff, EXAMPLE) },
    etag: ETAG,
    errors: ['not_found', 'erased', 'damaged'],
  },
});
