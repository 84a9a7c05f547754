import { hashText } from '@iss/domain';
import { ErasedError } from '../../../access/erased';
import { JsonText } from '../../../http/answer/json-text';
import { RecentAnswers } from './recent-answers';

const KEY = 'latest/organization/a';
const TEXT = '{"attributes":{"name":"Zürich"}}';
const CACHING = { etag: '"tag"', cacheControl: 'private' };

interface Stored {
  text: string;
  hash: string;
  caching?: typeof CACHING;
}

const stored = (text: string, hash = hashText(text)): Stored => ({ text, hash, caching: CACHING });

const answerOf = ({ caching, ...one }: Stored): JsonText => JsonText.around('{"envelope":', one, ',"x":1}', caching);

/** A store that holds this answer and, like the real one, returns null if the hash is known. */
function reading(recent: RecentAnswers, one: Stored) {
  const known: (string | undefined)[] = [];
  const read = async (): Promise<string> => {
    const find = async (hash: Buffer | undefined): Promise<Stored | null> => {
      known.push(hash?.toString('hex'));
      return hash?.toString('hex') === one.hash ? null : one;
    };
    return (await recent.answer(KEY, find, answerOf)).text;
  };
  return { known, read };
}

it('RecentAnswers checks each time that the stored text is unchanged, and returns the same response', async () => {
  const { known, read } = reading(new RecentAnswers(), stored(TEXT));
  const texts = [await read(), await read(), await read()];
  expect(new Set(texts)).toEqual(new Set([`{"envelope":${TEXT},"x":1}`]));
  expect(known).toEqual([undefined, hashText(TEXT), hashText(TEXT)]);
});

it('RecentAnswers returns a changed text immediately', async () => {
  const recent = new RecentAnswers();
  await reading(recent, stored(TEXT)).read();
  expect(await reading(recent, stored(TEXT.replace('Zürich', 'Basel'))).read()).toContain('Basel');
});

it('RecentAnswers drops a response whose content was erased, but not after other errors', async () => {
  const recent = new RecentAnswers();
  const { known, read } = reading(recent, stored(TEXT));
  await read();
  const erased = new ErasedError({
    erasure_id: 'e',
    erased_at: '2026-01-31T12:00:00.000Z',
    snapshot_id: 's',
    snapshot_version: 1,
    envelope_hash: hashText(TEXT),
    prev_hash: null,
  });
  await expect(recent.answer(KEY, () => Promise.reject(erased), answerOf)).rejects.toBe(erased);
  await read();
  expect(known).toEqual([undefined, undefined]);
  await expect(recent.answer(KEY, () => Promise.reject(new Error('unavailable')), answerOf)).rejects.toThrow();
  await read();
  expect(known[2]).toBe(hashText(TEXT));
});

it.each<[string, Stored]>([
  ['whose text does not match its hash', stored(TEXT.replace('Zürich', 'Basel'), hashText(TEXT))],
  ['that may not be reused', { text: TEXT, hash: hashText(TEXT) }],
])('RecentAnswers does not keep a response %s', async (_, one) => {
  const { known, read } = reading(new RecentAnswers(), one);
  await read();
  await read();
  expect(known).toEqual([undefined, undefined]);
});

it('RecentAnswers does not keep a response without stored text', async () => {
  const recent = new RecentAnswers();
  const known: unknown[] = [];
  const read = () =>
    recent.answer('a', async (hash) => known.push(hash), () => new JsonText('{}', CACHING)); // prettier-ignore
  await read();
  await read();
  expect(known).toEqual([undefined, undefined]);
});
