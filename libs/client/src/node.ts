import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TrustStore } from './verify/trust-store.ts';

export type { TrustStore } from './verify/trust-store.ts';

/** Locks are held for milliseconds. An older lock belongs to a crashed process. */
const STALE_LOCK_MS = 10_000;
const LOCK_PAUSE_MS = 10;

/** Stores checkpoints in a file that processes can share. Do not restore the file from a backup: an older checkpoint detects less. */
export class FileTrustStore implements TrustStore {
  constructor(private readonly file: string) {}

  async read(origin: string): Promise<string | undefined> {
    return (await this.notes())[origin];
  }

  async replace(origin: string, before: string | undefined, note: string): Promise<boolean> {
    return this.locked(async () => {
      const notes = await this.notes();
      if (notes[origin] !== before) return false;
      const next = `${this.file}.${randomUUID()}`;
      await writeFile(next, `${JSON.stringify({ ...notes, [origin]: note }, null, 2)}\n`, { mode: 0o600, flush: true });
      await rename(next, this.file);
      return true;
    });
  }

  /** @throws SyntaxError for an invalid file, which must not count as empty */
  private async notes(): Promise<Record<string, string>> {
    try {
      const notes: Record<string, string> = JSON.parse(await readFile(this.file, 'utf8'));
      return notes;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return {};
      throw error;
    }
  }

  private async locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = `${this.file}.lock`;
    await mkdir(dirname(this.file), { recursive: true });
    for (;;) {
      try {
        await (await open(lock, 'wx')).close();
        break;
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
      if (Date.now() - mtimeMs > STALE_LOCK_MS) await rm(lock, { force: true });
      else await pause(LOCK_PAUSE_MS);
    }
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
