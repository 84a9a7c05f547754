import type { AccessFacts } from '@iss/domain';
import { PAGE_BYTES } from '../../sql/page';
import type { SubjectDisclosure } from '../facts/access-facts';
import type { SnapshotRow } from './snapshot-record';

export const LINEAGE_ORDERS = ['asc', 'desc'] as const;
export type LineageOrder = (typeof LINEAGE_ORDERS)[number];

/** Which snapshots of a subject are read: `limit` of them, in order of their versions, after the version `after`. */
export interface LineageRange {
  order: LineageOrder;
  /** Null: from the first in this order on. */
  after: number | null;
  limit: number;
  withEnvelopes: boolean;
}

/** What a read of several snapshots found, and the facts by which it is decided whether the caller may see them. */
export interface LineageRead {
  facts: AccessFacts;
  /** Null for the owner, and where there is no subject. */
  disclosure: SubjectDisclosure | null;
  /** The newest version, which is also the number of versions; null when the subject does not exist. */
  headVersion: number | null;
  /**
   * Envelopes stand on the first of them: on as many as fit into {@link ENVELOPE_BYTES}, and on one at least. With
   * envelopes, those that do not fit into {@link PAGE_BYTES} together are left out, the first one never.
   */
  snapshots: SnapshotRow[];
  /** How many there were, those left out included. */
  found: number;
}

/** UTF-8 bytes of envelopes in the rows of one statement: so much of a long list lies in memory at once. */
export const ENVELOPE_BYTES = 2 * 1024 * 1024;

/** `limit` snapshots of a subject in order, each with the bytes of the envelopes before it, whose texts are not read. */
export function range(order: LineageOrder, after: string, subjectKey = 's.subject_key'): string {
  const [compare, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
  return `LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version ${direction})
              - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
    FROM (SELECT n.* FROM snapshots n
           WHERE n.subject_key = ${subjectKey} AND n.snapshot_version ${compare} ${after}
           ORDER BY n.snapshot_version ${direction} LIMIT :limit) n
) n`;
}

/** Its envelope is read. */
export const FITS = `n.bytes_before < ${ENVELOPE_BYTES}`;
/** It is one of a page, where that has envelopes. */
export const FITS_PAGE = `(n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= ${PAGE_BYTES})`;
/** The version after which a range in this order begins with the first. */
export const BEFORE_THE_FIRST = { asc: 0, desc: 2 ** 31 };
