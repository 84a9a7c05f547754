/** An answer that is JSON text already, so that stored text is sent as it is instead of being parsed and serialized. */
export class JsonText {
  constructor(
    readonly text: string,
    /** How the answer may be reused (RFC 9111); absent: not at all. */
    readonly caching?: { etag: string; cacheControl: string },
  ) {}
}
