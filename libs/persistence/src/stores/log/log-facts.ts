import type {
  LogEntryType,
  LogFact,
  LogKeyAnnouncedFact,
  LogOwnFact,
  LogRecordsFact,
  LogRestartedFact,
  ViewCommittedFact,
} from '@iss/domain';
import { fragmentText } from '../../sql/sql-files';

/** The number of each type of entry. */
export const LOG_ENTRY_NUMBERS = {
  'snapshot.created': 1,
  'grant.created': 2,
  'grant.revoked': 3,
  'tenant.owner_changed': 4,
  'grant.changed': 5,
  'subject.erased': 6,
} as const satisfies Record<LogEntryType, number>;

/** The numbers of entries that have batches of records. */
export const RECORD_ENTRY_NUMBERS = {
  'audit.recorded': 11,
  'disclosures.recorded': 12,
} as const satisfies Record<LogRecordsFact['type'], number>;

/** The number of entries that have the view of a version. */
export const VIEW_ENTRY_NUMBER = 14;

// Fragments of facts.sql, for statements in TypeScript.
export const FACT = fragmentText('fact');
export const FACT_OF_KEYS = fragmentText('fact_of_keys');

/** At most one member is set. None is set if the fact is missing from its table. */
export interface FactRow {
  snapshot: Extract<LogFact, { type: 'snapshot.created' }> | null;
  grant: Extract<LogFact, { type: 'grant.created' }> | null;
  revocation: Extract<LogFact, { type: 'grant.revoked' }> | null;
  grantChange: Extract<LogFact, { type: 'grant.changed' }> | null;
  ownerChange: Extract<LogFact, { type: 'tenant.owner_changed' }> | null;
  erasure: Extract<LogFact, { type: 'subject.erased' }> | null;
}

/** Returns the fact of a row; null if it is missing from its table. */
export function factOf({ snapshot, grant, revocation, grantChange, ownerChange, erasure }: FactRow): LogFact | null {
  return snapshot ?? grant ?? revocation ?? grantChange ?? ownerChange ?? erasure;
}

/** A fact that becomes an entry. */
export type LoggedFact = LogFact | LogOwnFact | LogRecordsFact | ViewCommittedFact;

/** At most one member is set. */
export interface RecordsRow {
  auditRecords: Extract<LogRecordsFact, { type: 'audit.recorded' }> | null;
  disclosures: Extract<LogRecordsFact, { type: 'disclosures.recorded' }> | null;
}

/** Returns the batch of records of a row; null if it has none. */
export function recordsOf({ auditRecords, disclosures }: RecordsRow): LogRecordsFact | null {
  return auditRecords ?? disclosures;
}

/** At most one member is set. */
export interface LoggedRow extends FactRow, RecordsRow {
  restart: LogRestartedFact | null;
  announcement: LogKeyAnnouncedFact | null;
  view: ViewCommittedFact | null;
}

/** Returns the fact of a row of any entry; null if it is missing from its table. */
export function loggedFactOf(row: LoggedRow): LoggedFact | null {
  return factOf(row) ?? row.restart ?? row.announcement ?? recordsOf(row) ?? row.view;
}
