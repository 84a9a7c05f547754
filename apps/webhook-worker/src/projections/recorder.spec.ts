import { createLogger } from '@iss/platform';
import { waitFor } from '../../../../tools/testing/wait-for';
import { Recorder } from './recorder';

const logger = createLogger({ name: 'test', level: 'silent' });

it('repeats each step while there is more, and wakes the fan-out of its events', async () => {
  const limits: number[] = [];
  const woken: (readonly string[])[] = [];
  const step = async (limit: number) => {
    limits.push(limit);
    return { eventIds: [`e${limits.length}`], isMore: limits.length < 3 };
  };
  const wakeFanout = async (eventIds: readonly string[]): Promise<void> => {
    woken.push(eventIds);
    // Without the queue, the sweep finds the events.
    throw new Error('no queue');
  };
  const recorder = new Recorder([step], 'failed', { wakeFanout }, logger, 1_000_000);
  recorder.start();
  await waitFor(() => woken.length === 3);
  await recorder.stop();
  expect([limits, woken]).toEqual([
    [500, 500, 500],
    [['e1'], ['e2'], ['e3']],
  ]);
});

it('lets a step that fails delay no other', async () => {
  let other = 0;
  const steps = [
    () => Promise.reject(new Error('no database')),
    async () => {
      other++;
      return { eventIds: [], isMore: false };
    },
  ];
  const recorder = new Recorder(steps, 'failed', { wakeFanout: async () => undefined }, logger, 1);
  recorder.start();
  await waitFor(() => other > 1);
  await recorder.stop();
});
