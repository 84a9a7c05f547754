import { rarely } from './rarely';

it('rarely reports the first call and then one per period', () => {
  jest.useFakeTimers({ now: 0, doNotFake: [] });
  const reported: string[] = [];
  const report = rarely((message) => void reported.push(message));
  report('first');
  report('dropped');
  jest.advanceTimersByTime(9_999);
  report('dropped too');
  jest.advanceTimersByTime(1);
  report('second');
  expect(reported).toEqual(['first', 'second']);
  jest.useRealTimers();
});
