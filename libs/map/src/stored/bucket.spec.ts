import { MapError } from '../errors';
import { KEY_SIZE } from '../limits';
import { findInBucket, formatBucket, parseBucket } from './bucket';

const key = (first: number): Uint8Array => new Uint8Array(KEY_SIZE).fill(first);
const RECORD = KEY_SIZE + 5;

it('reads the keys and log indexes that it wrote, up to five bytes each', () => {
  const keys = [
    { key: key(1), logIndexes: [0, 2 ** 32, 2 ** 40 - 1] },
    { key: key(2), logIndexes: [7] },
  ];
  const content = formatBucket(keys);
  expect(content).toHaveLength(4 * RECORD);
  expect(parseBucket(content)).toEqual(keys);
  expect(() => formatBucket([{ key: key(1), logIndexes: [2 ** 40] }])).toThrow(MapError);
});

it('finds a key by its beginning and its log index', () => {
  const content = formatBucket([
    { key: key(1), logIndexes: [3, 9] },
    { key: key(2), logIndexes: [4] },
  ]);
  expect(findInBucket(content, key(1).slice(0, 4), 9)).toEqual(key(1));
  expect(findInBucket(content, key(1).slice(0, 4), 4)).toBeUndefined();
  expect(findInBucket(content, key(2).slice(0, 4), 4)).toEqual(key(2));
});

it('refuses keys that do not ascend, log indexes that do not, and a part of a record', () => {
  const [one, two] = [
    { key: key(1), logIndexes: [5] },
    { key: key(2), logIndexes: [6] },
  ];
  expect(() => parseBucket(formatBucket([two, one]))).toThrow(/its keys do not ascend/);
  expect(() => parseBucket(formatBucket([{ key: key(1), logIndexes: [5, 5] }]))).toThrow(MapError);
  expect(() => parseBucket(formatBucket([one]).slice(0, -1))).toThrow(/it ends within a record/);
});
