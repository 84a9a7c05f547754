import type { AccessFacts } from '@iss/domain';
import type { SubjectDisclosure } from '../facts/access-facts';
import type { SnapshotRow, StoredRow } from '../snapshots/snapshot-record';

export const LINEAGE_ORDERS = ['asc', 'desc'] as const;
export type LineageOrder = (typeof LINEAGE_ORDERS)[number];

/** A range of a subject's snapshots: the first `limit` after the version `after`, in the order of their versions. */
export interface LineageRange {
  order: LineageOrder;
  /** Null for the start of the order. */
  after: number | null;
  limit: number;
  withEnvelopes: boolean;
}

/** The result of a read of several snapshots, and the facts that decide whether the caller may see them. */
export interface LineageRead {
  facts: AccessFacts;
  /** Null for the owner, and if there is no subject. */
  disclosure: SubjectDisclosure | null;
  /** The newest version, which is also the number of versions; null if the subject does not exist. */
  headVersion: number | null;
  /**
   * The first snapshots have envelopes: as many as fit into {@link ENVELOPE_BYTES}, at least one. If envelopes are requested,
   * snapshots that do not fit into {@link PAGE_BYTES} are omitted, except for the first one.
   */
  snapshots: SnapshotRow[];
  /** The number of snapshots in the range, including omitted ones. */
  found: number;
}

/** The same before the texts were brought. */
export type StoredLineage = Omit<LineageRead, 'snapshots'> & { snapshots: StoredRow[] };

/** The maximum size in UTF-8 bytes of the envelopes of one statement, because they are in memory together. */
export const ENVELOPE_BYTES = 2 * 1024 * 1024;

/** The version after which each order starts. */
export const BEFORE_THE_FIRST = { asc: 0, desc: 2 ** 31 };
