import { type Queued, Turns } from './turns';

interface Row extends Queued<Row> {
  name: string;
}

function waiting(...names: string[]): Turns<Row> {
  const turns = new Turns<Row>();
  for (const name of names) turns.push({ name, whose: name.charAt(0), next: null });
  return turns;
}
const take = (turns: Turns<Row>, most: number, admits = (_: string): boolean => true): string =>
  turns
    .take(most, ({ name }) => admits(name))
    .map(({ name }) => name)
    .join(' ');

it('keeps the order of one owner', () => {
  const turns = waiting('a1', 'a2', 'a3');
  expect([take(turns, 2), turns.size, take(turns, 2), turns.size, take(turns, 2)]).toEqual(['a1 a2', 1, 'a3', 0, '']);
});

it('alternates between owners, and continues with the next owner', () => {
  const turns = waiting('a1', 'a2', 'a3', 'b1', 'b2', 'c1');
  expect([take(turns, 4), take(turns, 4)]).toEqual(['a1 b1 c1 a2', 'b2 a3']);
});

it('gives one owner at most half while others wait', () => {
  const turns = waiting('a1', 'a2', 'a3', 'a4', 'a5', 'b1');
  expect([take(turns, 4), take(turns, 4)]).toEqual(['a1 b1 a2', 'a3 a4 a5']);
});

it('starts the next call with an owner that was not admitted', () => {
  const turns = waiting('a1', 'b1', 'c1', 'a2', 'b2');
  expect(take(turns, 3, (name) => name !== 'b1')).toBe('a1 c1 a2');
  turns.push({ name: 'c2', whose: 'c', next: null });
  expect(take(turns, 3)).toBe('b1 c2 b2');
  expect(turns.size).toBe(0);
});

it('unlinks a row when it is taken', () => {
  const turns = waiting('a1', 'a2');
  expect(turns.take(2, () => true).map(({ next }) => next)).toEqual([null, null]);
});

it('finds the next owner in constant time', () => {
  const owners = 20_000;
  const cpuMs = (count: number): number => {
    const turns = new Turns<Row>();
    for (let row = 0; row < count; row++) turns.push({ name: `${row}`, whose: `${row}`, next: null });
    const before = process.threadCpuUsage();
    for (let taken = 0; taken < owners; taken += 32) {
      for (const row of turns.take(32, () => true)) turns.push(row);
    }
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  // The smallest of several, because the garbage of other suites may be collected during one of them.
  const least = (count: number): number => {
    const all = Array.from({ length: 3 }, () => cpuMs(count));
    return Math.min(...all);
  };
  const few = least(32);
  // A scan of all waiting rows for each statement would take a thousand times as long.
  expect(least(owners)).toBeLessThan(50 * Math.max(2, few));
});
