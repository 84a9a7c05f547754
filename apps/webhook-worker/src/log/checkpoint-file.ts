import { open, readFile, rename } from 'node:fs/promises';

/**
 * The newest checkpoint that this process signed, outside of the database: a database that was restored or failed over to
 * an older state must be noticed before anything that contradicts it is signed.
 */
export class CheckpointFile {
  constructor(private readonly path: string) {}

  /** The note; null before the first one. */
  async read(): Promise<string | null> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (error) {
      // Not by class: a failure of Node's own comes from another realm in some hosts.
      if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Replaces the note. Resolves when it is on the disk. */
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
