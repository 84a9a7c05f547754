import type { Sql, TransactionSql } from '../../sql/sql';
import { type NoParameters, type Statement, statement } from '../../sql/statement';

/** A tenant that this worker leases, and how far its versions were examined. Times have microseconds. */
export interface ArchiveClaim {
  tenantId: string;
  agedTo: string;
  supersededTo: string;
  /** True if the last text was archived more than a day ago. */
  isOverdue: boolean;
}

/** A version whose text can move. */
export interface ArchiveCandidate {
  subjectKey: string;
  snapshotVersion: number;
  /** The size of its text. */
  bytes: number;
}

/** Some examined versions of a tenant. */
export interface Examined {
  candidates: ArchiveCandidate[];
  /** The place to store for the next round. */
  reached: string;
  /** The place to continue in this round. */
  examinedTo: string;
  isMore: boolean;
}

/** A text to archive. */
export interface TextToArchive {
  subjectKey: string;
  snapshotVersion: number;
  snapshotId: string;
  text: string;
  envelopeHash: string;
  prevHash: string | null;
  /** The secret of its view, 32 bytes. Null if it has none, or was erased. */
  secret: Buffer | null;
}

/** A text in a pack that was read back. */
export interface PackedVersion {
  subjectKey: string;
  snapshotVersion: number;
  offset: number;
  length: number;
  /** The SHA-256 of the text that was read back. */
  hash: Buffer;
}

/** The end of leases, and the places that were reached. */
interface Ending {
  lease: string;
  claims: readonly ArchiveClaim[];
  pauseMs: number;
}

interface ExaminedRow extends Omit<Examined, 'candidates'> {
  candidate: ArchiveCandidate | null;
}
type ExamineStatement = Statement<{ tenantId: string; from: string; days: number; rows: number }, ExaminedRow>;

const ENLIST = statement('archive_enlist');
const IS_READY = statement<NoParameters, { isReady: boolean }>('archive_is_ready');
const CLAIM = statement<{ lease: string; leaseMs: number }, ArchiveClaim>('archive_claim');
const EXAMINE: Record<'aged' | 'superseded', ExamineStatement> = {
  aged: statement('archive_aged'),
  superseded: statement('archive_superseded'),
};
const TEXTS = statement<
  { versions: readonly Pick<ArchiveCandidate, 'subjectKey' | 'snapshotVersion'>[] },
  TextToArchive
>('archive_texts_read');
const ADD_PACK = statement<{ object: string; bytes: number }>('archive_pack_add');
const MOVE = statement<{ object: string; texts: readonly PackedVersion[] }, { moved: number }>('archive_texts_move');
const ADVANCE = statement<Ending>('archive_advance');
const DROP = statement<{ orphanDays: number; emptyDays: number; limit: number }>('archive_packs_drop');
const DROPPED = statement<{ limit: number }, { object: string }>('archive_packs_dropped');
const FORGET = statement<{ object: string }>('archive_pack_forget');

/** Versions per examination. */
const ROWS = 5_000;
/** Versions per statement that moves texts. */
const MOVED_AT_ONCE = 1_000;
/** Tenants per statement that ends leases. */
const ENDED_AT_ONCE = 500;
/** A crash leaves a pack that no version names. No text can move to it after this time. */
const ORPHAN_DAYS = 1;
/** A database that is restored to an earlier time may need a pack whose last text was erased or restored since. */
const EMPTY_DAYS = 30;

/** Moves texts of old versions to packs, and keeps account of the packs. */
export class ArchiveStore {
  constructor(private readonly sql: Sql) {}

  /** Adds new tenants to those that are examined. Returns false while a migration needs the texts of old versions. */
  async prepare(): Promise<boolean> {
    await this.sql.run(ENLIST, {});
    return (await this.sql.one(IS_READY, {})).isReady;
  }

  /** Leases a tenant that is due; null if none is. */
  async claim(lease: string, leaseMs: number): Promise<ArchiveClaim | null> {
    const [claim = null] = await this.sql.run(CLAIM, { lease, leaseMs });
    return claim;
  }

  /**
   * Finds versions of a tenant that are not the latest and at least `days` old, among about 5,000 after a time: those that have become
   * old enough (`aged`), or the predecessors of new versions (`superseded`).
   */
  async examine(tenantId: string, which: 'aged' | 'superseded', from: string, days: number): Promise<Examined> {
    const rows = await this.sql.run(EXAMINE[which], { tenantId, from, days, rows: ROWS });
    const [first] = rows;
    if (first === undefined) throw new Error('an examination answered no row');
    const candidates = rows.map(({ candidate }) => candidate).filter((candidate) => candidate !== null);
    return { ...first, candidates };
  }

  /** Returns the texts of those versions that still have one in the database. */
  texts(versions: readonly Pick<ArchiveCandidate, 'subjectKey' | 'snapshotVersion'>[]): Promise<TextToArchive[]> {
    return this.sql.run(TEXTS, { versions });
  }

  /** Records a pack before its object is written. */
  async addPack(object: string, bytes: number): Promise<void> {
    await this.sql.run(ADD_PACK, { object, bytes });
  }

  /**
   * Drops texts whose pack was read back, and ends the leases, in one transaction. Returns the number of archived versions: without
   * those that were erased or archived meanwhile.
   */
  async move(object: string, texts: readonly PackedVersion[], ending: Ending): Promise<number> {
    return this.sql.transaction(async (sql) => {
      let moved = 0;
      for (let start = 0; start < texts.length; start += MOVED_AT_ONCE) {
        moved += (await sql.one(MOVE, { object, texts: texts.slice(start, start + MOVED_AT_ONCE) })).moved;
      }
      await advance(sql, ending);
      return moved;
    });
  }

  /** Ends leases without archiving. The tenants are due again after the pause. */
  async advance(lease: string, claims: readonly ArchiveClaim[], pauseMs: number): Promise<void> {
    await advance(this.sql, { lease, claims, pauseMs });
  }

  /** Returns objects to delete, which no version can ever name again: at most `limit`. */
  async unused(limit: number): Promise<string[]> {
    await this.sql.run(DROP, { orphanDays: ORPHAN_DAYS, emptyDays: EMPTY_DAYS, limit });
    return (await this.sql.run(DROPPED, { limit })).map(({ object }) => object);
  }

  /** Forgets an object that was deleted. */
  async forget(object: string): Promise<void> {
    await this.sql.run(FORGET, { object });
  }
}

async function advance(sql: Pick<TransactionSql, 'run'>, { lease, claims, pauseMs }: Ending): Promise<void> {
  for (let start = 0; start < claims.length; start += ENDED_AT_ONCE) {
    await sql.run(ADVANCE, { lease, claims: claims.slice(start, start + ENDED_AT_ONCE), pauseMs });
  }
}
