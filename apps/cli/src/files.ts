import { createReadStream, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { UsageError } from './command';

const NEWLINE = 0x0a;

/**
 * The bytes of a file of at most `limit` bytes.
 *
 * @throws UsageError, which names the file and says what it should be
 */
export function readWhole(path: string, what: string, limit: number): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw unreadable(path, what, error);
  }
  if (bytes.length > limit) throw new UsageError(`${path} is no ${what}: it has more than ${limit} bytes.`);
  return bytes;
}

/**
 * The lines of a file, without their newlines, one after the other and never all of them in memory. Throws as
 * {@link readWhole}, with `limit` for each line.
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
      if (length > limit) throw new UsageError(`${path} is no ${what}: a line has more than ${limit} bytes.`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw unreadable(path, what, error);
  } finally {
    stream.destroy();
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}

/** Resolves when the text is on the disk. @throws UsageError when it cannot be written */
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

/** The code of a failure of Node's own, as ENOENT; undefined for any other. Not by class: some hosts have several. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function unreadable(path: string, what: string, error: unknown): UsageError {
  return new UsageError(
    `${path} cannot be read (${systemCode(error) ?? String(error)}): name the file of the ${what}.`,
  );
}
