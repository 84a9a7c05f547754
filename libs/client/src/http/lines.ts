import { ConnectionError, ProtocolError } from '../errors.ts';
import { reasonText, unlessAborted } from './abort.ts';
import { notOfThisApi } from './shape.ts';

export interface BodyOptions {
  /** The limit of a text or of a line. */
  maxBytes: number;
  /** The longest time without data. */
  idleMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Yields the complete lines of a body without line ends. Closes the connection if the reader stops.
 *
 * @throws ConnectionError if the body is incomplete; ProtocolError if it is not UTF-8 or a line is too long
 */
export async function* linesOf(response: Response, options: BodyOptions): AsyncGenerator<string, void, undefined> {
  let begun: string[] = [];
  let bytes = 0;
  for await (const { text, length } of partsOf(response, options)) {
    const [first = '', ...lines] = text.split('\n');
    begun.push(first);
    bytes += length;
    if (lines.length > 0) {
      const last = lines.pop() ?? '';
      for (const line of [begun.join(''), ...lines]) {
        requireBounded(line.length, options);
        yield line.endsWith('\r') ? line.slice(0, -1) : line;
      }
      begun = [last];
      bytes = last.length;
    }
    requireBounded(bytes, options);
  }
  if (begun.join('') !== '') throw new ConnectionError('The answer ended early.');
}

/** Reads the whole text of a body. Throws as {@link linesOf}. */
export async function readText(response: Response, options: BodyOptions): Promise<string> {
  let whole = '';
  let bytes = 0;
  for await (const { text, length } of partsOf(response, options)) {
    whole += text;
    bytes += length;
    requireBounded(bytes, options);
  }
  return whole;
}

/** @throws ProtocolError */
export function requireBounded(bytes: number, { maxBytes }: Pick<BodyOptions, 'maxBytes'>): void {
  if (bytes > maxBytes) throw new ProtocolError(`The answer has more than ${maxBytes} bytes.`);
}

/** Yields the decoded parts of a body with their lengths in bytes. */
async function* partsOf(
  response: Response,
  { idleMs, signal }: BodyOptions,
): AsyncGenerator<{ text: string; length: number }, void, undefined> {
  if (response.body === null) return;
  const reader: Reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decoded = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw notOfThisApi(reasonText(cause), cause);
    }
  };
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, idleMs, signal);
      yield { text: decoded(value), length: value?.length ?? 0 };
      if (done) return;
    }
  } finally {
    // Frees the connection without waiting. Errors of a broken connection do not matter.
    reader.cancel().catch(() => undefined);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function readWithin(
  reader: Reader,
  idleMs: number | undefined,
  signal: AbortSignal | undefined,
): Promise<{ done: boolean; value: Uint8Array | undefined }> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const idle = new Promise<never>((_, reject) => {
    if (idleMs === undefined) return;
    timer = setTimeout(() => reject(new ConnectionError(`No data arrived for ${idleMs} ms.`)), idleMs);
  });
  try {
    return await unlessAborted(Promise.race([reader.read(), idle]), signal);
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ConnectionError) throw cause;
    throw new ConnectionError(`The answer ended early (${reasonText(cause)}).`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
