import { CHAIN_VERIFY_MODES, TIME_BASES, VERIFY_MODES } from '@iss/domain';
import { dayOrInstant, oneOf, PAGE, positiveOr } from '../describe/fields';
import { query, type SentOf } from '../describe/shape';

const SNAPSHOT_VIEWS = ['full', 'header'] as const;
export type SnapshotView = (typeof SNAPSHOT_VIEWS)[number];

export const ORDERS = ['asc', 'desc'] as const;
export const ALL_PARENTS = 'all';

const verify = {
  verify: oneOf(VERIFY_MODES)
    .optional()
    .byDefault('none')
    .described(
      '`hash` recomputes the envelope hash; `chain` also checks `depth` parents. `complete` also looks up in the map of the ' +
        'transparency log whether the version is the newest one; 404 `not_found` if the log has no map.',
    ),
  depth: positiveOr(ALL_PARENTS, 1)
    .optional()
    .described(
      'The number of parents that `verify=chain` checks, up to a limit of the server. A small number says ' +
        'little about older versions. `all` goes as far as the server allows; `chain.complete` is true if that ' +
        'reached version 1.',
    ),
};

const view = oneOf(SNAPSHOT_VIEWS).optional().described('`header` omits the envelope.');

/**
 * Every read accepts the parameters of all reads, so that a client may always send them (contract, "Query parameters").
 */
const NO_EFFECT = 'Accepted by every snapshot read; has no effect here.';

const idle = {
  view: view.described(NO_EFFECT).example('full'),
  verify: oneOf(VERIFY_MODES).optional().described(NO_EFFECT).example('none'),
  depth: positiveOr(ALL_PARENTS, 1).optional().described(NO_EFFECT),
};

const order = oneOf(ORDERS).optional().byDefault('desc').described('The order by `snapshot_version`.');

const basis = oneOf(TIME_BASES)
  .optional()
  .byDefault('recorded')
  .described(
    'The time by which the version is selected. `recorded`: when the service stored a version (`created_at`). `effective`: when ' +
      'its writer says that it was made (`generated_at`).',
  );

/** Parameters that select the version that was the newest at a moment, by recorded or effective time. */
export const MOMENT = { moment: dayOrInstant.optional().example('2026-01-31T12:00:00Z'), basis };

/** The same for reads that accept one moment. */
export const AS_OF = {
  as_of: MOMENT.moment
    .example('2026-01-31T12:00:00Z')
    .described(
      'Selects the newest version at this moment instead of the latest. Send an RFC 3339 date-time with a ' +
        'timezone, or a UTC date for the end of that day. Digits after the millisecond are ignored. 404 if the ' +
        'moment is before the first version.',
    ),
  basis,
};

/** The parameters of every read that verifies (specification, "Snapshot reads"). */
export const VerifyQuery = query({ ...verify, view: idle.view });
export type VerifyQuery = SentOf<typeof VerifyQuery>;

/** The same parameters for a diff. */
export const DiffVerifyQuery = query({
  ...VerifyQuery.fields,
  verify: oneOf(CHAIN_VERIFY_MODES)
    .optional()
    .byDefault('none')
    .described('`hash` recomputes both envelope hashes; `chain` also checks `depth` parents.'),
});

export const SummaryQuery = query({ ...VerifyQuery.fields, ...AS_OF });
export type SummaryQuery = SentOf<typeof SummaryQuery>;

/** Query of reads for which these parameters have no effect. */
export const IdleQuery = query(idle);
export const ExportLinesQuery = query({ ...idle, ...AS_OF });
export type ExportLinesQuery = SentOf<typeof ExportLinesQuery>;

export const ExportQuery = query({
  ...ExportLinesQuery.fields,
  format: oneOf(['bods-0.4'])
    .optional()
    .example('bods-0.4')
    .described(
      '`bods-0.4`: statements of the Beneficial Ownership Data Standard 0.4 instead of snapshots ' +
        '([/docs/how-to/bods](/docs/how-to/bods)).',
    ),
  proofs: oneOf(['log'])
    .optional()
    .example('log')
    .described(
      '`log`: the export is a bundle that proves each version’s place in the transparency log. Only as NDJSON.',
    ),
});
export type ExportQuery = SentOf<typeof ExportQuery>;

/** Query of the reads of one snapshot (specification, "Snapshot reads", common query parameters). */
export const SnapshotQuery = query({ ...verify, view: view.byDefault('full') });
export type SnapshotQuery = SentOf<typeof SnapshotQuery>;

export const LatestQuery = query({ ...SnapshotQuery.fields, ...AS_OF });
export type LatestQuery = SentOf<typeof LatestQuery>;

export const ChainProofQuery = query({ ...PAGE, order, ...idle });
export type ChainProofQuery = SentOf<typeof ChainProofQuery>;

/** Query of a history in its global form. */
export const HistoryQuery = query({
  ...ChainProofQuery.fields,
  ...SnapshotQuery.fields,
  order: order.described('The order by `snapshot_version`. A window of `effective` times is ordered by time first.'),
  from: dayOrInstant
    .optional()
    .example('2026-01-01')
    .described('Only versions from this moment on: an RFC 3339 date-time with a timezone, or a UTC date.'),
  to: dayOrInstant
    .optional()
    .example('2026-01-31')
    .described(
      'Only versions up to and including this moment: an RFC 3339 date-time with a timezone, or a UTC date for ' +
        'the end of that day.',
    ),
  basis,
});
export type HistoryQuery = SentOf<typeof HistoryQuery>;

/** Query of a history in its tenant-scoped form, which shows headers by default. */
export const TenantHistoryQuery = query({ ...HistoryQuery.fields, view: view.byDefault('header') });
