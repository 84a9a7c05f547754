import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import { EndedRequests } from '../server/ended-requests';
import { MAX_STREAMS, Streams } from './streams';

let now = 0;
let principals = 0;
let streams: Streams;
let ended: EndedRequests;

beforeEach(() => {
  now = 0;
  ended = new EndedRequests();
  streams = new Streams(ended, () => now);
});

/** A response whose peer takes a part only when the test says so. */
function answer(): ServerResponse & { take(): void } {
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    write: () => false,
    take: () => response.emit('drain'),
    destroy: () => {
      response.destroyed = true;
      response.emit('close');
    },
  });
  return response as unknown as ReturnType<typeof answer>;
}

function begun(count: number): ReturnType<typeof answer>[] {
  return Array.from({ length: count }, () => {
    const response = answer();
    streams.begin(response, `p-${principals++}`);
    return response;
  });
}

it('Streams ends the stream with the slowest reader when a new one exceeds the limit', async () => {
  const responses = begun(MAX_STREAMS);
  const written = responses.map(async (response, index) => {
    now = index;
    await streams.write(response, 'part');
  });
  responses[0]?.take();
  await written[0];
  now = 2_000;
  begun(1);
  expect(responses.map(({ destroyed }) => destroyed).indexOf(true)).toBe(1);
  expect(responses.filter(({ destroyed }) => destroyed)).toHaveLength(1);
  await written[1];
  const metrics = new Registry();
  ended.register(metrics);
  expect(await metrics.metrics()).toMatch(/_total\{cause="slow_batch"\} 0\n(?:.*\n)*.*cause="slow_stream"\} 1\n/);
});

it('Streams refuses a new stream while all readers are fast, until one has ended', () => {
  const [first] = begun(MAX_STREAMS);
  now = 1_000;
  expect(() => begun(1)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  first?.emit('close');
  begun(1);
});

it('Streams limits one principal to a quarter of the streams', () => {
  const begin = (principalId: string) => () => streams.begin(answer(), principalId);
  for (let place = 0; place < MAX_STREAMS / 4; place += 1) begin('greedy')();
  expect(begin('greedy')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(begin('other')).not.toThrow();
});
