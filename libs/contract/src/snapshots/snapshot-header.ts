import { CHANGE_KINDS } from '@iss/domain';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { hash, oneOf, principalId, sentTime, SubjectRef, text, time, uuid, version } from '../describe/fields';
import { listOf } from '../describe/field';
import { part, view, type ViewOf } from '../describe/view';

export const ErasedMark = part({
  erasure_id: uuid.described('The erasure.'),
  erased_at: time.described('When the content was destroyed.'),
});

export const changeKind = oneOf(CHANGE_KINDS).described(
  '`correction` if the version corrects an error; `change` if the world changed.',
);

export const changedPaths = listOf(text)
  .nullable()
  .described(
    'JSON Pointers of the attributes that changed, sorted; only those that the reader may see. An array counts as one ' +
      'value. If too many changed, their common parents are listed. Null: everything may have changed. See ' +
      '[/docs/feed](/docs/feed).',
  );

/** The writer of a version, as the service knows it. */
export const WRITER = {
  written_by: principalId
    .nullable()
    .described(
      'The principal whose token was verified for the write. `audit.created_by` is only the caller’s statement. ' +
        'Null for versions that an earlier release wrote.',
    ),
  write_request_id: text.nullable().described('The `X-Request-Id` of the request that wrote the version.'),
};

/** Specification, "Snapshot header". */
export const SnapshotHeader = view('SnapshotHeader', {
  snapshot_id: uuid.described('The id of the snapshot.'),
  snapshot_version: version,
  generated_at: sentTime.described('When the writer made the snapshot.'),
  created_at: time.described('When the service stored the version.'),
  change_kind: changeKind,
  envelope_hash: hash
    .nullable()
    .described(
      'The SHA-256 of the envelope’s canonical form (RFC 8785). Null only for versions imported without a hash.',
    ),
  prev_hash: hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
  ...WRITER,
  subject: SubjectRef.fromRecord(),
  erased: ErasedMark.from('erasure')
    .optional()
    .described(
      'The erasure that destroyed the content. Absent unless the version was erased; an erased version has no ' +
        'envelope.',
    ),
});
export type SnapshotHeader = ViewOf<typeof SnapshotHeader>;

export const SNAPSHOT_HEADER_EXAMPLE: SnapshotHeader = {
  snapshot_id: EXAMPLE_IDS.snapshot_id,
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  change_kind: 'change',
  created_at: '2026-01-15T09:30:00.412Z',
  envelope_hash: '7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219',
  prev_hash: null,
  written_by: 'oidc:dev#alice',
  write_request_id: EXAMPLE_IDS.request_id,
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
};
