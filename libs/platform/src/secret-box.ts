import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Key {
  id: string;
  bytes: Buffer;
}

/**
 * An invalid key ring, or a sealed text that cannot be opened. The message contains no key material and no plaintext.
 */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

/**
 * Encrypts the deployment's secrets at rest (AES-256-GCM) and authenticates values that it issues (HMAC-SHA256 with
 * keys derived by HKDF, RFC 5869). The first key of the ring seals, and every key opens. To rotate keys, add a new one
 * in front, and remove an old one when nothing is sealed with it any longer.
 */
export class SecretBox {
  readonly currentKeyId: string;
  readonly #keys: readonly [Key, ...Key[]];
  readonly #derived = new Map<string, readonly Buffer[]>();

  /** Ids of the ring's keys, the current one first. */
  get keyIds(): string[] {
    return this.#keys.map((key) => key.id);
  }

  private constructor(keys: readonly [Key, ...Key[]]) {
    this.#keys = keys;
    this.currentKeyId = keys[0].id;
  }

  /**
   * Parses a ring `id:base64,…`: ids of 1 to 64 letters, digits, `_` and `-`, each with a key of 32 bytes.
   *
   * @throws SecretBoxError that names the position of the invalid entry
   */
  static fromKeyRing(text: string): SecretBox {
    const [first, ...others] = text.split(',').map((entry, index) => readKey(entry.trim(), index + 1));
    if (first === undefined) throw new SecretBoxError('The key ring is empty.');
    const ids = new Set([first, ...others].map((key) => key.id));
    if (ids.size !== others.length + 1) throw new SecretBoxError('Two keys of the ring have the same id.');
    return new SecretBox([first, ...others]);
  }

  /**
   * Seals a text. It can be opened only with the same associated data, such as the id of its row, so that a copy in
   * another row is refused. Returns `keyId.iv.ciphertext.tag` in base64url.
   */
  seal(plaintext: string, associatedData: string): string {
    return this.#sealWith(randomBytes(IV_BYTES), plaintext, associatedData);
  }

  /** Seals like {@link seal}, but returns the same sealed text for the same text and associated data. */
  sealAlike(plaintext: string, associatedData: string): string {
    const both = JSON.stringify([associatedData, plaintext]);
    const iv = createHmac('sha256', this.deriveKey('nonces of equal texts')).update(both).digest();
    return this.#sealWith(iv.subarray(0, IV_BYTES), plaintext, associatedData);
  }

  #sealWith(iv: Buffer, plaintext: string, associatedData: string): string {
    const [key] = this.#keys;
    const cipher = createCipheriv(CIPHER, key.bytes, iv, { authTagLength: TAG_BYTES }).setAAD(
      Buffer.from(associatedData),
    );
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return [key.id, ...[iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.');
  }

  /** @throws SecretBoxError if the ring lacks the key, the text was changed, or the associated data differ */
  open(sealed: string, associatedData: string): string {
    const [keyId = '', iv = '', ciphertext = '', tag = '', ...rest] = sealed.split('.');
    const key = this.#keys.find(({ id }) => id === keyId);
    if (key === undefined) {
      throw new SecretBoxError(`It was sealed with the key "${keyIdOf(sealed)}", which SECRETS_KEYS does not have.`);
    }
    try {
      const decipher = createDecipheriv(CIPHER, key.bytes, bytesOf(iv), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(associatedData))
        .setAuthTag(bytesOf(tag));
      if (rest.length > 0) throw new SecretBoxError('It has too many parts.');
      return decipher.update(bytesOf(ciphertext), undefined, 'utf8') + decipher.final('utf8');
    } catch (error) {
      throw new SecretBoxError('It does not open: it was changed, or it was sealed for another place.', {
        cause: error,
      });
    }
  }

  /** Derives 32 bytes for a purpose from the current key. The result is the same in every process of the deployment. */
  deriveKey(purpose: string): Buffer {
    return this.#keysFor(purpose)[0] ?? Buffer.alloc(0);
  }

  /** Returns an unforgeable tag of a text for a purpose: HMAC-SHA256 in base64url, 43 characters. */
  mac(purpose: string, text: string): string {
    return createHmac('sha256', this.deriveKey(purpose)).update(text).digest('base64url');
  }

  /** Checks the tag of a text for a purpose with every key of the ring, in constant time. */
  verifyMac(purpose: string, text: string, tag: string): boolean {
    const given = Buffer.from(tag, 'base64url');
    // The decoder is lenient, but only the canonical encoding is accepted.
    if (given.toString('base64url') !== tag) return false;
    return this.#keysFor(purpose).some((key) => {
      const expected = createHmac('sha256', key).update(text).digest();
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  #keysFor(purpose: string): readonly Buffer[] {
    let derived = this.#derived.get(purpose);
    if (derived === undefined) {
      derived = this.#keys.map(({ bytes }) => Buffer.from(hkdfSync('sha256', bytes, '', purpose, KEY_BYTES)));
      this.#derived.set(purpose, derived);
    }
    return derived;
  }
}

/** Returns the id of the key that sealed a text. */
export function keyIdOf(sealed: string): string {
  return sealed.slice(0, Math.max(0, sealed.indexOf('.')));
}

function readKey(entry: string, position: number): Key {
  const separator = entry.indexOf(':');
  const id = entry.slice(0, Math.max(0, separator));
  const encoded = entry.slice(separator + 1);
  const bytes = Buffer.from(encoded, 'base64');
  if (!/^[\w-]{1,64}$/.test(id)) {
    throw new SecretBoxError(`Key ${position} of the ring has no id of letters, digits, "_" and "-" before a ":".`);
  }
  if (bytes.length !== KEY_BYTES || !/^[\w+/-]{43}=?$/.test(encoded)) {
    throw new SecretBoxError(`Key ${position} of the ring is not the base64 of ${KEY_BYTES} bytes.`);
  }
  return { id, bytes };
}

function bytesOf(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw new SecretBoxError('It is not base64url.');
  return bytes;
}
