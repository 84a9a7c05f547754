import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ObjectMissing, type ObjectStore } from './object-store';

/** Objects as files in a folder, which may be a volume that several machines share. */
export class FileStore implements ObjectStore {
  constructor(private readonly folder: string) {}

  async put(name: string, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const path = this.pathOf(name);
    await mkdir(dirname(path), { recursive: true });
    const unfinished = `${path}.${randomUUID()}.tmp`;
    try {
      const file = await open(unfinished, 'wx');
      try {
        await file.writeFile(bytes, { signal });
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  }

  async read(name: string, offset: number, length: number, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    const file = await open(this.pathOf(name), 'r').catch(async (error: unknown) => {
      // If the folder is missing, for example because a volume is not mounted, the object may still exist.
      await this.ping();
      throw isMissing(error) ? new ObjectMissing(name) : error;
    });
    try {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  async ping(): Promise<void> {
    await access(this.folder, constants.R_OK);
  }

  close(): void {
    // Nothing stays open between two calls.
  }

  private pathOf(name: string): string {
    return join(this.folder, name);
  }
}

/** Syncs the folder, so that the name of a new file survives a crash. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
