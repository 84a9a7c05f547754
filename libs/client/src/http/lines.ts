import { ConnectionError, ProtocolError } from '../errors.ts';
import { MAX_LINE_LENGTH } from '../limits.ts';

/**
 * The lines of a body as they come, without their ends; the last one only where it is ended. Whoever stops reading closes the
 * connection. `idleMs`: it counts as broken where nothing comes for so long.
 *
 * @throws ConnectionError where it breaks off
 */
export async function* linesOf(
  response: Response,
  { idleMs, signal }: { idleMs?: number | undefined; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, idleMs, signal);
      rest += value === undefined ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_LENGTH) throw new ProtocolError(`A line has more than ${MAX_LINE_LENGTH} characters.`);
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
      if (done) break;
    }
    if (rest !== '') throw new ConnectionError('The answer broke off in the middle of a line.');
  } finally {
    // Frees the connection; of one that is broken already there is nothing to say.
    await reader.cancel().catch(() => undefined);
  }
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idleMs: number | undefined,
  signal: AbortSignal | undefined,
): Promise<{ done: boolean; value: Uint8Array | undefined }> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const idle = new Promise<never>((_, reject) => {
    if (idleMs === undefined) return;
    timer = setTimeout(() => reject(new ConnectionError(`Nothing came for ${idleMs} ms.`)), idleMs);
  });
  try {
    const { done, value } = await Promise.race([reader.read(), idle]);
    return { done, value };
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ConnectionError) throw cause;
    throw new ConnectionError('The answer broke off.', { cause });
  } finally {
    clearTimeout(timer);
  }
}
