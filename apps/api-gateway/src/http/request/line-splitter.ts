/** A line without its line ending. Its bytes are null if it is too long. */
export interface Line {
  line: number;
  bytes: Uint8Array | null;
}

const NOTHING = Buffer.alloc(0);
const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];

/**
 * Splits arriving bytes into lines, numbered from 1. Blank lines are counted but left out. A line that is too long is
 * not stored. Lines end with LF or CRLF; the last line may also end with the input.
 */
export class LineSplitter {
  /** The start of a line whose end has not arrived. Only the first `partialBytes` are used. */
  private partial = NOTHING;
  private partialBytes = 0;
  private line = 1;

  constructor(private readonly maxBytes: number) {}

  /** Returns the lines that end in this chunk. They share its memory. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.finish(chunk.subarray(from, end), lines);
      from = end + 1;
    }
    this.keep(chunk.subarray(from));
    return lines;
  }

  /** Returns the last line, if the input does not end with a line ending. */
  end(): Line[] {
    const lines: Line[] = [];
    this.finish(NOTHING, lines);
    return lines;
  }

  /** Stores a part of a line. Doubles the memory when it is too small, so that many small parts cause few copies. */
  private keep(part: Buffer): void {
    const bytes = this.partialBytes + part.length;
    if (this.isTooLong(bytes)) {
      this.partial = NOTHING;
    } else if (part.length > 0) {
      if (bytes > this.partial.length) {
        const grown = Buffer.allocUnsafe(Math.max(bytes, 2 * this.partial.length));
        this.partial.copy(grown, 0, 0, this.partialBytes);
        this.partial = grown;
      }
      part.copy(this.partial, this.partialBytes);
    }
    this.partialBytes = bytes;
  }

  private finish(part: Buffer, lines: Line[]): void {
    const line = this.line++;
    let whole = part;
    if (this.partialBytes > 0) {
      this.keep(part);
      whole = this.partial.subarray(0, this.partialBytes);
    }
    const isTooLong = this.isTooLong(Math.max(this.partialBytes, part.length));
    this.partial = NOTHING;
    this.partialBytes = 0;
    const bytes = withoutReturn(whole);
    if (isTooLong || bytes.length > this.maxBytes) lines.push({ line, bytes: null });
    else if (!isBlank(bytes)) lines.push({ line, bytes });
  }

  /** Allows one byte more, for the CR of a CRLF. */
  private isTooLong(bytes: number): boolean {
    return bytes > this.maxBytes + 1;
  }
}

function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN);
}
