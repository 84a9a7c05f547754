import { COUNT_STEPS, countRange, isWithinDays, roomOfBars, timeRange } from './chart-axis.ts';

const DAY = 86_400;
const AT = Date.UTC(2026, 0, 15) / 1000;

it.each([
  ['two days', AT, AT + DAY, 0, [AT, AT + DAY]],
  ['days with bars', AT, AT + DAY, roomOfBars([AT, AT + DAY]), [AT - DAY / 2, AT + 1.5 * DAY]],
  ['two events of one moment', AT, AT, 0, [AT - 30, AT + 30]],
  ['one bar', AT, AT, roomOfBars([AT]), [AT - DAY / 2, AT + DAY / 2]],
])('timeRange contains %s', (_what, first, last, room, expected) => {
  expect(timeRange(first, last, room)).toEqual(expected);
});

it.each([
  ['nothing', null, null, [0, 1]],
  ['zeros', 0, 0, [0, 1]],
  ['one', 0, 1, [0, 1]],
  ['many', 0, 812, [0, 812]],
  ['a log that did not grow', 4_711, 4_711, [4_711, 4_712]],
  ['milliseconds with fractions', 0, 1.4, [0, 2]],
])('countRange contains %s in whole numbers', (_what, least, most, expected) => {
  expect(countRange(least, most)).toEqual(expected);
});

it('COUNT_STEPS are whole numbers', () => {
  expect(COUNT_STEPS.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
  expect(COUNT_STEPS.every(Number.isInteger)).toBe(true);
});

it.each([
  [3_600, true],
  [DAY, false],
])('isWithinDays of steps of %i s is %s', (step, expected) => {
  expect(isWithinDays(step)).toBe(expected);
});
