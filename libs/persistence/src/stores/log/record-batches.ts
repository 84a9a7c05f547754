import { hash } from 'node:crypto';
import { batchRecords, type LoggedAuditRecord, type LoggedDisclosure, type WaitingRecord } from '@iss/domain';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { RECORD_ENTRY_NUMBERS } from './log-facts';

/** Bytes of SHA-256 per record. They only lead an audit to a changed record; the entry proves the change. */
const DIGEST_BYTES = 4;
/** Records per round: some megabytes of text. */
const ROUND = 4_096;

interface MarkedRow {
  waitingId: number;
  tenantId: string | null;
  recordId: number;
  isLate: boolean;
  audit: LoggedAuditRecord | null;
  disclosure: LoggedDisclosure | null;
}

const WAITING = statement<{ limit: number }, MarkedRow>('log_records_waiting');

const BATCH = statement<{
  waitingIds: readonly number[];
  batches: readonly {
    entryType: number;
    tenantId: string;
    isLate: boolean;
    /** An array of PostgreSQL as text. */
    recordIds: string;
    digests: Buffer;
  }[];
}>('log_records_batch');

/** Reads the marked records that the next round takes. */
export async function readWaitingRecords(sql: Pick<Sql, 'run'>): Promise<WaitingRecord[]> {
  return (await sql.run(WAITING, { limit: ROUND })).map(toRecord).filter((record) => record !== null);
}

/**
 * Turns marked audit records and disclosures into batches, which then wait for their entries. The transaction must hold the
 * tree. Returns the number of marked records that are missing from their tables, and true if more records may wait.
 */
export async function batchWaitingRecords(
  sql: TransactionSql,
  limit = ROUND,
): Promise<{ missing: number; isMore: boolean }> {
  const rows = await sql.run(WAITING, { limit });
  if (rows.length === 0) return { missing: 0, isMore: false };
  const records = rows.map(toRecord).filter((record) => record !== null);
  const batches = batchRecords(records).map(({ type, tenantId, isLate, recordIds, texts }) => ({
    tenantId,
    isLate,
    entryType: RECORD_ENTRY_NUMBERS[type],
    recordIds: `{${recordIds.join(',')}}`,
    digests: Buffer.concat(texts.map((text) => hash('sha256', text, 'buffer').subarray(0, DIGEST_BYTES))),
  }));
  await sql.run(BATCH, { waitingIds: [...new Set(rows.map(({ waitingId }) => waitingId))], batches });
  return { missing: rows.length - records.length, isMore: rows.length >= limit };
}

function toRecord({ tenantId, recordId, isLate, audit, disclosure }: MarkedRow): WaitingRecord | null {
  if (tenantId === null) return null;
  if (audit !== null) return { type: 'audit.recorded', tenantId, recordId, isLate, record: audit };
  return disclosure && { type: 'disclosures.recorded', tenantId, recordId, isLate, record: disclosure };
}
