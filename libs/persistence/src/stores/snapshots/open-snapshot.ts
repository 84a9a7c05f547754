import { channel } from 'node:diagnostics_channel';
import { DomainError, hashText } from '@iss/domain';
import type { SnapshotRecord, SnapshotRow } from './snapshot-record';
import { DAMAGED_IN_ARCHIVE } from './stored-texts';

/** `hash`: the text does not match the stored `envelope_hash`. `syntax`: it is no JSON. */
export type Damage = 'hash' | 'syntax';

/** Publishes each damaged text that a reader finds, as a {@link DamagedText}. */
export const DAMAGED_TEXTS = channel('iss:damaged-text');

/** A damaged text, identified by its version. */
export class DamagedText {
  readonly snapshot: Pick<SnapshotRecord, 'subjectType' | 'subjectId' | 'snapshotId' | 'snapshotVersion'>;

  constructor(
    { subjectType, subjectId, snapshotId, snapshotVersion }: SnapshotRow,
    readonly damage: Damage,
  ) {
    this.snapshot = { subjectType, subjectId, snapshotId, snapshotVersion };
  }
}

/** The stored text of a version differs from the written one. */
export class DamagedError extends DomainError {
  constructor({ snapshotVersion, subjectType, subjectId, snapshotId }: SnapshotRow, place: 'database' | 'archive') {
    super(
      place === 'archive' ? 'archive_damaged' : 'damaged',
      `Version ${snapshotVersion} of ${subjectType}/${subjectId} (snapshot ${snapshotId}) is damaged in the ${place}: its text is not the one that was written. The operator of the service has to restore it.`,
    );
  }
}

/** Returns the record of a row, for a reader with the right to it. Throws {@link DamagedError} if the text is damaged. */
export function openSnapshot(row: SnapshotRow): SnapshotRecord {
  const snapshot = readUnchecked(row);
  const { envelope, envelopeHash } = snapshot;
  const damage = envelope === null ? null : damageOf(envelope, envelopeHash);
  if (damage !== null) throw damaged(row, damage);
  return snapshot;
}

/** Returns the damage of a text, or null if it is intact. Without a stored hash, it only checks the JSON syntax. */
export function damageOf(text: string, envelopeHash: string | null): Damage | null {
  if (envelopeHash !== null) return hashText(text) === envelopeHash ? null : 'hash';
  return isJson(text) ? null : 'syntax';
}

/** Returns the record of a row, or null if the text is damaged. For callers that can do without it. */
export function openIfIntact(row: SnapshotRow): SnapshotRecord | null {
  try {
    return openSnapshot(row);
  } catch (error) {
    if (error instanceof DamagedError) return null;
    throw error;
  }
}

/**
 * Returns the record of a row for an answer that reports the verification of its text. Throws {@link DamagedError} if it is no
 * JSON.
 */
export function openForVerdict(row: SnapshotRow): SnapshotRecord {
  const snapshot = readUnchecked(row);
  if (snapshot.envelope !== null && !isJson(snapshot.envelope)) throw damaged(row, 'syntax');
  return snapshot;
}

/** Returns the record of a row without a check, for verification only. No answer may show its text. */
export function readUnchecked(row: SnapshotRow): SnapshotRecord {
  const envelope: unknown = row.envelope;
  return { ...row, envelope: typeof envelope === 'string' ? envelope : null };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function damaged(row: SnapshotRow, damage: Damage): DamagedError {
  DAMAGED_TEXTS.publish(new DamagedText(row, damage));
  const text: unknown = row.envelope;
  return new DamagedError(row, text === DAMAGED_IN_ARCHIVE ? 'archive' : 'database');
}
