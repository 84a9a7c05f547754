import { DomainError, VERIFY_MODES, type VerifyMode } from '@iss/domain';
import { oneOf, PAGE, positive } from '../../../http/request/fields';
import { query, type SentOf } from '../../../http/request/shape';
import { VIEWS } from './snapshot.views';

export const ORDERS = ['asc', 'desc'] as const;

const verify = {
  verify: oneOf(VERIFY_MODES)
    .optional()
    .byDefault('none')
    .described('`hash` recomputes the hash of the envelope; `chain` also walks `depth` parents.'),
  depth: positive({ default: 1 })
    .optional()
    .described('Hops up the chain with `verify=chain`, bounded by a setting of the server.'),
};
const view = oneOf(VIEWS).optional().described('`header` omits the envelope.');
const order = oneOf(ORDERS).optional().byDefault('desc').described('By `snapshot_version`.');

/** Query of the current-state summary (specification, "Snapshot reads"). */
export const VerifyQuery = query(verify);
export type VerifyQuery = SentOf<typeof VerifyQuery>;

/** Query of the reads of one snapshot (specification, "Snapshot reads", common query parameters). */
export const SnapshotQuery = query({ ...verify, view: view.byDefault('full') });
export type SnapshotQuery = SentOf<typeof SnapshotQuery>;

/** Query of a chain proof. */
export const ChainProofQuery = query({ ...PAGE, order });
export type ChainProofQuery = SentOf<typeof ChainProofQuery>;

/** Query of a history in its global form. */
export const HistoryQuery = query({ ...ChainProofQuery.fields, ...SnapshotQuery.fields });
export type HistoryQuery = SentOf<typeof HistoryQuery>;

/** Query of a history in its tenant-scoped form, which shows headers unless asked otherwise. */
export const TenantHistoryQuery = query({ ...HistoryQuery.fields, view: view.byDefault('header') });

/** What is to be verified. Throws `validation_error` for a depth above the server's maximum. */
export function verifyOptions(sent: VerifyQuery, maxDepth: number): { verify: VerifyMode; depth: number } {
  const depth = Number(sent.depth ?? 1);
  if (depth > maxDepth) {
    throw new DomainError('validation_error', `depth may be at most ${maxDepth}.`, [
      { path: '/query/depth', message: `must be at most ${maxDepth}`, code: 'too_large' },
    ]);
  }
  return { verify: sent.verify ?? 'none', depth };
}
