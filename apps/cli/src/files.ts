import { createReadStream, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { UsageError } from './command';

const NEWLINE = 0x0a;

/**
 * Reads a file of at most `limit` bytes.
 *
 * @throws UsageError that names the file and its expected content, `what`
 */
export function readWhole(path: string, what: string, limit: number): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw unreadable(path, what, error);
  }
  if (bytes.length > limit) throw new UsageError(`${path} has more than ${limit} bytes. Name the file of the ${what}.`);
  return bytes;
}

/**
 * Yields the lines of a file without their newlines and without holding the whole file in memory. Throws as {@link readWhole}, with
 * `limit` for each line.
 */
export async function* readLines(path: string, what: string, limit: number): AsyncGenerator<Buffer, void> {
  const stream = createReadStream(path, { highWaterMark: 1 << 18 });
  let begun: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) continue;
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        const rest = chunk.subarray(from, end);
        yield begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
        begun = [];
        length = 0;
        from = end + 1;
      }
      if (from < chunk.length) {
        begun.push(chunk.subarray(from));
        length += chunk.length - from;
      }
      if (length > limit)
        throw new UsageError(`${path} has a line of more than ${limit} bytes. Name the file of the ${what}.`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw unreadable(path, what, error);
  } finally {
    stream.destroy();
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}

/** Writes a file and syncs it to disk. @throws UsageError if it cannot be written */
export async function writeSynced(path: string, text: string, flags: 'w' | 'wx'): Promise<void> {
  try {
    const file = await open(path, flags, 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be written (${systemCode(error) ?? String(error)}).`);
  }
}

/** Returns the code of a system error, such as ENOENT; undefined for other errors. Checks no class, because some hosts have several. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function unreadable(path: string, what: string, error: unknown): UsageError {
  return new UsageError(
    `${path} cannot be read (${systemCode(error) ?? String(error)}). Name the file of the ${what}.`,
  );
}
