import { untilDeadline } from './until-deadline';

/** The time that each attempt takes, by a clock that only attempts move. */
const ATTEMPT_MS = 300;

it.each([
  [1, 5_000, 'done', 1],
  // The first pause takes a quarter of a second, and the second one half.
  [3, 600, null, 2],
  [3, 0, null, 1],
])('repeats work that fails %d times until a deadline of %d ms', async (times, ms, expected, failures) => {
  let nowMs = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  let left = times;
  const work = async (): Promise<string> => {
    nowMs += ATTEMPT_MS;
    if (left-- > 0) throw new Error('away');
    return 'done';
  };
  const onFailure = jest.fn();
  expect(await untilDeadline(work, ms, onFailure)).toBe(expected);
  expect(onFailure).toHaveBeenCalledTimes(failures);
});

afterEach(() => jest.restoreAllMocks());
