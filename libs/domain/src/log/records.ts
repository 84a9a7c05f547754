import { canonicalize } from '../json/canonicalize';
import type { JsonObject } from '../json/value';
import type { SubjectRef } from '../subject-ref';

/** Limits of a batch. In a public bundle, the length of an entry has two bytes. */
const MAX_RECORDS = 256;
const MAX_BYTES = 59_000;

/** A record of a tenant's audit trail. Times are as the API formats them. */
export interface LoggedAuditRecord {
  auditId: number;
  at: string;
  action: string;
  principalId: string | null;
  requestId: string | null;
  target: JsonObject;
  /** Without the purpose of a grant, which may be erased. */
  details: JsonObject;
}

/** A disclosure of versions of a subject. */
export interface LoggedDisclosure extends SubjectRef {
  /** `YYYY-MM-DD`, UTC. */
  disclosedOn: string;
  firstAt: string;
  granteeTenantId: string;
  grantId: string | null;
  principalId: string;
  via: string;
  fromVersion: number;
  toVersion: number;
  requestId: string;
  /** The paths that were shown; null: everything, or the entry of an earlier release. */
  paths: readonly string[] | null;
}

/** Records of one tenant: of its audit trail, or disclosures of its subjects. */
export type LogRecordsFact =
  | { type: 'audit.recorded'; tenantId: string; records: readonly LoggedAuditRecord[] }
  | { type: 'disclosures.recorded'; tenantId: string; records: readonly LoggedDisclosure[] };

/** A record that is in no batch yet. */
export type WaitingRecord = { tenantId: string; recordId: number; isLate: boolean } & (
  { type: 'audit.recorded'; record: LoggedAuditRecord } | { type: 'disclosures.recorded'; record: LoggedDisclosure }
);

/** The records that become one entry, in ascending order. */
export interface RecordBatch {
  type: LogRecordsFact['type'];
  tenantId: string;
  isLate: boolean;
  recordIds: number[];
  /** The RFC 8785 text of each record. */
  texts: string[];
}

/** Returns the members of each record in its entry (docs/log.md). */
export function recordMembers(fact: LogRecordsFact): JsonObject[] {
  return fact.type === 'audit.recorded' ? fact.records.map(auditMembers) : fact.records.map(disclosureMembers);
}

/**
 * Divides records into batches of one type and tenant, of at most 256 records and an entry of at most 60,000 bytes. A longer
 * record has a batch of its own.
 */
export function batchRecords(waiting: readonly WaitingRecord[]): RecordBatch[] {
  const groups = new Map<string, WaitingRecord[]>();
  for (const record of waiting) {
    const key = `${record.type} ${record.isLate} ${record.tenantId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [record]);
    else group.push(record);
  }
  return [...groups.values()].flatMap((group) => batchesOf(group.sort((one, other) => one.recordId - other.recordId)));
}

function batchesOf(records: readonly WaitingRecord[]): RecordBatch[] {
  const batches: RecordBatch[] = [];
  let batch: RecordBatch | undefined;
  let bytes = 0;
  for (const record of records) {
    const { type, tenantId, isLate, recordId } = record;
    const text = canonicalize(
      record.type === 'audit.recorded' ? auditMembers(record.record) : disclosureMembers(record.record),
    );
    const length = Buffer.byteLength(text) + 1;
    if (batch === undefined || batch.recordIds.length === MAX_RECORDS || bytes + length > MAX_BYTES) {
      batch = { type, tenantId, isLate, recordIds: [], texts: [] };
      batches.push(batch);
      bytes = 0;
    }
    bytes += length;
    batch.recordIds.push(recordId);
    batch.texts.push(text);
  }
  return batches;
}

function auditMembers(record: LoggedAuditRecord): JsonObject {
  return {
    audit_id: record.auditId,
    at: record.at,
    action: record.action,
    principal_id: record.principalId,
    request_id: record.requestId,
    target: record.target,
    details: record.details,
  };
}

function disclosureMembers(record: LoggedDisclosure): JsonObject {
  return {
    subject_type: record.subjectType,
    subject_id: record.subjectId,
    disclosed_on: record.disclosedOn,
    first_at: record.firstAt,
    grantee_tenant_id: record.granteeTenantId,
    grant_id: record.grantId,
    principal_id: record.principalId,
    via: record.via,
    from_version: record.fromVersion,
    to_version: record.toVersion,
    request_id: record.requestId,
    ...(record.paths === null ? {} : { paths: [...record.paths] }),
  };
}
