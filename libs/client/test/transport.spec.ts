import {
  ApiError,
  ConnectionError,
  DeadlineError,
  ForbiddenError,
  IdentityState,
  type IdentityStateOptions,
  ProtocolError,
  RateLimitedError,
  UnauthorizedError,
} from '../src/index.ts';

interface Sent {
  url: string;
  headers: Record<string, string>;
}
type Step = (init: RequestInit | undefined) => Response | Promise<Response>;

/** A service that answers in these steps, the last one again and again. */
function steps(...answers: readonly Step[]): { fetch: typeof fetch; sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    fetch: async (input, init) => {
      sent.push({ url: String(input), headers: Object.fromEntries(new Headers(init?.headers)) });
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer === undefined) throw new Error('nothing to answer');
      return answer(init);
    },
  };
}
const fails =
  (status: number, code: string, headers: Record<string, string> = {}): Step =>
  () =>
    new Response(JSON.stringify({ error: { code, message: `It is ${code}.`, request_id: 'r-7' } }), {
      status,
      headers,
    });
const answers =
  (value: unknown): Step =>
  () =>
    new Response(JSON.stringify(value));
const breaks: Step = () => {
  throw new TypeError('fetch failed');
};
const hangs: Step = (init) =>
  new Promise((_, reject) =>
    init?.signal?.addEventListener('abort', () => reject(new Error('aborted', { cause: init.signal?.reason }))),
  );

const clientOf = (fetch: typeof globalThis.fetch, options: Partial<IdentityStateOptions> = {}): IdentityState =>
  new IdentityState({ baseUrl: 'http://service.example/', fetch, token: 't-1', ...options });

it('waits as long as the service asks, and sends the same again, under one key', async () => {
  const { fetch, sent } = steps(
    fails(429, 'rate_limited', { 'retry-after': '0' }),
    breaks,
    fails(503, 'unavailable', { 'retry-after': '0' }),
    answers({ ok: 1 }),
  );
  expect(await clientOf(fetch).request('POST', '/v1/tenants', { body: { a: 1 } })).toEqual({ ok: 1 });
  expect(sent).toHaveLength(4);
  expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect(sent[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
});

it('waits not at all for what would come too late, and says how long it would have been', async () => {
  const { fetch, sent } = steps(fails(429, 'rate_limited', { 'retry-after': '60' }));
  const refused = await clientOf(fetch)
    .request('GET', '/v1/meta', { timeoutMs: 5_000 })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RateLimitedError);
  expect(refused).toMatchObject({ retryAfterMs: 60_000, requestId: 'r-7' });
  expect(sent).toHaveLength(1);
});

it('sends again what does nothing twice, and nothing else', async () => {
  for (const [method, count] of [
    ['GET', 2],
    ['POST', 2],
    ['PATCH', 1],
    ['DELETE', 1],
  ] as const) {
    const { fetch, sent } = steps(breaks, answers({}));
    const call = clientOf(fetch).request(method, '/v1/meta');
    if (count === 1) await expect(call).rejects.toThrow(ConnectionError);
    else await call;
    expect([method, sent.length]).toEqual([method, count]);
  }
  const { fetch, sent } = steps(fails(403, 'forbidden'));
  await expect(clientOf(fetch).request('GET', '/v1/meta')).rejects.toThrow(ForbiddenError);
  expect(sent).toHaveLength(1);
});

it('does not take for the network what fails on this side', async () => {
  const { fetch, sent } = steps(answers({}));
  let asked = 0;
  const token = (): string => {
    asked++;
    throw new RangeError('signed out');
  };
  await expect(clientOf(fetch, { token }).request('GET', '/v1/meta')).rejects.toThrow('signed out');
  expect([asked, sent.length]).toEqual([1, 0]);
});

it('asks for a fresh token where one is refused, once', async () => {
  const tokens = ['old', 'new', 'newer'];
  const refused: (string | null)[] = [];
  const token = (context: { refused: string | null }): string => {
    refused.push(context.refused);
    return tokens[refused.length - 1] ?? 'none';
  };
  const { fetch, sent } = steps(fails(401, 'unauthorized'), answers({ ok: 1 }));
  expect(await clientOf(fetch, { token }).request('GET', '/v1/meta')).toEqual({ ok: 1 });
  expect(refused).toEqual([null, 'old']);
  expect(sent.map(({ headers }) => headers['authorization'])).toEqual(['Bearer old', 'Bearer new']);
  const never = steps(fails(401, 'unauthorized'));
  await expect(clientOf(never.fetch, { token: () => 'same' }).request('GET', '/v1/meta')).rejects.toThrow(
    UnauthorizedError,
  );
  expect(never.sent).toHaveLength(1);
});

it('ends at its deadline, and when the caller says so', async () => {
  const { fetch } = steps(hangs);
  await expect(clientOf(fetch).request('GET', '/v1/meta', { timeoutMs: 20 })).rejects.toThrow(DeadlineError);
  const stop = new AbortController();
  const call = clientOf(fetch).request('GET', '/v1/meta', { signal: stop.signal });
  stop.abort(new RangeError('enough'));
  await expect(call).rejects.toThrow('enough');
  await expect(clientOf(fetch).request('GET', '/v1/meta', { signal: stop.signal })).rejects.toThrow('enough');
});

it('passes the trace on, of the call or of the client', async () => {
  const { fetch, sent } = steps(answers({}));
  const client = clientOf(fetch, { traceparent: () => '00-a' });
  await client.request('GET', '/v1/meta');
  await client.request('GET', '/v1/meta', { traceparent: '00-b' });
  expect(sent.map(({ headers }) => headers['traceparent'])).toEqual(['00-a', '00-b']);
});

it('takes no redirection, and tells what is not the service', async () => {
  const { fetch } = steps(() => new Response(null, { status: 302, headers: { location: 'http://elsewhere.example' } }));
  await expect(clientOf(fetch).request('GET', '/v1/meta')).rejects.toThrow(ProtocolError);
  const proxy = steps(() => new Response('<html>Bad gateway</html>', { status: 502 }));
  const error = await clientOf(proxy.fetch)
    .request('GET', '/v1/meta')
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 502, code: null });
  await expect(clientOf(steps(() => new Response('<html>')).fetch).request('GET', '/v1/meta')).rejects.toThrow(
    ProtocolError,
  );
});

it('a list that leads to itself ends', async () => {
  const { fetch } = steps(answers({ items: [1], next_cursor: 'c' }));
  const read = async (): Promise<void> => {
    for await (const tenant of clientOf(fetch).tenants()) void tenant;
  };
  await expect(read()).rejects.toThrow(ProtocolError);
});

describe('a feed that is followed', () => {
  const item = (index: number) => ({ log_index: index, type: 'grant.created' });
  const events = (...indexes: readonly number[]): string =>
    indexes.map((index) => `id: ${index}\nevent: x\ndata: ${JSON.stringify(item(index))}\n\n`).join('');
  /** A stream of these pieces, which then ends or breaks. */
  const stream =
    (pieces: readonly string[], end: 'ends' | 'breaks' | 'stays'): Step =>
    () => {
      const left = [...pieces];
      return new Response(
        new ReadableStream({
          pull(controller) {
            const piece = left.shift();
            if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece));
            else if (end === 'ends') controller.close();
            else if (end === 'breaks') controller.error(new TypeError('terminated'));
            else return new Promise(() => undefined);
            return undefined;
          },
        }),
      );
    };

  it('goes on behind what came, with a fresh token, whatever breaks in between', async () => {
    let count = 0;
    const [first = '', second = ''] = [events(3), events(5)];
    const { fetch, sent } = steps(
      stream([': ok\n\n', first, second.slice(0, 20)], 'ends'),
      breaks,
      fails(401, 'unauthorized'),
      stream([second], 'breaks'),
      fails(503, 'unavailable', { 'retry-after': '0' }),
      stream([events(8, 9)], 'stays'),
    );
    const seen: number[] = [];
    const changes = clientOf(fetch, { token: () => `t-${++count}` })
      .tenant('acme')
      .changes({ after: 2, follow: true });
    for await (const { log_index: index } of changes) {
      seen.push(index);
      if (index === 9) break;
    }
    expect(seen).toEqual([3, 5, 8, 9]);
    const after = sent.map(({ url }) => new URL(url).searchParams.get('after'));
    expect(after).toEqual(['2', '3', '3', '3', '5', '5']);
    // Each connection has its own token.
    expect(new Set(sent.map(({ headers }) => headers['authorization'])).size).toBe(sent.length);
  }, 20_000);

  it('is taken up again where it never began, and slowly where it says nothing', async () => {
    const { fetch, sent } = steps(hangs, stream([], 'ends'), stream([events(4)], 'stays'));
    const { value } = await clientOf(fetch).tenant('acme').changes({ follow: true, timeoutMs: 30 }).next();
    expect(Object(value)).toMatchObject({ log_index: 4 });
    expect(sent).toHaveLength(3);
  });

  it('repeats nothing, and does not go back', async () => {
    for (const lie of [events(5, 5), events(5, 4)]) {
      const { fetch } = steps(stream([lie], 'stays'));
      const read = async (): Promise<void> => {
        for await (const change of clientOf(fetch).tenant('acme').changes({ follow: true })) void change;
      };
      await expect(read()).rejects.toMatchObject({ failure: 'feed' });
    }
  });

  it('ends where the caller may no longer read, and when the caller says so', async () => {
    const { fetch } = steps(fails(403, 'forbidden'));
    const next = clientOf(fetch).tenant('acme').changes({ follow: true }).next();
    await expect(next).rejects.toThrow(ForbiddenError);
    const stop = new AbortController();
    const quiet = steps(hangs);
    const waiting = clientOf(quiet.fetch).tenant('acme').changes({ follow: true, signal: stop.signal }).next();
    stop.abort(new RangeError('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
