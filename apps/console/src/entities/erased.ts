import { useEffect } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { type api, ErasedError, type ErasureReceipt } from '@identity-state/client';
import { useSubject } from '../app/address.ts';
import { useFeed } from '../app/live.ts';
import { CONTENT, PROVENANCE, VERSIONS } from '../app/query-keys.ts';

/** Returns the receipt of the erasure in a header; null if the version has its content. */
export function receiptIn(header: api.SnapshotHeader | undefined): ErasureReceipt | null {
  if (header?.erased === undefined) return null;
  const { erased, snapshot_id, snapshot_version, envelope_hash, prev_hash } = header;
  return { ...erased, snapshot_id, snapshot_version, envelope_hash, prev_hash };
}

/** Returns the receipt of the erasure that an error reports. */
export function receiptOfError(error: Error | null): ErasureReceipt | null {
  return error instanceof ErasedError ? error.receipt : null;
}

/** Drops the cached versions of the subject when one of them is erased. */
export function useForgetErased(): void {
  const queries = useQueryClient();
  const { tenantId, subjectType, subjectId, path } = useSubject();
  const last = useFeed(tenantId).changes.find(
    (change) =>
      change.type === 'subject.erased' && change.subject_type === subjectType && change.subject_id === subjectId,
  )?.log_index;
  useEffect(() => {
    if (last === undefined) return;
    for (const kind of [CONTENT, PROVENANCE, VERSIONS]) void queries.resetQueries({ queryKey: [kind, path] });
  }, [queries, path, last]);
}
