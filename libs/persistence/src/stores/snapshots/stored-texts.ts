import { ArchiveUnavailable, type PackedText, type TextArchive } from '@iss/archive';
import type { SnapshotRow, StoredRow, UnopenedText } from './snapshot-record';

/**
 * The fragment `archived_place` returns this if no store of the archive has an undamaged copy of the text. It is no
 * JSON, and no version has its hash.
 */
export const DAMAGED_IN_ARCHIVE = '@ damaged';

/** The place of an archived text, as the fragment `stored_text` writes it. The text of an envelope does not start with `@`. */
const PLACE = /^@([\da-f-]{36}) (\d+) (\d+) ([\da-f]{64})$/;

/**
 * Brings the texts of versions from the archive, if they are not in the database. Every read of a text that may be archived goes
 * through it, as the types demand. `archive` is null if none is configured.
 */
export class StoredTexts {
  constructor(private readonly archive: TextArchive | null) {}

  /** Returns the rows in their order with their texts. Throws `archive_unavailable`. */
  async bring(rows: readonly StoredRow[]): Promise<SnapshotRow[]> {
    if (rows.every(isHere)) return [...rows];
    if (this.archive === null) throw new ArchiveUnavailable(new Error('ARCHIVE_URL is not set'));
    const places = rows.map(placeOf);
    const texts = (await this.archive.read(places.filter((place) => place !== null))).values();
    return rows.map((row) => {
      if (isHere(row)) return row;
      return { ...row, envelope: unopened(texts.next().value ?? DAMAGED_IN_ARCHIVE) };
    });
  }

  /** Does the same for rows that may be missing. */
  async bringAll(rows: readonly (StoredRow | null)[]): Promise<(SnapshotRow | null)[]> {
    const brought = (await this.bring(rows.filter((row) => row !== null))).values();
    return rows.map((row) => (row === null ? null : (brought.next().value ?? null)));
  }

  /** Does the same for one row, or none. */
  async bringOne(row: StoredRow | null): Promise<SnapshotRow | null> {
    const [brought = null] = await this.bringAll([row]);
    return brought;
  }
}

function isHere(row: StoredRow): row is SnapshotRow {
  return placeOf(row) === null;
}

function placeOf({ envelope }: StoredRow): PackedText | null {
  return readPlace(envelope);
}

/** Returns the place that a value of a statement names, or null if it is the text itself. */
export function readPlace(stored: unknown): PackedText | null {
  if (typeof stored !== 'string' || !stored.startsWith('@')) return null;
  const [, object, offset, length, secret] = PLACE.exec(stored) ?? [];
  if (object === undefined || secret === undefined) return null;
  return { object, offset: Number(offset), length: Number(length), secret: Buffer.from(secret, 'hex') };
}

function unopened(text: string): UnopenedText {
  // The type has no values of its own. A text becomes one here or in a statement.
  return text as unknown as UnopenedText;
}
