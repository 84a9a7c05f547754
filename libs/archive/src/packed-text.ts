/** The place of an archived text, and the secret that opens it. */
export interface PackedText {
  object: string;
  offset: number;
  length: number;
  secret: Buffer;
}
