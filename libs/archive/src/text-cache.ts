/** Sealed texts that were read recently, up to a number of bytes. The oldest are dropped first. */
export class TextCache {
  private readonly texts = new Map<string, Buffer>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get(key: string): Buffer | undefined {
    const found = this.texts.get(key);
    if (found !== undefined) {
      this.texts.delete(key);
      this.texts.set(key, found);
    }
    return found;
  }

  /** Copies the text, because it may be a small part of a large buffer. */
  set(key: string, sealed: Buffer): void {
    if (sealed.length > this.maxBytes / 4 || this.texts.has(key)) return;
    this.texts.set(key, Buffer.from(sealed));
    this.bytes += sealed.length;
    for (const [oldest, { length }] of this.texts) {
      if (this.bytes <= this.maxBytes) break;
      this.texts.delete(oldest);
      this.bytes -= length;
    }
  }
}
