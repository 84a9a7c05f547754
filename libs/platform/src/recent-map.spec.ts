import { RecentMap } from './recent-map';

it('keeps the most recently used entries', () => {
  const recent = new RecentMap<number, string>(3);
  for (let key = 0; key < 100; key++) {
    recent.set(key, `value ${key}`);
    expect(recent.get(0)).toBe('value 0');
  }
  for (const key of [98, 99, 0]) expect(recent.get(key)).toBe(`value ${key}`);
});

it('drops the least recently used entries', () => {
  const recent = new RecentMap<number, string>(3);
  for (let key = 0; key < 100; key++) recent.set(key, `value ${key}`);
  const kept = Array.from({ length: 100 }, (_, key) => recent.get(key)).filter((value) => value !== undefined);
  expect(kept.length).toBeLessThanOrEqual(6);
});

it('returns the newest value of a key', () => {
  const recent = new RecentMap<number, string>(2);
  recent.set(1, 'first');
  recent.set(2, 'other');
  recent.set(1, 'second');
  expect(recent.get(1)).toBe('second');
});

it('does not return any value of a deleted key', () => {
  const recent = new RecentMap<number, string>(2);
  recent.set(1, 'old');
  recent.set(2, 'old');
  recent.set(1, 'young');
  recent.delete(1);
  expect(recent.get(1)).toBeUndefined();
});

it('limits the total weight of its entries', () => {
  const recent = new RecentMap<number, string>(10, (value) => value.length);
  recent.set(1, 'x'.repeat(9));
  recent.set(1, 'y'.repeat(9));
  recent.set(2, 'z');
  recent.set(3, 'w'.repeat(10));
  expect([1, 2, 3].map((key) => recent.get(key))).toEqual([undefined, undefined, 'w'.repeat(10)]);
});

it('keeps an entry while others are set and deleted again', () => {
  const recent = new RecentMap<number, string>(2);
  recent.set(1, 'first');
  for (let key = 2; key < 10; key++) {
    recent.set(key, 'other');
    recent.delete(key);
  }
  expect(recent.get(1)).toBe('first');
});
