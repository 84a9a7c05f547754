import { createHash } from 'node:crypto';
import type { PackedText, TextArchive } from '@iss/archive';
import { partsOf } from '@iss/platform';
import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { readPlace } from '../snapshots/stored-texts';

/** The packs in one state: `written` but not read back, `verified`, or `dropped` and about to be deleted. */
export interface PacksByState {
  state: 'written' | 'verified' | 'dropped';
  packs: number;
  bytes: number;
  texts: number;
  /** The packs that no version names. */
  unused: number;
  oldestUnused: Date | null;
}

/** An object of the archive, and the number of versions whose text is only there. */
export interface StoredPack {
  packId: number;
  object: string;
  bytes: number;
  texts: number;
}

/** A version whose text is in the archive. */
export interface ArchivedVersion {
  subjectKey: string;
  snapshotVersion: number;
  snapshotId: string;
  subjectType: string;
  subjectId: string;
}

/** The text of an archived version. Null if no store has it as it was written. */
export interface ArchivedText {
  version: ArchivedVersion;
  text: string | null;
}

interface PageRow extends ArchivedVersion {
  envelopeHash: string;
  bytes: number | null;
  place: string | null;
}

const STATUS = statement<NoParameters, PacksByState>('archive_status');
const PACKS = statement<{ afterId: number; rows: number }, StoredPack>('archive_packs_page');
const PAGE = statement<{ afterKey: string; afterVersion: number; rows: number }, PageRow>('archive_page');
const RESTORE = statement<
  { texts: readonly { subjectKey: string; snapshotVersion: number; text: string }[] },
  { restored: number }
>('archive_restore');

/** Versions per statement. */
const ROWS = 2_000;
/** Bytes of text in memory at once, unless one text is larger. */
const TEXT_BYTES = 8 << 20;
/** The time to read them. An operator can wait longer than a reader. */
const READ_MS = 120_000;

/** Returns the numbers of packs. */
export function archiveStatus(sql: TransactionSql): Promise<PacksByState[]> {
  return sql.run(STATUS, {});
}

/** Lists all packs that were read back. */
export async function* storedPacks(sql: TransactionSql): AsyncGenerator<StoredPack> {
  let packs: StoredPack[];
  for (let afterId = 0; ; afterId = packs.at(-1)?.packId ?? afterId) {
    packs = await sql.run(PACKS, { afterId, rows: ROWS });
    if (packs.length === 0) return;
    yield* packs;
  }
}

/** Reads the texts of all archived versions, in the order of subjects and versions. Throws `archive_unavailable`. */
export async function* archivedTexts(sql: TransactionSql, archive: TextArchive): AsyncGenerator<ArchivedText[]> {
  let last: Pick<PageRow, 'subjectKey' | 'snapshotVersion'> | undefined = { subjectKey: '0', snapshotVersion: 0 };
  while (last !== undefined) {
    const rows: PageRow[] = await sql.run(PAGE, {
      afterKey: last.subjectKey,
      afterVersion: last.snapshotVersion,
      rows: ROWS,
    });
    for (const part of partsOf(archivedOf(rows), ({ bytes }) => bytes, TEXT_BYTES)) yield await textsOf(part, archive);
    last = rows.at(-1);
  }
}

/** Returns texts to the database. Returns how many: without those of versions that were erased meanwhile. */
export async function restoreTexts(sql: TransactionSql, texts: readonly ArchivedText[]): Promise<number> {
  const rows = texts.flatMap(({ version, text }) => (text === null ? [] : [{ ...version, text }]));
  return rows.length === 0 ? 0 : (await sql.one(RESTORE, { texts: rows })).restored;
}

async function textsOf(part: readonly ArchivedPlace[], archive: TextArchive): Promise<ArchivedText[]> {
  const texts = await archive.read(
    part.map(({ place }) => place),
    READ_MS,
  );
  return part.map(({ version, envelopeHash }, index) => {
    const text = texts[index] ?? null;
    const isIntact = text !== null && createHash('sha256').update(text).digest('hex') === envelopeHash;
    return { version, text: isIntact ? text : null };
  });
}

interface ArchivedPlace {
  version: ArchivedVersion;
  envelopeHash: string;
  bytes: number;
  place: PackedText;
}

/** Returns the versions of a page whose texts are in the archive. */
function archivedOf(rows: readonly PageRow[]): ArchivedPlace[] {
  return rows.flatMap(({ envelopeHash, bytes, place: stored, ...version }) => {
    const place = readPlace(stored);
    return place === null ? [] : [{ version, envelopeHash, bytes: bytes ?? 0, place }];
  });
}
