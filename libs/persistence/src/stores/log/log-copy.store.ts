import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';

/** How far the files of the log were copied. */
export interface CopyProgress {
  /** The full files of all entries before this one are in the store. */
  copiedTo: number;
  /** Partial files in the store. */
  partialPaths: string[];
  /** The size of the checkpoint in the store; null before the first one. */
  size: number | null;
}

/** The checkpoint that was copied last. */
export interface CopiedCheckpoint {
  size: number | null;
  signedAt: Date | null;
}

const CLAIM = statement<{ lease: string; leaseMs: number; url: string }, CopyProgress>('log_copy_claim');
const ADVANCE = statement<{ lease: string; leaseMs: number; copiedTo: number }, { isLeased: true }>('log_copy_advance');
const NOTE_PARTIALS = statement<
  { lease: string; leaseMs: number; partialPaths: readonly string[] },
  { isLeased: true }
>('log_copy_note_partials');
const SHOW = statement<{ lease: string; size: number; signedAt: Date }>('log_copy_show');
const RELEASE = statement<{ lease: string }>('log_copy_release');
const COPIED = statement<NoParameters, CopiedCheckpoint>('log_copy');

/** A worker whose lease ends may not put a checkpoint any more. */
const LEASE_MS = 120_000;

/** Keeps account of the copy of the log in object storage, which one worker at a time extends. */
export class LogCopyStore {
  constructor(private readonly sql: Pick<Sql, 'run' | 'one'>) {}

  /** Leases the copy at a URL, or extends the lease. Returns null while another worker has it. */
  async claim(lease: string, url: string): Promise<CopyProgress | null> {
    const [progress = null] = await this.sql.run(CLAIM, { lease, leaseMs: LEASE_MS, url });
    return progress;
  }

  /** Records that the full files of all entries before `copiedTo` are in the store. Returns false if the lease has ended. */
  async advance(lease: string, copiedTo: number): Promise<boolean> {
    return (await this.sql.run(ADVANCE, { lease, leaseMs: LEASE_MS, copiedTo })).length > 0;
  }

  /** Records the partial files in the store. Returns false if the lease has ended. */
  async notePartials(lease: string, partialPaths: readonly string[]): Promise<boolean> {
    return (await this.sql.run(NOTE_PARTIALS, { lease, leaseMs: LEASE_MS, partialPaths })).length > 0;
  }

  /** Records the checkpoint in the store. */
  async show(lease: string, size: number, signedAt: Date): Promise<void> {
    await this.sql.run(SHOW, { lease, size, signedAt });
  }

  /** Ends the lease, so that another worker may copy at once. */
  async release(lease: string): Promise<void> {
    await this.sql.run(RELEASE, { lease });
  }

  /** Returns the checkpoint that was copied last. */
  copied(): Promise<CopiedCheckpoint> {
    return this.sql.one(COPIED, {});
  }
}
