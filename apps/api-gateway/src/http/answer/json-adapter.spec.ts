import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { DEFAULT_CONNECTION_LIMITS } from '@iss/platform';
import express, { type Express, type Request, type Response } from 'express';
import { waitFor } from '../../../../../tools/testing/wait-for';
import { isMatch } from './if-none-match';
import { JsonAdapter } from './json-adapter';
import { jsonStream, type TextBatches, TextStream, textsOf } from './json-text';

it.each([
  [undefined, false],
  ['"a.full"', true],
  ['W/"a.full"', true],
  ['"x", "a.full"', true],
  ['*', true],
  ['"a.header"', false],
  ['a.full', false],
])('isMatch for If-None-Match %s returns %s', (header, expected) => {
  expect(isMatch(header, '"a.full"')).toBe(expected);
});

describe('a stream', () => {
  let server: Server;
  let url: string;
  let answer: TextStream;
  /** The result of `reply`; undefined while it runs. */
  let outcome: { error: unknown } | undefined;
  let taken: number;
  let isOver: boolean;

  beforeAll(async () => {
    const application: Express = express();
    const adapter = new JsonAdapter({ connections: DEFAULT_CONNECTION_LIMITS, corsOrigins: [] }, application);
    application.use((_request: Request, response: Response) => {
      outcome = undefined;
      Promise.resolve(adapter.reply(response, answer)).then(
        () => (outcome = { error: undefined }),
        (error: unknown) => {
          outcome = { error };
          if (response.headersSent) response.destroy();
          else response.status(500).end();
        },
      );
    });
    server = createServer(application).listen(0, '127.0.0.1');
    await waitFor(() => server.listening);
    const address: AddressInfo | string | null = server.address();
    url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const CHUNK = 'x'.repeat(40_000);

  async function* chunks(count: number, failAt = Infinity): AsyncGenerator<string[], void> {
    taken = 0;
    isOver = false;
    try {
      for (; taken < count; taken++) {
        if (taken === failAt) throw new Error('the source failed');
        // Lets the sockets work, as a database read does.
        await new Promise((resolve) => setImmediate(resolve));
        yield [CHUNK];
      }
    } finally {
      isOver = true;
    }
  }

  const ndjson = (source: TextBatches): TextStream => new TextStream('application/x-ndjson', source);

  /** Returns the head of a response. The body is read only when the test reads it. */
  const head = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => get(url, { agent: false }, resolve).on('error', reject));

  it.each([
    [0, '{"items":[],"n":1}'],
    [1, '{"items":["a"],"n":1}'],
    [3, '{"items":["a","a","a"],"n":1}'],
  ])('with %i items is sent whole as a JSON document', async (count, text) => {
    const items = Array.from({ length: count }, () => '"a"');
    answer = jsonStream('{"items":', [items.slice(0, 1), items.slice(1)], ',"n":1}');
    const response = await fetch(url);
    expect(await response.text()).toBe(text);
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each([1, 2, 3, 50])('with %i chunks arrives completely', async (count) => {
    answer = ndjson(chunks(count));
    const response = await fetch(url);
    expect((await response.text()).length).toBe(count * CHUNK.length);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    expect(response.headers.has('content-length')).toBe(count <= 2);
  });

  it('yields to the event loop between any two pieces, even for a fast reader', async () => {
    let turns = 0;
    let isSent = false;
    const turn = (): void => {
      turns += 1;
      if (!isSent) setImmediate(turn);
    };
    setImmediate(turn);
    const turnsAt: number[] = [];
    // One batch, as one statement returns it: nothing in it waits.
    const batch = textsOf(Array.from({ length: 100 }), () => {
      turnsAt.push(turns);
      return CHUNK + CHUNK;
    });
    answer = ndjson([batch]);
    const { length } = await (await fetch(url)).text();
    isSent = true;
    expect(length).toBe(200 * CHUNK.length);
    expect(new Set(turnsAt).size).toBe(100);
  });

  it('has no body for HEAD, and its source is not read', async () => {
    taken = 0;
    answer = ndjson(chunks(3));
    const response = await fetch(url, { method: 'HEAD' });
    expect(await response.text()).toBe('');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    expect(taken).toBe(0);
  });

  it('returns an error if it fails at first', async () => {
    answer = ndjson(chunks(50, 1));
    expect((await fetch(url)).status).toBe(500);
    expect(outcome).toEqual({ error: new Error('the source failed') });
  });

  it('is cut off if it fails later', async () => {
    answer = ndjson(chunks(50, 40));
    const response = await fetch(url);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
    expect(outcome).toEqual({ error: new Error('the source failed') });
  });

  it('waits for its reader, and ends when the reader disconnects', async () => {
    const count = 5_000;
    answer = ndjson(chunks(count));
    const response = await head();
    // Wait until nothing moves: the buffers between both ends are full.
    const polls: number[] = [];
    await waitFor(() => polls.push(taken) > 5 && polls.at(-5) === taken);
    const seen = taken;
    expect(seen).toBeLessThan(count / 2);
    expect(isOver).toBe(false);
    expect(outcome).toBeUndefined();
    response.destroy();
    await waitFor(() => isOver, { what: 'the source to be closed' });
    await waitFor(() => outcome);
    expect(outcome).toEqual({ error: undefined });
    expect(taken).toBeLessThan(seen + 10);
  });
});
