/** How a response may be cached (RFC 9111). */
export interface Caching {
  etag: string;
  cacheControl: string;
}

/** Stored text and its stored SHA-256 in hex. */
export interface HashedText {
  text: string;
  hash: string;
}

/** A response that is already JSON text, so that stored text is neither parsed nor serialized. */
export class JsonText {
  private encodedLength: number | undefined;

  constructor(
    readonly text: string,
    /** Absent: the response must not be cached. */
    readonly caching?: Caching,
    /** Position of the stored text. A separate string would take additional memory. */
    private readonly storedAt?: { from: number; to: number; hash: string },
  ) {}

  /** Creates a response that contains stored text byte for byte. */
  static around(before: string, { text, hash }: HashedText, after: string, caching?: Caching): JsonText {
    return new JsonText(before + text + after, caching, { from: before.length, to: before.length + text.length, hash });
  }

  get holdsStored(): boolean {
    return this.storedAt !== undefined;
  }

  /** Returns the stored text in the response. */
  get stored(): HashedText | undefined {
    if (this.storedAt === undefined) return undefined;
    const { from, to, hash } = this.storedAt;
    return { text: this.text.slice(from, to), hash };
  }

  /** Returns the length of the text in UTF-8. */
  get bytes(): number {
    return (this.encodedLength ??= Buffer.byteLength(this.text));
  }
}

/**
 * Texts in batches. A text is created only when it is taken from its batch. So a stream can charge this work, and yield
 * the thread between two texts.
 */
export type TextBatches = AsyncIterable<Iterable<string>> | Iterable<Iterable<string>>;

/** A text response that is read while it is sent. However long it is, only a small part is in memory at once. */
export class TextStream {
  constructor(
    readonly contentType: 'application/json; charset=utf-8' | 'application/x-ndjson' | 'text/plain; charset=utf-8',
    /** Stops early if nobody reads any more. An error leaves the response unfinished. */
    readonly batches: TextBatches,
  ) {}
}

/** Yields the text of each item, created when it is taken. */
export function* textsOf<Item>(items: Iterable<Item>, text: (item: Item) => string): Generator<string, void> {
  for (const item of items) yield text(item);
}

/**
 * A response whose head is sent immediately and whose parts are sent as soon as they exist, even while the request is
 * still arriving. Its connection closes afterwards, because part of the request may be unread.
 */
export class LiveStream {
  constructor(
    readonly contentType: 'application/x-ndjson',
    /** An error leaves the response unfinished. */
    readonly parts: AsyncIterable<string>,
  ) {}
}

/**
 * Server-sent events. Each chunk is sent as soon as it exists, and the next is requested when the peer has taken it. A
 * failure before the first chunk becomes an error response. A later failure ends the stream, and the reader resumes it.
 */
export class EventStream {
  constructor(readonly chunks: AsyncIterable<string>) {}
}

/** Returns JSON text that contains an array of many items, with the text before and after it. */
export function jsonStream(before: string, items: TextBatches, after: string): TextStream {
  return new TextStream('application/json; charset=utf-8', arrayText(before, items, after));
}

async function* arrayText(before: string, batches: TextBatches, after: string): AsyncGenerator<Iterable<string>> {
  let separator = `${before}[`;
  const separated = (item: string): string => {
    const text = separator + item;
    separator = ',';
    return text;
  };
  for await (const items of batches) yield textsOf(items, separated);
  yield [separator === ',' ? `]${after}` : `${separator}]${after}`];
}
