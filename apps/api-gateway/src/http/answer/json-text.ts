/** How an answer may be reused (RFC 9111). */
export interface Caching {
  etag: string;
  cacheControl: string;
}

/** Text as it is stored, and the SHA-256 that is stored for it, in hex. */
export interface StoredText {
  text: string;
  hash: string;
}

/** An answer that is JSON text already, so that stored text is sent as it is instead of being parsed and serialized. */
export class JsonText {
  private encodedLength: number | undefined;

  constructor(
    readonly text: string,
    /** Absent: not to be reused at all. */
    readonly caching?: Caching,
    /** Where stored text stands in it. By its place: a string of its own would be held besides. */
    private readonly storedAt?: { from: number; to: number; hash: string },
  ) {}

  /** An answer with stored text in it, byte for byte. */
  static around(before: string, { text, hash }: StoredText, after: string, caching?: Caching): JsonText {
    return new JsonText(before + text + after, caching, { from: before.length, to: before.length + text.length, hash });
  }

  get holdsStored(): boolean {
    return this.storedAt !== undefined;
  }

  /** The stored text in it. */
  get stored(): StoredText | undefined {
    if (this.storedAt === undefined) return undefined;
    const { from, to, hash } = this.storedAt;
    return { text: this.text.slice(from, to), hash };
  }

  /** Of the text in UTF-8. */
  get bytes(): number {
    return (this.encodedLength ??= Buffer.byteLength(this.text));
  }
}

/**
 * Texts in batches. To take one from its batch is all the work that it makes, so that a stream can charge it, and let others
 * have the thread, between any two.
 */
export type TextBatches = AsyncIterable<Iterable<string>> | Iterable<Iterable<string>>;

/** An answer of text that is read while it is sent: however long it is, little of it lies in memory at once. */
export class TextStream {
  constructor(
    readonly contentType: 'application/json; charset=utf-8' | 'application/x-ndjson' | 'text/plain; charset=utf-8',
    /** Ends early where nobody reads any more. What it throws ends the answer unfinished. */
    readonly batches: TextBatches,
  ) {}
}

/** The text of each item, made when it is taken. */
export function* textsOf<Item>(items: Iterable<Item>, text: (item: Item) => string): Generator<string, void> {
  for (const item of items) yield text(item);
}

/**
 * An answer whose head is sent at once and each part as soon as it is there, also while the request is still being sent. Its
 * connection ends with it, since of the request a part may not have been read.
 */
export class LiveStream {
  constructor(
    readonly contentType: 'application/x-ndjson',
    /** What it throws ends the answer unfinished. */
    readonly parts: AsyncIterable<string>,
  ) {}
}

/**
 * Server-sent events: each chunk is sent as soon as it is there, and the next one asked for when the peer has taken it. What
 * fails before the first one is answered as an error; what fails later ends the stream, which its reader takes up again.
 */
export class EventStream {
  constructor(readonly chunks: AsyncIterable<string>) {}
}

/** JSON text with an array of many items in it: what stands before it, its items, and what stands after it. */
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
