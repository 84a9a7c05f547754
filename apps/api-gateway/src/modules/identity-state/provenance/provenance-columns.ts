import type { TracedVersion } from '@iss/domain';
import type { SnapshotToAppend } from '@iss/persistence';

type ProvenanceColumns = Pick<
  SnapshotToAppend,
  'changedBy' | 'origins' | 'changedPaths' | 'firstChangedBy' | 'hasMissing' | 'hasCarried'
>;

/**
 * Returns the columns that are stored with a later version beside its envelope. They are empty if the origins of its
 * parent are unknown.
 */
export function provenanceColumns(traced: TracedVersion | null, snapshotVersion: number): ProvenanceColumns {
  if (traced === null) {
    return {
      changedBy: null,
      origins: null,
      changedPaths: null,
      firstChangedBy: null,
      hasMissing: false,
      hasCarried: false,
    };
  }
  const { origins, changedPaths, changedBy, baseChangedBy, hasMissing, hasCarried } = traced;
  const firstChangedBy = snapshotVersion === 2 ? baseChangedBy : null;
  return {
    changedBy,
    origins: Buffer.from(origins),
    changedPaths: JSON.stringify(changedPaths),
    firstChangedBy,
    hasMissing,
    hasCarried,
  };
}
