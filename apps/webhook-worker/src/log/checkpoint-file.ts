import { open, readFile, rename } from 'node:fs/promises';

/**
 * Stores the newest checkpoint that this process signed, outside the database. With it, the worker notices that a
 * database was restored or failed over to an older state, before it signs a contradicting checkpoint.
 */
export class CheckpointFile {
  constructor(private readonly path: string) {}

  /** Returns the note, or null before the first one. */
  async read(): Promise<string | null> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (error) {
      // Checks the member and not the class, because Node's own errors come from another realm in some hosts.
      if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Replaces the note. Resolves when it is on disk. */
  async write(note: string): Promise<void> {
    const draft = `${this.path}.new`;
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(note);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.path);
  }
}
