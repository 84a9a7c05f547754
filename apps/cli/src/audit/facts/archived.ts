import { ArchiveUnavailable, type PackedText, type TextArchive } from '@iss/archive';
import { UsageError } from '../../command';
import { type AuditReader, isText, type Row } from '../database';
import { type Checked, nothingChecked, report } from '../findings';
import { canonicalValue } from './canonical';
import { checkHash, checkText } from './envelopes';
import { replayUpdate } from './patches';
import { checkView, VIEW_COLUMNS, VIEW_OF_VERSION } from './views';

/** Checks the archived texts of a range of subjects, and the updates that need one. */
export interface ArchivedTask {
  readonly kind: 'archived';
  /** A subject_key. `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Versions per statement. */
const ROWS = 1_000;
/** Bytes of text in memory at once, unless those of one version are more. */
const TEXT_BYTES = 8 << 20;
const READ_MS = 120_000;

/** Versions with an archived text, or with an archived base, in the order of the packs: texts that are neighbours are read at once. */
const versionsOf = ({ from, to }: ArchivedTask): string => `
DECLARE archived NO SCROLL CURSOR FOR
SELECT n.subject_key, n.snapshot_version, n.snapshot_id, n.generated_at, n.change_kind, encode(n.envelope_hash, 'hex'),
       encode(n.prev_hash, 'hex'), s.subject_type, s.subject_id, ${VIEW_COLUMNS},
       n.envelope, (SELECT object_id FROM archive_packs k WHERE k.pack_id = n.pack_id), n.pack_offset, n.pack_length, n.text_bytes,
       u.update_id, u.patch_ops,
       (SELECT c.changed_paths FROM snapshot_provenance c
         WHERE c.subject_key = n.subject_key AND c.snapshot_version = n.snapshot_version),
       p.envelope, (SELECT object_id FROM archive_packs k WHERE k.pack_id = p.pack_id), p.pack_offset, p.pack_length, p.text_bytes,
       encode(pv.view_secret, 'base64')
  FROM (SELECT n.*, coalesce(n.pack_id, p.pack_id) AS pack, coalesce(n.pack_offset, p.pack_offset) AS place
          FROM (SELECT subject_key, snapshot_version, pack_id, pack_offset FROM snapshots
                 WHERE subject_key >= ${from} AND subject_key < ${to}) n
          LEFT JOIN snapshots p ON p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version - 1
         WHERE n.pack_id IS NOT NULL OR p.pack_id IS NOT NULL
         ORDER BY pack, place OFFSET 0) o
  JOIN LATERAL (SELECT * FROM snapshots n
                 WHERE n.subject_key = o.subject_key AND n.snapshot_version = o.snapshot_version LIMIT 1) n ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = n.subject_key LIMIT 1) s ON true
  ${VIEW_OF_VERSION}
  LEFT JOIN LATERAL (SELECT * FROM updates u
                      WHERE u.applied_snapshot_id = n.snapshot_id AND u.patch_ops IS NOT NULL LIMIT 1) u ON true
  LEFT JOIN LATERAL (SELECT * FROM snapshots p
                      WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version - 1
                        AND u.base_snapshot_id = p.snapshot_id LIMIT 1) p ON true
  LEFT JOIN LATERAL (SELECT * FROM snapshot_views pv
                      WHERE pv.subject_key = p.subject_key AND pv.snapshot_version = p.snapshot_version LIMIT 1) pv ON true`;

/** A text in the database or at its place in the archive. Null if it is in neither. */
type Source = string | PackedText | null;

interface ArchivedVersion {
  readonly row: Row;
  readonly own: Source;
  readonly base: Source;
  readonly bytes: number;
}

/** Recomputes archived texts and their views, and replays the updates of archived versions or on archived ones. */
export async function checkArchived(
  reader: AuditReader,
  archive: TextArchive | null,
  task: ArchivedTask,
): Promise<Checked> {
  if (archive === null) throw new UsageError('No archive is configured. Set ARCHIVE_URL.');
  const checked = nothingChecked();
  await reader.rows(versionsOf(task));
  for (;;) {
    const rows = await reader.rows(`FETCH ${ROWS} FROM archived`);
    if (rows.length === 0) break;
    for (const part of partsOf(rows.map(versionOf))) {
      const texts = await textsOf(archive, part);
      for (const version of part) checkVersion(checked, version, texts);
    }
  }
  await reader.rows('CLOSE archived');
  return checked;
}

/** Divides versions into parts of at most {@link TEXT_BYTES}, unless one version has more. The auditor does not use the writer's function. */
function partsOf(versions: readonly ArchivedVersion[]): ArchivedVersion[][] {
  const parts: ArchivedVersion[][] = [];
  let left = 0;
  for (const version of versions) {
    left -= version.bytes;
    if (left < 0) {
      parts.push([]);
      left = TEXT_BYTES - version.bytes;
    }
    parts.at(-1)?.push(version);
  }
  return parts;
}

function versionOf(row: Row): ArchivedVersion {
  const [viewSecret, text, object, offset, length, bytes, updateId, , , ...base] = row.slice(10);
  const [baseText, baseObject, baseOffset, baseLength, baseBytes, baseSecret] = base;
  return {
    row,
    own: sourceOf(text, object, offset, length, viewSecret),
    base: isText(updateId) ? sourceOf(baseText, baseObject, baseOffset, baseLength, baseSecret) : null,
    bytes: Number(bytes) + (isText(updateId) ? Number(baseBytes) : 0),
  };
}

/** Without a secret, no text opens. */
function sourceOf(...[text, object, offset, length, secret]: readonly (Row[number] | undefined)[]): Source {
  if (isText(text)) return text;
  if (!isText(object)) return null;
  return { object, offset: Number(offset), length: Number(length), secret: Buffer.from(secret ?? '', 'base64') };
}

const nameOf = ({ object, offset }: PackedText): string => `${object}/${offset}`;

/** Reads each archived text once. The text of a version is often the base of the next one. */
async function textsOf(archive: TextArchive, part: readonly ArchivedVersion[]): Promise<Map<string, string | null>> {
  const places = new Map(
    part
      .flatMap(({ own, base }) => [own, base])
      .flatMap((source) => (source === null || typeof source === 'string' ? [] : [[nameOf(source), source]])),
  );
  try {
    const texts = await archive.read([...places.values()], READ_MS);
    return new Map([...places.keys()].map((name, index) => [name, texts[index] ?? null]));
  } catch (error) {
    if (!(error instanceof ArchiveUnavailable)) throw error;
    throw new UsageError('The archive does not answer. Check ARCHIVE_URL, its credentials and the store.');
  }
}

function checkVersion(
  checked: Checked,
  { row, own, base }: ArchivedVersion,
  texts: ReadonlyMap<string, string | null>,
): void {
  const [key, version, id, generatedAt, changeKind, envelopeHash, prevHash, subjectType, subjectId, viewHash] = row;
  const [viewSecret, , , , , , updateId, opsText, changedPaths] = row.slice(10);
  const where = `snapshot ${id}: version ${version} of ${subjectType} ${subjectId} (subject_key ${key})`;
  const envelope = textOf(own, texts);
  let value: unknown;
  if (own !== null && typeof own !== 'string') {
    checked.readTexts++;
    if (envelope === null) report(checked, 'archived', where, 'no store has the bytes that were written');
    else {
      const text = { subjectType, subjectId, snapshotId: id, version, generatedAt, changeKind, envelopeHash, envelope };
      checkHash(checked, where, text);
      value = checkText(checked, where, text);
      checkView(checked, where, { envelope: value, envelopeHash, prevHash, viewHash, viewSecret });
    }
  } else if (envelope !== null) value = canonicalValue(envelope);
  if (!isText(updateId) || !isText(opsText)) return;
  const baseText = textOf(base, texts);
  const update = { updateId, opsText, changedPaths: changedPaths ?? null };
  replayUpdate(checked, where, update, baseText === null ? undefined : canonicalValue(baseText), value);
}

function textOf(source: Source, texts: ReadonlyMap<string, string | null>): string | null {
  return source === null || typeof source === 'string' ? source : (texts.get(nameOf(source)) ?? null);
}
