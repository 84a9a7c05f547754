import { authorOf, isEvidenceMissing, parseStoredJson, traceTexts } from '@iss/domain';
import { asOwner } from '../../owner';
import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { damageOf } from '../snapshots/open-snapshot';

export interface FilledProvenance {
  /** The number of versions whose provenance was added. */
  versions: number;
  /** The number of subjects whose latest version has evidence to mend. */
  flagged: number;
  /** Ids of snapshots whose stored text differs from the written one. They are skipped. */
  damaged: string[];
}

interface Unfilled {
  subjectKey: string;
  snapshotVersion: number;
  isLatest: boolean;
  isFilled: boolean;
}

interface StoredText {
  snapshotId: string;
  envelope: string;
  envelopeHash: string | null;
}

interface Texts {
  own: StoredText;
  base: StoredText | null;
  /** Null for a first version. An erased base is the empty object. */
  baseEnvelope: string | null;
  baseOrigins: Buffer | null;
}

const BATCH = 500;

const NEXT = statement<{ afterKey: string; afterVersion: number; lastKey: string; rows: number }, Unfilled>(
  'fill_provenance_next',
);

const LAST = statement<NoParameters, { lastKey: string }>('fill_provenance_last');

const TEXTS = statement<{ subjectKey: string; snapshotVersion: number }, Texts>('fill_provenance_texts');

const FILL = statement<
  {
    subjectKey: string;
    snapshotVersion: number;
    changedBy: string;
    origins: Buffer | null;
    changedPaths: string | null;
  },
  { snapshotVersion: number }
>('fill_provenance_version');

const FLAG = statement<
  { subjectKey: string; snapshotVersion: number; hasMissing: boolean; hasCarried: boolean },
  { subjectKey: string }
>('fill_provenance_flags');

/** The last version that was examined. */
interface Place {
  subjectKey: string;
  snapshotVersion: number;
}

const PLACE = statement<NoParameters, Place>('fill_provenance_place');

const MOVE = statement<Place, { subjectKey: string }>('fill_provenance_move');

const END = statement<NoParameters, Place>('fill_provenance_end');

const NOTHING_FILLED: FilledProvenance = { versions: 0, flagged: 0, damaged: [] };
const BEGINNING: Place = { subjectKey: '0', snapshotVersion: 0 };

/**
 * Adds the provenance of versions that were written by releases without it. Each version has a statement of its own, so an
 * interrupted run can continue, and repeating it changes nothing. Needs the owner of the tables; others may write meanwhile.
 * Throws `unavailable` if the database cannot be reached.
 */
export async function fillProvenance(databaseUrl: string): Promise<FilledProvenance> {
  return asOwner(databaseUrl, (sql) => fillFrom(sql, BEGINNING));
}

/** Does the same once per database, and continues an interrupted run. Only one call may run at a time. */
export async function backfillProvenance(databaseUrl: string): Promise<FilledProvenance> {
  return asOwner(databaseUrl, async (sql) => {
    const [place] = await sql.run(PLACE, {});
    if (place === undefined) return NOTHING_FILLED;
    const filled = await fillFrom(sql, place, (reached) => sql.run(MOVE, reached));
    await sql.run(END, {});
    return filled;
  });
}

async function fillFrom(
  sql: TransactionSql,
  after: Place,
  keep: (reached: Place) => Promise<unknown> = () => Promise.resolve(),
): Promise<FilledProvenance> {
  const filled: FilledProvenance = { ...NOTHING_FILLED, damaged: [] };
  const { lastKey } = await sql.one(LAST, {});
  let reached = after;
  let rows: Unfilled[];
  do {
    rows = await sql.run(NEXT, {
      afterKey: reached.subjectKey,
      afterVersion: reached.snapshotVersion,
      lastKey,
      rows: BATCH,
    });
    for (const row of rows) {
      if (!row.isFilled) await fill(sql, row, filled);
      reached = { subjectKey: row.subjectKey, snapshotVersion: row.snapshotVersion };
    }
    await keep(reached);
  } while (rows.length === BATCH);
  return filled;
}

async function fill(sql: TransactionSql, row: Unfilled, filled: FilledProvenance): Promise<void> {
  const { subjectKey, snapshotVersion, isLatest } = row;
  const [texts] = await sql.run(TEXTS, { subjectKey, snapshotVersion });
  if (texts === undefined) return;
  const { own, base, baseEnvelope, baseOrigins } = texts;
  const damaged = [own, base].filter((text) => text !== null && damageOf(text.envelope, text.envelopeHash) !== null);
  if (damaged.length > 0) {
    filled.damaged.push(...damaged.flatMap((text) => text?.snapshotId ?? []));
    return;
  }
  const traced = traceOf(own.envelope, baseEnvelope, baseOrigins, snapshotVersion);
  const { hasMissing, hasCarried, ...columns } = traced;
  // A subject with one version has flags only.
  if (snapshotVersion > 1 || !isLatest) {
    filled.versions += (await sql.run(FILL, { subjectKey, snapshotVersion, ...columns })).length;
  }
  if (isLatest && (hasMissing || hasCarried)) {
    filled.flagged += (await sql.run(FLAG, { subjectKey, snapshotVersion, hasMissing, hasCarried })).length;
  }
}

function traceOf(text: string, base: string | null, baseOrigins: Buffer | null, version: number) {
  if (base === null) {
    const envelope = parseStoredJson(text);
    const hasMissing = isEvidenceMissing(envelope);
    return { changedBy: authorOf(envelope), origins: null, changedPaths: null, hasMissing, hasCarried: false };
  }
  const { origins, changedPaths, changedBy, hasMissing, hasCarried } = traceTexts({ base, baseOrigins, text, version });
  return {
    changedBy,
    origins: Buffer.from(origins),
    changedPaths: JSON.stringify(changedPaths),
    hasMissing,
    hasCarried,
  };
}
