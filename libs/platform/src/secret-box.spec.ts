import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { keyIdOf, SecretBox, SecretBoxError } from './secret-box';

const newKey = (): string => randomBytes(32).toString('base64');
const [first, second] = [newKey(), newKey()];
const box = SecretBox.fromKeyRing(`k1:${first}`);

describe('SecretBox', () => {
  it('opens a sealed text only in its own place', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (plaintext, place, other) => {
        const sealed = box.seal(plaintext, place);
        expect(box.open(sealed, place)).toBe(plaintext);
        fc.pre(place !== other);
        expect(() => box.open(sealed, other)).toThrow(SecretBoxError);
      }),
    );
  });

  it('detects a change of any character', () => {
    const sealed = box.seal('whsec_secret', 'row');
    fc.assert(
      fc.property(fc.nat({ max: sealed.length - 1 }), fc.constantFrom(...'Ab0_-.='), (at, character) => {
        fc.pre(sealed[at] !== character);
        expect(() => box.open(sealed.slice(0, at) + character + sealed.slice(at + 1), 'row')).toThrow(SecretBoxError);
      }),
    );
    for (const text of ['', '.', 'k1', 'k1...', `${sealed}.x`, sealed.slice(0, -1)]) {
      expect(() => box.open(text, 'row')).toThrow(SecretBoxError);
    }
  });

  it('seals the same text differently each time', () => {
    expect(box.seal('a', 'row')).not.toBe(box.seal('a', 'row'));
  });

  it('seals the same text identically with sealAlike, but no other text', () => {
    const sealed = box.sealAlike('a', 'row');
    expect(box.open(sealed, 'row')).toBe('a');
    expect(box.sealAlike('a', 'row')).toBe(sealed);
    const others = [box.sealAlike('b', 'row'), box.sealAlike('a', 'other'), box.seal('a', 'row')];
    // No nonce is used for two texts under one key.
    expect(new Set([sealed, ...others].map((text) => text.split('.')[1])).size).toBe(4);
  });

  it('opens and verifies with older keys, but seals with the first one', () => {
    const rotated = SecretBox.fromKeyRing(`k2:${second}, k1:${first}`);
    const old = box.seal('a', 'row');
    expect(rotated.open(old, 'row')).toBe('a');
    expect(keyIdOf(old)).toBe('k1');
    expect(keyIdOf(rotated.seal('a', 'row'))).toBe('k2');
    expect(rotated.currentKeyId).toBe('k2');
    expect(rotated.verifyMac('cursor', 'text', box.mac('cursor', 'text'))).toBe(true);
    expect(rotated.mac('cursor', 'text')).not.toBe(box.mac('cursor', 'text'));
    expect(() => SecretBox.fromKeyRing(`k2:${second}`).open(old, 'row')).toThrow('"k1"');
  });

  it('refuses a key with a known id but other bytes', () => {
    expect(() => SecretBox.fromKeyRing(`k1:${second}`).open(box.seal('a', 'row'), 'row')).toThrow(SecretBoxError);
  });

  it('creates tags that are valid for one purpose and one text', () => {
    const tag = box.mac('cursor', 'text');
    expect(tag).toMatch(/^[\w-]{43}$/);
    expect(SecretBox.fromKeyRing(`k1:${first}`).verifyMac('cursor', 'text', tag)).toBe(true);
    expect(box.verifyMac('other', 'text', tag)).toBe(false);
    expect(box.verifyMac('cursor', 'texT', tag)).toBe(false);
    for (const wrong of ['', `${tag}=`, ` ${tag}`, tag.slice(1), box.mac('cursor', 'x')]) {
      expect(box.verifyMac('cursor', 'text', wrong)).toBe(false);
    }
    expect(box.deriveKey('a')).toHaveLength(32);
    expect(box.deriveKey('a').equals(box.deriveKey('b'))).toBe(false);
  });

  it.each([
    '',
    'k1',
    ':AAAA',
    'k1:AAAA',
    `k 1:${first}`,
    `k1:${first},`,
    `k1:${first},k1:${second}`,
    `k1:${first}x`,
    `k.1:${first}`,
  ])('refuses the invalid key ring %#', (ring) => expect(() => SecretBox.fromKeyRing(ring)).toThrow(SecretBoxError));

  it('reveals no key when it is printed or fails', () => {
    expect(inspect(box, { depth: 9, showHidden: true }) + JSON.stringify(box)).not.toContain(first.slice(0, 20));
    try {
      SecretBox.fromKeyRing(`k1:${first}x`);
    } catch (error) {
      expect(inspect(error)).not.toContain(first.slice(0, 20));
    }
    expect.assertions(2);
  });
});
