/** An answer that is JSON text already, so that stored text is sent as it is instead of being parsed and serialized. */
export class JsonText {
  private encodedLength: number | undefined;

  constructor(
    readonly text: string,
    /** How the answer may be reused (RFC 9111); absent: not at all. */
    readonly caching?: { etag: string; cacheControl: string },
  ) {}

  /** Of the text in UTF-8. */
  get bytes(): number {
    return (this.encodedLength ??= Buffer.byteLength(this.text));
  }
}

/** An answer of text that is read while it is sent: however long it is, little of it lies in memory at once. */
export class TextStream {
  constructor(
    readonly contentType: 'application/json; charset=utf-8' | 'application/x-ndjson',
    /** Ends early where nobody reads any more. What it throws ends the answer unfinished. */
    readonly chunks: AsyncIterable<string>,
  ) {}
}

/** JSON text with an array of many items in it: what stands before it, its items, and what stands after it. */
export function jsonStream(before: string, items: AsyncIterable<string>, after: string): TextStream {
  return new TextStream('application/json; charset=utf-8', arrayText(before, items, after));
}

async function* arrayText(before: string, items: AsyncIterable<string>, after: string): AsyncGenerator<string> {
  let separator = `${before}[`;
  for await (const item of items) {
    yield separator + item;
    separator = ',';
  }
  yield separator === ',' ? `]${after}` : `${separator}]${after}`;
}
