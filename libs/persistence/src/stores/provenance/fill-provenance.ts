import { authorOf, isEvidenceMissing, parseStoredJson, traceTexts } from '@iss/domain';
import { asOwner } from '../../owner';
import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { damageOf } from '../snapshots/opened-text';

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

/** Selects the next versions in the order of their chains. Erased ones count as filled. */
const NEXT = statement<{ afterKey: string; afterVersion: number; lastKey: string }, Unfilled>(
  'fill_provenance_next',
  `SELECT n.subject_key AS "subjectKey", n.snapshot_version AS "snapshotVersion",
       (SELECT true FROM snapshots l WHERE l.subject_key = n.subject_key
           AND l.snapshot_version = n.snapshot_version + 1 LIMIT 1) IS NULL AS "isLatest",
       (SELECT true FROM snapshot_provenance p WHERE p.subject_key = n.subject_key
           AND p.snapshot_version = n.snapshot_version LIMIT 1) IS NOT NULL OR n.erasure_id IS NOT NULL AS "isFilled"
  FROM snapshots n
 WHERE (n.subject_key, n.snapshot_version) > (:afterKey::bigint, :afterVersion::integer) AND n.subject_key <= :lastKey::bigint
 ORDER BY n.subject_key, n.snapshot_version LIMIT ${BATCH}`,
);

/**
 * Selects the last subject: the bound of the loop, because writes of an earlier release could otherwise prolong it for ever. All
 * other writes bring their own provenance.
 */
const LAST = statement<NoParameters, { lastKey: string }>(
  'fill_provenance_last',
  `SELECT coalesce((SELECT n.subject_key FROM snapshots n WHERE n.subject_key > 0
                  ORDER BY n.subject_key DESC, n.snapshot_version DESC LIMIT 1), 0) AS "lastKey"`,
);

const TEXTS = statement<{ subjectKey: string; snapshotVersion: number }, Texts>(
  'fill_provenance_texts',
  `SELECT n.snapshot_id AS "own.snapshotId", n.envelope AS "own.envelope", encode(n.envelope_hash, 'hex') AS "own.envelopeHash",
       CASE WHEN b.envelope IS NOT NULL THEN b.snapshot_id END AS "base?.snapshotId", b.envelope AS "base?.envelope",
       encode(b.envelope_hash, 'hex') AS "base?.envelopeHash",
       CASE WHEN b.subject_key IS NOT NULL THEN coalesce(b.envelope, '{}') END AS "baseEnvelope", p.origins AS "baseOrigins"
  FROM (SELECT :subjectKey::bigint AS subject_key, :snapshotVersion::integer AS snapshot_version) i
 CROSS JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = i.subject_key AND n.snapshot_version = i.snapshot_version LIMIT 1) n
  LEFT JOIN LATERAL (SELECT * FROM snapshots b
                      WHERE b.subject_key = i.subject_key AND b.snapshot_version = i.snapshot_version - 1 LIMIT 1) b ON true
  LEFT JOIN LATERAL (SELECT * FROM snapshot_provenance p
                      WHERE p.subject_key = i.subject_key AND p.snapshot_version = i.snapshot_version - 1 LIMIT 1) p ON true`,
);

const FILL = statement<
  { subjectKey: string; snapshotVersion: number; changedBy: string; origins: Buffer | null },
  { snapshotVersion: number }
>(
  'fill_provenance_version',
  `INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins)
VALUES (:subjectKey::bigint, :snapshotVersion::integer, :changedBy::text, :origins::bytea)
ON CONFLICT DO NOTHING
RETURNING snapshot_version AS "snapshotVersion"`,
);

/** Flags the subject if this is still its latest version. A later version has set its own flags. */
const FLAG = statement<
  { subjectKey: string; snapshotVersion: number; hasMissing: boolean; hasCarried: boolean },
  { subjectKey: string }
>(
  'fill_provenance_flags',
  `INSERT INTO subject_evidence (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
SELECT s.subject_key, s.owner_tenant_id, s.subject_type, s.subject_id, :hasMissing::boolean, :hasCarried::boolean
  FROM subjects s
 WHERE s.subject_key = :subjectKey::bigint
   AND (SELECT true FROM snapshots l WHERE l.subject_key = s.subject_key
           AND l.snapshot_version = :snapshotVersion::integer + 1 LIMIT 1) IS NULL
ON CONFLICT DO NOTHING
RETURNING subject_key AS "subjectKey"`,
);

/** The last version that was examined. */
interface Place {
  subjectKey: string;
  snapshotVersion: number;
}

const PLACE = statement<NoParameters, Place>(
  'fill_provenance_place',
  `SELECT subject_key AS "subjectKey", snapshot_version AS "snapshotVersion" FROM provenance_backfill WHERE is_one`,
);

const MOVE = statement<Place, { subjectKey: string }>(
  'fill_provenance_move',
  `UPDATE provenance_backfill SET subject_key = :subjectKey::bigint, snapshot_version = :snapshotVersion::integer
 WHERE is_one RETURNING subject_key AS "subjectKey"`,
);

const END = statement<NoParameters, Place>('fill_provenance_end', 'DELETE FROM provenance_backfill WHERE is_one');

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
    rows = await sql.run(NEXT, { afterKey: reached.subjectKey, afterVersion: reached.snapshotVersion, lastKey });
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
  const { own, base, baseEnvelope, baseOrigins } = await sql.one(TEXTS, { subjectKey, snapshotVersion });
  const damaged = [own, base].filter((text) => text !== null && damageOf(text.envelope, text.envelopeHash) !== null);
  if (damaged.length > 0) {
    filled.damaged.push(...damaged.flatMap((text) => text?.snapshotId ?? []));
    return;
  }
  const traced = traceOf(own.envelope, baseEnvelope, baseOrigins, snapshotVersion);
  const { changedBy, origins, hasMissing, hasCarried } = traced;
  // A subject with one version has flags only.
  if (snapshotVersion > 1 || !isLatest) {
    filled.versions += (await sql.run(FILL, { subjectKey, snapshotVersion, changedBy, origins })).length;
  }
  if (isLatest && (hasMissing || hasCarried)) {
    filled.flagged += (await sql.run(FLAG, { subjectKey, snapshotVersion, hasMissing, hasCarried })).length;
  }
}

function traceOf(text: string, base: string | null, baseOrigins: Buffer | null, version: number) {
  if (base === null) {
    const envelope = parseStoredJson(text);
    const hasMissing = isEvidenceMissing(envelope);
    return { changedBy: authorOf(envelope), origins: null, hasMissing, hasCarried: false };
  }
  const { origins, ...traced } = traceTexts({ base, baseOrigins, text, version });
  return { ...traced, origins: Buffer.from(origins) };
}
