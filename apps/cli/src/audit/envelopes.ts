import { hash } from 'node:crypto';
import { canonicalValue } from './canonical';
import { type Found, report } from './findings';

/** An envelope, and what its row says of it. */
export interface EnvelopeRow {
  subjectType: string;
  subjectId: string;
  snapshotId: string;
  version: string;
  generatedAt: string;
  envelopeHash: string | null;
  envelope: string;
}

/** That the text hashes to what the row says. */
export function checkHash(found: Found, where: string, { envelope, envelopeHash }: EnvelopeRow): void {
  const computed = hash('sha256', envelope, 'hex');
  if (computed !== envelopeHash) {
    report(found, 'envelope_hash', where, `it hashes to ${computed}, envelope_hash is ${envelopeHash}`);
  }
}

/** That the text is canonical, and names its row. Gives its value; undefined where it is not canonical. */
export function checkText(found: Found, where: string, row: EnvelopeRow): unknown {
  const value = canonicalValue(row.envelope);
  if (value === undefined) {
    report(found, 'not_canonical', where, 'its text is not the canonical form of a JSON value');
    return undefined;
  }
  const subject = memberOf(value, 'subject');
  const id = memberOf(value, 'snapshot_id');
  const isOfRow =
    typeof id === 'string' &&
    id.toLowerCase() === row.snapshotId &&
    memberOf(value, 'snapshot_version') === Number(row.version) &&
    memberOf(value, 'generated_at') === row.generatedAt &&
    memberOf(subject, 'subject_type') === row.subjectType &&
    memberOf(subject, 'subject_id') === row.subjectId;
  if (!isOfRow) report(found, 'envelope_ids', where, 'id, version, time or subject in the text are others');
  return value;
}

/** The own member, or the element. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
