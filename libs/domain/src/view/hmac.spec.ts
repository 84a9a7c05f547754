import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Hmac } from './hmac';

it('Hmac agrees with node:crypto for texts of any length', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { minLength: 1, maxLength: 4 }),
      (key, texts) => {
        const hmac = new Hmac(key);
        for (const text of texts) {
          const expected = createHmac('sha256', key).update(text).digest().subarray(0, 16).toString('base64url');
          expect(hmac.start(text)).toBe(expected);
        }
      },
    ),
  );
});
