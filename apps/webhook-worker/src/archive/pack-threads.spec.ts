import { createHash, randomBytes } from 'node:crypto';
import { PackBuilder } from '@iss/archive';
import { PackThreads } from './pack-threads';

const threads = new PackThreads();
afterAll(() => threads.close());

function textOf(index: number, length: number) {
  const text = `{"number":${index},"padding":"${'ü'.repeat(length)}"}`;
  const envelopeHash = createHash('sha256').update(text).digest('hex');
  return { text, envelopeHash, secret: randomBytes(32) };
}

it.each([
  ['few texts', 3, 10],
  ['many texts in threads', 300, 3_000],
])('seals and verifies %s in order', async (_, count, length) => {
  const texts = Array.from({ length: count }, (_element, index) => textOf(index, length));
  const pack = new PackBuilder();
  const placed = (await threads.seal(texts)).map((sealed, index) => ({
    ...pack.add(sealed ?? Buffer.alloc(0)),
    secret: texts[index]?.secret ?? Buffer.alloc(32),
  }));
  const hashes = async (bytes: Buffer) =>
    (await threads.hashesOf(bytes, placed)).map((hash) => hash?.toString('hex') ?? null);
  const expected = texts.map(({ envelopeHash }) => envelopeHash);
  expect(await hashes(pack.build())).toEqual(expected);
  const damaged = pack.build();
  damaged.fill(7, placed[1]?.offset, placed[2]?.offset);
  expect(await hashes(damaged)).toEqual(expected.map((hash, index) => (index === 1 ? null : hash)));
});

it('does not seal a text that does not match its hash', async () => {
  const [one, other] = [textOf(1, 10), textOf(2, 10)];
  const sealed = await threads.seal([one, { ...other, text: '{}' }]);
  expect(sealed.map((bytes) => bytes === null)).toEqual([false, true]);
});
