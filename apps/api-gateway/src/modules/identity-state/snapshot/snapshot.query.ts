import { DomainError, VERIFY_MODES, type VerifyMode } from '@iss/domain';
import { oneOf, PAGE, positiveOr } from '../../../http/request/fields';
import { query, type SentOf } from '../../../http/request/shape';
import { VIEWS } from './snapshot.views';

export const ORDERS = ['asc', 'desc'] as const;

const ALL = 'all';

const verify = {
  verify: oneOf(VERIFY_MODES)
    .optional()
    .byDefault('none')
    .described('`hash` recomputes the hash of the envelope; `chain` also walks `depth` parents.'),
  depth: positiveOr(ALL, 1)
    .optional()
    .described(
      'Hops up the chain with `verify=chain`, bounded by a setting of the server. One says little about what lies further ' +
        'back: `all` walks as far as the server does, and `chain.complete` says whether that was to version 1.',
    ),
};
const view = oneOf(VIEWS).optional().described('`header` omits the envelope.');
/** Every read takes all of them, so that a client may send them to each (contract, "Query parameters"). */
const NO_EFFECT = 'Taken by every read of snapshots; changes nothing here.';
const idle = {
  view: view.described(NO_EFFECT).example('full'),
  verify: oneOf(VERIFY_MODES).optional().described(NO_EFFECT).example('none'),
  depth: positiveOr(ALL, 1).optional().described(NO_EFFECT),
};
const order = oneOf(ORDERS).optional().byDefault('desc').described('By `snapshot_version`.');

/** Query of the current-state summary (specification, "Snapshot reads"). */
export const VerifyQuery = query({ ...verify, view: idle.view });
export type VerifyQuery = SentOf<typeof VerifyQuery>;

/** Query of the reads that answer the same whatever view is asked for, and verify nothing, or all. */
export const IdleQuery = query(idle);

/** Query of an export. */
export const ExportQuery = query({
  ...idle,
  proofs: oneOf(['log'])
    .optional()
    .example('log')
    .described(
      '`log`: a bundle, in which each version has the proof that it is in the transparency log. Only as NDJSON.',
    ),
});
export type ExportQuery = SentOf<typeof ExportQuery>;

/** Query of the reads of one snapshot (specification, "Snapshot reads", common query parameters). */
export const SnapshotQuery = query({ ...verify, view: view.byDefault('full') });
export type SnapshotQuery = SentOf<typeof SnapshotQuery>;

/** Query of a chain proof. */
export const ChainProofQuery = query({ ...PAGE, order, ...idle });
export type ChainProofQuery = SentOf<typeof ChainProofQuery>;

/** Query of a history in its global form. */
export const HistoryQuery = query({ ...ChainProofQuery.fields, ...SnapshotQuery.fields });
export type HistoryQuery = SentOf<typeof HistoryQuery>;

/** Query of a history in its tenant-scoped form, which shows headers unless asked otherwise. */
export const TenantHistoryQuery = query({ ...HistoryQuery.fields, view: view.byDefault('header') });

/** What is to be verified. Throws `validation_error` for a depth above the server's maximum, which `all` stands for. */
export function verifyOptions(sent: VerifyQuery, maxDepth: number): { verify: VerifyMode; depth: number } {
  const depth = sent.depth === ALL ? maxDepth : Number(sent.depth ?? 1);
  if (depth > maxDepth) {
    throw new DomainError('validation_error', `depth may be at most ${maxDepth}: ${ALL} walks as far.`, [
      { path: '/query/depth', message: `must be at most ${maxDepth}, or ${ALL}`, code: 'too_large' },
    ]);
  }
  return { verify: sent.verify ?? 'none', depth };
}
