/** A line without its end. Null where it is longer than lines may be. */
export interface Line {
  line: number;
  bytes: Uint8Array | null;
}

const NOTHING = Buffer.alloc(0);
const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];

/**
 * Takes bytes as they come and gives the lines that they end, numbered from 1. Lines of white space are counted and left out;
 * of a line that is too long nothing is kept. Lines end with LF or CRLF, the last one also with the bytes.
 */
export class LineSplitter {
  /** What came of a line whose end has not come: the first bytes of this, of which there may be more. */
  private begun = NOTHING;
  private begunBytes = 0;
  private line = 1;

  constructor(private readonly maxBytes: number) {}

  /** The lines that end in this chunk, which they share their memory with. */
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

  /** The last line, where the bytes end without the end of a line. */
  end(): Line[] {
    const lines: Line[] = [];
    this.finish(NOTHING, lines);
    return lines;
  }

  /** Doubles its memory where there is too little, however small the parts are in which a line comes. */
  private keep(part: Buffer): void {
    const bytes = this.begunBytes + part.length;
    if (this.isTooLong(bytes)) {
      this.begun = NOTHING;
    } else if (part.length > 0) {
      if (bytes > this.begun.length) {
        const grown = Buffer.allocUnsafe(Math.max(bytes, 2 * this.begun.length));
        this.begun.copy(grown, 0, 0, this.begunBytes);
        this.begun = grown;
      }
      part.copy(this.begun, this.begunBytes);
    }
    this.begunBytes = bytes;
  }

  private finish(part: Buffer, lines: Line[]): void {
    const line = this.line++;
    let whole = part;
    if (this.begunBytes > 0) {
      this.keep(part);
      whole = this.begun.subarray(0, this.begunBytes);
    }
    const isTooLong = this.isTooLong(Math.max(this.begunBytes, part.length));
    this.begun = NOTHING;
    this.begunBytes = 0;
    const bytes = withoutReturn(whole);
    if (isTooLong || bytes.length > this.maxBytes) lines.push({ line, bytes: null });
    else if (!isBlank(bytes)) lines.push({ line, bytes });
  }

  /** CRLF has one byte that is no part of the line. */
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
