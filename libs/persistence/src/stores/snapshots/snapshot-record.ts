import type { ChangeKind, SubjectRef } from '@iss/domain';

/**
 * A stored snapshot. `envelope` is the canonical text that was hashed. It is null if only the header was requested, and after an
 * erasure, which `erasure` identifies. Stores return a {@link SnapshotRow}, and `openSnapshot` converts it to this.
 */
export interface SnapshotRecord extends SubjectRef {
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
  changeKind: ChangeKind;
  createdAt: Date;
  envelopeHash: string | null;
  prevHash: string | null;
  /** The authenticated principal that wrote it, and the request. Both are null if an earlier release wrote it. */
  writtenBy: string | null;
  writeRequestId: string | null;
  envelope: string | null;
  erasure: { erasureId: string; erasedAt: Date } | null;
}

declare const unopened: unique symbol;

declare const stored: unique symbol;

/** A text from a row, or its place in the archive. `StoredTexts` (stored-texts.ts) brings the text. */
export interface StoredText {
  readonly [stored]: never;
}

/** A text from a row. `openSnapshot` (open-snapshot.ts) compares it with its hash before anybody may use it. */
export interface UnopenedText extends StoredText {
  readonly [unopened]: never;
}

/** A snapshot as statements return it, whose text may be in the archive. */
export interface StoredRow extends Omit<SnapshotRecord, 'envelope'> {
  envelope: StoredText | null;
}

/** A snapshot as stores return it. */
export interface SnapshotRow extends StoredRow {
  envelope: UnopenedText | null;
}
