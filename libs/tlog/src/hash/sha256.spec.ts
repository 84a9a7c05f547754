import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { toHex } from '../encoding/bytes';
import { sha256 } from './sha256';

const oracle = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

// The examples of FIPS 180-2 appendix B, and the empty message.
test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
  ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
])('sha256 returns the hash of example %# of FIPS 180', (message, hash) => {
  expect(toHex(sha256(Buffer.from(message)))).toBe(hash);
});

test('sha256 is correct for every length up to 300 bytes', () => {
  for (let length = 0; length <= 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 167 + length) % 256);
    expect(toHex(sha256(bytes))).toBe(oracle(bytes));
  }
});

test('sha256 is correct for any bytes, also in a view of a larger buffer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), fc.nat(64), (bytes, skipped) => {
      const view = bytes.subarray(Math.min(skipped, bytes.length));
      expect(toHex(sha256(view))).toBe(oracle(view));
    }),
  );
});
