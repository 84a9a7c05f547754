import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../command';
import { systemCode, writeSynced } from '../files';

/** A file with the newest checkpoint of a log. Later checkpoints must be consistent with it. */
export class MonitorState {
  constructor(private readonly path: string) {}

  /** Returns the checkpoint note; null if there is none yet. @throws UsageError if the file cannot be read */
  async read(): Promise<string | null> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw new UsageError(
        `${this.path} cannot be read (${systemCode(error) ?? String(error)}). Name a readable file with --state.`,
      );
    }
  }

  /** Replaces the note atomically and syncs it to disk. */
  async write(note: string): Promise<void> {
    await writeSynced(`${this.path}.new`, note, 'w');
    await rename(`${this.path}.new`, this.path);
    await syncFolder(dirname(this.path));
  }

  /**
   * Saves two contradictory notes byte for byte in files beside the state, as evidence for others.
   *
   * @returns the file names
   */
  async keepEvidence(known: string, shown: string): Promise<string[]> {
    const files: string[] = [];
    for (const [role, note] of [
      ['known', known],
      ['shown', shown],
    ] as const) {
      const file = `${this.path}.${role}-${createHash('sha256').update(note).digest('hex').slice(0, 16)}`;
      await writeSynced(file, note, 'w');
      files.push(file);
    }
    await syncFolder(dirname(this.path));
    return files;
  }
}

/** Syncs a folder, so that its file names are on disk. Some systems cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => null);
  try {
    await folder?.sync();
  } catch (error) {
    if (systemCode(error) !== 'EINVAL' && systemCode(error) !== 'EPERM') throw error;
  } finally {
    await folder?.close();
  }
}
