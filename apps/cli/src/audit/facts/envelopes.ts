import { hash } from 'node:crypto';
import type { Row } from '../database';
import { canonicalValue } from './canonical';
import { type Found, report } from '../findings';

/** Replaces the text of a version in the archive, which `archived.ts` checks. No envelope has this text. */
export const ARCHIVED = '@';

/** Selects the text of the snapshot `n`. */
export const TEXT_COLUMN = `CASE WHEN n.pack_id IS NULL THEN n.envelope ELSE '${ARCHIVED}' END`;

type Column = Row[number] | undefined;

/** An envelope with the columns of its row. */
export interface EnvelopeRow extends Readonly<
  Record<'subjectType' | 'subjectId' | 'snapshotId' | 'version' | 'generatedAt' | 'changeKind' | 'envelopeHash', Column>
> {
  readonly envelope: string;
}

/** Checks that the text has the hash in its row. */
export function checkHash(found: Found, where: string, { envelope, envelopeHash }: EnvelopeRow): void {
  const computed = hash('sha256', envelope, 'hex');
  if (computed !== envelopeHash) {
    report(found, 'envelope_hash', where, `its hash is ${computed}, but envelope_hash is ${envelopeHash}`);
  }
}

/** Checks that the text is canonical and names its row. Returns its value; undefined if it is not canonical. */
export function checkText(found: Found, where: string, row: EnvelopeRow): unknown {
  const value = canonicalValue(row.envelope);
  if (value === undefined) {
    report(found, 'not_canonical', where, 'its text is not canonical JSON');
    return undefined;
  }
  const subject = memberOf(value, 'subject');
  const id = memberOf(value, 'snapshot_id');
  const isOfRow =
    typeof id === 'string' &&
    id.toLowerCase() === row.snapshotId &&
    memberOf(value, 'snapshot_version') === Number(row.version) &&
    memberOf(value, 'generated_at') === row.generatedAt &&
    (memberOf(value, 'change_kind') ?? 'change') === row.changeKind &&
    memberOf(subject, 'subject_type') === row.subjectType &&
    memberOf(subject, 'subject_id') === row.subjectId;
  if (!isOfRow)
    report(found, 'envelope_ids', where, 'its id, version, time, subject or change_kind differs from the row');
  return value;
}

/** Returns an own member of an object, or an element of an array; else undefined. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
