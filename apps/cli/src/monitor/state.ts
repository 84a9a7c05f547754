import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../command';
import { systemCode, writeSynced } from '../files';

/** The newest checkpoint that was seen of a log, in a file: what the log shows later has to go on from it. */
export class MonitorState {
  constructor(private readonly path: string) {}

  /** The note; null before the first one. @throws UsageError when the file cannot be read */
  async read(): Promise<string | null> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw new UsageError(
        `${this.path} cannot be read (${systemCode(error) ?? String(error)}): --state names a file.`,
      );
    }
  }

  /** Resolves when the note is on the disk in place of the one before: a crash leaves one of them, whole. */
  async write(note: string): Promise<void> {
    await writeSynced(`${this.path}.new`, note, 'w');
    await rename(`${this.path}.new`, this.path);
    await syncFolder(dirname(this.path));
  }

  /**
   * Keeps two notes that do not go together, byte for byte, in files beside the state; whoever has both can prove what the
   * log did. Gives their names.
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

/** A file's name is on the disk when its folder is. Some systems open no folders. */
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
