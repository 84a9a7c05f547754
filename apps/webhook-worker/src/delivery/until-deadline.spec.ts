import { untilDeadline } from './until-deadline';

/** Fails this often before it succeeds. */
function failing(times: number): () => Promise<string> {
  let left = times;
  return async () => {
    if (left-- > 0) throw new Error('away');
    return 'done';
  };
}

it.each([
  [1, 5_000, 'done', 1],
  // The first pause takes a quarter of a second, and the second one half.
  [3, 600, null, 2],
  [3, 0, null, 1],
])('repeats work that fails %d times for %d ms', async (times, ms, expected, failures) => {
  const onFailure = jest.fn();
  expect(await untilDeadline(failing(times), Date.now() + ms, onFailure)).toBe(expected);
  expect(onFailure).toHaveBeenCalledTimes(failures);
});
