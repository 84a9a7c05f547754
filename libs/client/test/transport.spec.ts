import {
  ApiError,
  ConfigurationError,
  ConnectionError,
  DeadlineError,
  ForbiddenError,
  IdentityState,
  type IdentityStateOptions,
  momentOfChange,
  ProtocolError,
  RateLimitedError,
  UnauthorizedError,
} from '../src/index.ts';

interface Sent {
  url: string;
  headers: Record<string, string>;
}
type Step = (init: RequestInit | undefined) => Response | Promise<Response>;

/** A service that answers in these steps, and repeats the last one. */
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

/** Pauses before retries are random. The shortest pauses are enough for tests. */
beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => jest.restoreAllMocks());

const clientOf = (fetch: typeof globalThis.fetch, options: Partial<IdentityStateOptions> = {}): IdentityState =>
  new IdentityState({ baseUrl: 'http://service.example/', fetch, token: 't-1', ...options });

it('request retries after Retry-After, under one Idempotency-Key', async () => {
  const { fetch, sent } = steps(
    fails(429, 'rate_limited', { 'retry-after': '0' }),
    breaks,
    fails(503, 'unavailable', { 'retry-after': '0' }),
    fails(404, 'not_logged_yet', { 'retry-after': '0' }),
    answers({ ok: 1 }),
  );
  expect(await clientOf(fetch).request('POST', '/v1/any', { body: { a: 1 } })).toEqual({ ok: 1 });
  expect(sent).toHaveLength(5);
  expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect(sent[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
  const own = steps(breaks, answers({}));
  await clientOf(own.fetch).request('POST', '/v1/any', { idempotencyKey: 'own' });
  expect(own.sent.map(({ headers }) => headers['idempotency-key'])).toEqual(['own', 'own']);
});

it('request fails at once with retryAfterMs if Retry-After exceeds the timeout', async () => {
  const { fetch, sent } = steps(fails(429, 'rate_limited', { 'retry-after': '60' }));
  const refused = await clientOf(fetch)
    .request('GET', '/v1/meta', { timeoutMs: 5_000 })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RateLimitedError);
  expect(refused).toMatchObject({ retryAfterMs: 60_000, requestId: 'r-7' });
  expect(sent).toHaveLength(1);
});

it('request retries GET and POST after a broken connection, and no PATCH, DELETE or 403', async () => {
  for (const [method, count] of [
    ['GET', 2],
    ['POST', 2],
    ['PATCH', 1],
    ['DELETE', 1],
  ] as const) {
    const { fetch, sent } = steps(breaks, answers({}));
    const call = clientOf(fetch).request(method, '/v1/any');
    if (count === 1) await expect(call).rejects.toThrow(ConnectionError);
    else await call;
    expect([method, sent.length]).toEqual([method, count]);
  }
  const { fetch, sent } = steps(fails(403, 'forbidden'));
  await expect(clientOf(fetch).request('GET', '/v1/meta')).rejects.toThrow(ForbiddenError);
  expect(sent).toHaveLength(1);
});

it('request encodes path parameters, and leaves out query parameters without a value', async () => {
  const { fetch, sent } = steps(answers({ items: [], next_cursor: null, has_more: false }));
  const path = { tenant_id: 'acme', subject_type: 'organization', subject_id: 'a/b' } as const;
  await clientOf(fetch).request('GET', '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/grants', {
    path,
    query: { limit: 2, cursor: null },
  });
  expect(sent[0]?.url).toBe('http://service.example/v1/tenants/acme/subjects/organization/a%2Fb/grants?limit=2');
  const up = clientOf(fetch).request('GET', '/v1/tenants/{tenant_id}', { path: { tenant_id: '..' } });
  await expect(up).rejects.toThrow(ConfigurationError);
});

it.each([502, 504])('request retries GET and POST after %i, and no PATCH', async (status) => {
  for (const [method, count] of [
    ['GET', 2],
    ['POST', 2],
    ['PATCH', 1],
  ] as const) {
    const { fetch, sent } = steps(() => new Response('<html>', { status }), answers({}));
    const call = clientOf(fetch).request(method, '/v1/any');
    if (count === 1) await expect(call).rejects.toMatchObject({ status });
    else await call;
    expect([method, sent.length]).toEqual([method, count]);
  }
});

it('onResponse receives the status and request id of each answer', async () => {
  const heard: unknown[] = [];
  const { fetch } = steps(
    () => new Response(null, { status: 503, headers: { 'retry-after': '0', 'x-request-id': 'r-1' } }),
    () => new Response('{}', { headers: { 'x-request-id': 'r-2' } }),
  );
  await clientOf(fetch, { onResponse: (one) => heard.push(one) }).request('GET', '/v1/meta');
  expect(heard).toEqual([
    { status: 503, requestId: 'r-1' },
    { status: 200, requestId: 'r-2' },
  ]);
});

it('request makes at most maxAttempts attempts', async () => {
  const { fetch, sent } = steps(breaks);
  await expect(clientOf(fetch, { maxAttempts: 2 }).request('GET', '/v1/meta')).rejects.toThrow(ConnectionError);
  expect(sent).toHaveLength(2);
});

it('request names the cause of a failed connection', async () => {
  const { fetch } = steps(() => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });
  });
  const call = clientOf(fetch, { maxAttempts: 1 }).request('GET', '/v1/meta');
  await expect(call).rejects.toThrow('GET /v1/meta: no answer (fetch failed: ECONNREFUSED).');
});

it.each([
  'nonsense',
  'ftp://service.example',
  'http://ann:s3cret@service.example',
  'http://service.example/?key=s3cret',
])('IdentityState refuses baseUrl %s without repeating its secret', (baseUrl) => {
  const made = (): IdentityState => new IdentityState({ baseUrl });
  expect(made).toThrow(ConfigurationError);
  expect(made).not.toThrow(/s3cret/);
});

it('an error never contains the token, even if an answer repeats it', async () => {
  const token = 'eyJhbGciOiJ.s3cret';
  const errors = await Promise.all(
    [
      steps(() => {
        throw new TypeError(`Invalid header Bearer ${token}`);
      }),
      steps(() => new Response(`You sent ${token}`, { status: 502 })),
      steps(() => Response.json({ error: { code: 'forbidden', message: token, request_id: 'r' } }, { status: 403 })),
      steps(() => new Response(`Token ${token}`)),
    ].map(({ fetch }) => clientOf(fetch, { token, maxAttempts: 1 }).request('GET', '/v1/meta').catch(String)),
  );
  for (const error of errors) {
    expect(error).toMatch(/Error/);
    expect(error).not.toContain('s3cret');
  }
  const unsendable = clientOf(steps(answers({})).fetch, { token: 's3cret\r\nX-Other: 1' }).request('GET', '/v1/meta');
  await expect(unsendable).rejects.toThrow(ConfigurationError);
  await expect(unsendable).rejects.not.toThrow(/s3cret/);
});

it('an answer longer than maxAnswerBytes is refused', async () => {
  const long = steps(() => new Response(`"${'x'.repeat(100)}"`));
  await expect(clientOf(long.fetch, { maxAnswerBytes: 100 }).request('GET', '/v1/meta')).rejects.toThrow(ProtocolError);
  const refusal = steps(() => new Response('x'.repeat(101), { status: 500 }));
  await expect(clientOf(refusal.fetch, { maxAnswerBytes: 100 }).request('GET', '/v1/meta')).rejects.toThrow(
    ProtocolError,
  );
  const event = steps(() => new Response(`${'data: 1\n'.repeat(20)}\n`));
  const next = clientOf(event.fetch, { maxAnswerBytes: 100 }).tenant('acme').changes({ follow: true }).next();
  await expect(next).rejects.toThrow(ProtocolError);
});

/** Answers of a server that is not the service, or is broken. */
const BROKEN: unknown[] = [
  {},
  null,
  [],
  'text',
  7,
  { items: null },
  { items: 'text' },
  { items: [null] },
  { items: ['x'] },
];

it.each<[string, (client: IdentityState) => Promise<unknown>]>([
  ['tenants', (client) => client.tenants().next()],
  ['createTenant', (client) => client.createTenant({ tenant_id: 'a', name: 'A' })],
  ['latest', (client) => client.tenant('a').organization('b').latest()],
  ['history', (client) => client.tenant('a').organization('b').history().next()],
  ['headers', (client) => client.tenant('a').organization('b').headers().next()],
  ['export', (client) => client.tenant('a').organization('b').export().next()],
  ['diff', (client) => client.tenant('a').organization('b').diff({ from: 1, to: 2 })],
  ['provenance', (client) => client.tenant('a').organization('b').provenance().next()],
  ['propose', (client) => client.tenant('a').organization('b').propose({ base_snapshot_version: 1, patch_ops: [] })],
  ['apply', (client) => client.tenant('a').organization('b').apply('u')],
  ['share', (client) => client.tenant('a').organization('b').share({ grantee_tenant_id: 'c', scopes: [] })],
  ['updates', (client) => client.tenant('a').updates().next()],
  ['subjects', (client) => client.tenant('a').subjects().next()],
  ['principals', (client) => client.tenant('a').principals().next()],
  ['changes', (client) => client.tenant('a').changes().next()],
  ['grants', (client) => client.tenant('a').grants.list().next()],
  ['revoke', (client) => client.tenant('a').grants.revoke('g')],
  [
    'createMany',
    (client) => client.tenant('a').grants.createMany([{ grantee_tenant_id: 'c', subject_type: '*', scopes: [] }]),
  ],
  ['refreshRequests', (client) => client.tenant('a').refreshRequests().next()],
  ['ask', (client) => client.tenant('a').organization('b').refreshRequests.create({ requesting_tenant_id: 'a' })],
  ['hook', (client) => client.tenant('a').webhooks.create({ target_url: 'https://h.example', event_types: [] })],
  ['delivery', (client) => client.tenant('a').webhooks.delivery('w', 'd')],
  ['replay', (client) => client.tenant('a').webhooks.replay('w', { from: '2026-01-01T00:00:00Z' })],
])('%s refuses every malformed answer', async (_what, call) => {
  for (const answer of BROKEN) {
    // A stream consists of lines, and its last line is complete.
    const { fetch } = steps(() => new Response(`${JSON.stringify(answer)}\n`));
    const failed = await call(clientOf(fetch)).catch((error: unknown) => error);
    expect([answer, failed]).toEqual([answer, expect.any(ProtocolError)]);
  }
});

it('request does not retry if the token function throws', async () => {
  const { fetch, sent } = steps(answers({}));
  let asked = 0;
  const token = (): string => {
    asked++;
    throw new RangeError('signed out');
  };
  await expect(clientOf(fetch, { token }).request('GET', '/v1/meta')).rejects.toThrow('signed out');
  expect([asked, sent.length]).toEqual([1, 0]);
});

it('request asks once for a new token after a 401', async () => {
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

it('request ends at its deadline, and when the caller aborts', async () => {
  const { fetch } = steps(hangs);
  await expect(clientOf(fetch).request('GET', '/v1/meta', { timeoutMs: 20 })).rejects.toThrow(DeadlineError);
  const stop = new AbortController();
  const call = clientOf(fetch).request('GET', '/v1/meta', { signal: stop.signal });
  stop.abort(new RangeError('enough'));
  await expect(call).rejects.toThrow('enough');
  await expect(clientOf(fetch).request('GET', '/v1/meta', { signal: stop.signal })).rejects.toThrow('enough');
});

it('request sends the traceparent of the call or of the client', async () => {
  const { fetch, sent } = steps(answers({}));
  const client = clientOf(fetch, { traceparent: () => '00-a' });
  await client.request('GET', '/v1/meta');
  await client.request('GET', '/v1/meta', { traceparent: '00-b' });
  expect(sent.map(({ headers }) => headers['traceparent'])).toEqual(['00-a', '00-b']);
});

it('request refuses redirects and answers that are not from the service', async () => {
  const { fetch } = steps((init) => {
    // With another mode, the platform would send the token to the other server.
    expect(init?.redirect).toBe('manual');
    return new Response(null, { status: 302, headers: { location: 'http://elsewhere.example' } });
  });
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

it.each(['.evil.example/v1/meta', '@evil.example/v1/meta', ':1/v1/meta', 'https://evil.example/'])(
  'request sends no token to %s',
  async (path) => {
    const { fetch, sent } = steps(answers({}));
    await expect(clientOf(fetch).request('GET', path)).rejects.toThrow(/ must start with \/\.$/);
    expect(sent).toEqual([]);
  },
);

it.each([
  ['to the same page', () => 'c', [{ tenant_id: 'acme' }]],
  ['in a circle', (page: number) => `c-${page % 3}`, [{ tenant_id: 'acme' }]],
  ['through empty pages', (page: number) => `c-${page}`, []],
])('a list fails if its cursors lead %s', async (_where, cursorOf, items) => {
  let page = 0;
  const { fetch } = steps(() => {
    if (page > 2_000) throw new Error('The list does not end.');
    return Response.json({ items, next_cursor: cursorOf(page++) });
  });
  const read = async (): Promise<void> => {
    for await (const tenant of clientOf(fetch).tenants()) void tenant;
  };
  await expect(read()).rejects.toThrow(ProtocolError);
});

describe('a feed of changes', () => {
  const item = (index: number) => ({
    log_index: index,
    type: 'tenant.owner_changed',
    tenant_id: 'a',
    changed_at: '2026-01-01',
  });
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

  it('resumes after the last event with a new token, despite failures', async () => {
    let count = 0;
    const [first = '', second = ''] = [events(3), events(5)];
    const { fetch, sent } = steps(
      stream([': ok\n\n', first, second.slice(0, 20)], 'ends'),
      breaks,
      fails(401, 'unauthorized'),
      stream([': incomplete\n\n', second], 'breaks'),
      fails(503, 'unavailable', { 'retry-after': '0' }),
      stream([events(8, 9)], 'stays'),
    );
    const seen: number[] = [];
    const connections: boolean[] = [];
    const changes = clientOf(fetch, { token: () => `t-${++count}` })
      .tenant('acme')
      .changes({
        ...{ after: 2, follow: true, onIncomplete: () => seen.push(-1) },
        onConnected: (isConnected) => connections.push(isConnected),
      });
    for await (const { log_index: index } of changes) {
      seen.push(index);
      if (index === 9) break;
    }
    expect(seen).toEqual([3, -1, 5, 8, 9]);
    expect(connections.at(0)).toBe(true);
    expect(connections).toContain(false);
    expect(connections.at(-1)).toBe(true);
    const after = sent.map(({ url }) => new URL(url).searchParams.get('after'));
    expect(after).toEqual(['2', '3', '3', '3', '5', '5']);
    // Each connection has its own token.
    expect(new Set(sent.map(({ headers }) => headers['authorization'])).size).toBe(sent.length);
  });

  it('reconnects after a timeout and after an empty stream', async () => {
    const { fetch, sent } = steps(hangs, stream([], 'ends'), stream([events(4)], 'stays'));
    const { value } = await clientOf(fetch).tenant('acme').changes({ follow: true, timeoutMs: 30 }).next();
    expect(Object(value)).toMatchObject({ log_index: 4 });
    expect(sent).toHaveLength(3);
  });

  it('waits for Retry-After before it reconnects', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    try {
      const { fetch, sent } = steps(fails(503, 'unavailable', { 'retry-after': '7' }), stream([events(4)], 'stays'));
      const next = clientOf(fetch).tenant('acme').changes({ follow: true }).next();
      await jest.advanceTimersByTimeAsync(6_999);
      expect(sent).toHaveLength(1);
      await jest.advanceTimersByTimeAsync(1);
      expect(Object((await next).value)).toMatchObject({ log_index: 4 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('reconnects after a 401, and ends after two 401 in succession', async () => {
    const refused = fails(401, 'unauthorized');
    const { fetch, sent } = steps(refused, stream([events(4)], 'ends'), refused, stream([events(5)], 'ends'), refused);
    const seen: number[] = [];
    const read = async (): Promise<void> => {
      for await (const { log_index: index } of clientOf(fetch).tenant('acme').changes({ follow: true }))
        seen.push(index);
    };
    await expect(read()).rejects.toThrow(UnauthorizedError);
    expect([seen, sent.length]).toEqual([[4, 5], 6]);
  });

  it('returns changes of unknown types, and refuses malformed changes of known types', async () => {
    const pageOf = (change: object): Step =>
      answers({ items: [{ log_index: 1, ...change }], next_after: 1, has_more: false });
    const next = (change: object) =>
      clientOf(steps(pageOf(change)).fetch)
        .tenant('acme')
        .changes()
        .next();
    const { value } = await next({ type: 'moon.landed', at: 1 });
    expect(value).toEqual({ log_index: 1, type: 'moon.landed', at: 1 });
    expect(value && momentOfChange(value)).toBe('');
    for (const broken of [
      { type: 'grant.created', created_at: '2026-01-01T00:00:00Z' },
      { type: 'snapshot.created', subject: null },
      { type: 'tenant.owner_changed', tenant_id: 'a', changed_at: 'soon' },
    ]) {
      await expect(next(broken)).rejects.toThrow(ProtocolError);
    }
  });

  it('is refused if next_after goes back, or if too many pages are empty', async () => {
    const all = async (fetch: typeof globalThis.fetch): Promise<void> => {
      for await (const change of clientOf(fetch).tenant('acme').changes({ after: 9 })) void change;
    };
    const back = steps(answers({ items: [], next_after: 8, has_more: false }));
    await expect(all(back.fetch)).rejects.toMatchObject({ failure: 'feed' });
    let place = 9;
    const empty = steps(() => Response.json({ items: [], next_after: ++place, has_more: true }));
    await expect(all(empty.fetch)).rejects.toMatchObject({ failure: 'feed' });
  });

  it('is refused if it repeats an event or goes back', async () => {
    for (const lie of [events(5, 5), events(5, 4)]) {
      const { fetch } = steps(stream([lie], 'stays'));
      const read = async (): Promise<void> => {
        for await (const change of clientOf(fetch).tenant('acme').changes({ follow: true })) void change;
      };
      await expect(read()).rejects.toMatchObject({ failure: 'feed' });
    }
  });

  it('ends with a 403, and when the caller aborts', async () => {
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
