import { channel } from 'node:diagnostics_channel';
import { DomainError, hashText } from '@iss/domain';
import type { SnapshotRecord, SnapshotRow } from './snapshot-record';

/** `hash`: the text does not hash to the stored `envelope_hash`. `syntax`: it is no JSON. */
export type Damage = 'hash' | 'syntax';

/** Tells each damaged text that a reader comes upon, as a {@link DamagedText}. */
export const DAMAGED_TEXTS = channel('iss:damaged-text');

/** A damaged text by the name of its version. */
export class DamagedText {
  readonly snapshot: Pick<SnapshotRecord, 'subjectType' | 'subjectId' | 'snapshotId' | 'snapshotVersion'>;

  constructor(
    { subjectType, subjectId, snapshotId, snapshotVersion }: SnapshotRow,
    readonly damage: Damage,
  ) {
    this.snapshot = { subjectType, subjectId, snapshotId, snapshotVersion };
  }
}

/** The stored text of a version is not the one that was written. */
export class DamagedError extends DomainError {
  constructor({ snapshotVersion, subjectType, subjectId, snapshotId }: SnapshotRow) {
    super(
      'damaged',
      `Version ${snapshotVersion} of ${subjectType}/${subjectId} (snapshot ${snapshotId}) is damaged in the database: its text is not the one that was written. The operator of the service has to restore it.`,
    );
  }
}

/** Opens a row for a reader with the right to it. Throws {@link DamagedError} where its text is not the one that was written. */
export function opened(row: SnapshotRow): SnapshotRecord {
  const snapshot = unchecked(row);
  const { envelope, envelopeHash } = snapshot;
  const damage = envelope === null ? null : damageOf(envelope, envelopeHash);
  if (damage !== null) throw damaged(row, damage);
  return snapshot;
}

/** Returns how a text differs from the one that was written, as far as its stored hash tells; null where it does not. */
export function damageOf(text: string, envelopeHash: string | null): Damage | null {
  if (envelopeHash !== null) return hashText(text) === envelopeHash ? null : 'hash';
  return isJson(text) ? null : 'syntax';
}

/** Opens a row that its caller can do without. Null where its text is not the one that was written. */
export function openedIfWhole(row: SnapshotRow): SnapshotRecord | null {
  try {
    return opened(row);
  } catch (error) {
    if (error instanceof DamagedError) return null;
    throw error;
  }
}

/** Opens a row for an answer whose verification says whether its text holds. Throws {@link DamagedError} where it is no JSON. */
export function openedBesideVerdict(row: SnapshotRow): SnapshotRecord {
  const snapshot = unchecked(row);
  if (snapshot.envelope !== null && !isJson(snapshot.envelope)) throw damaged(row, 'syntax');
  return snapshot;
}

/** Opens a row for a verification alone. No answer may show its text. */
export function unchecked(row: SnapshotRow): SnapshotRecord {
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
  return new DamagedError(row);
}
