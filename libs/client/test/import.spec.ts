import { createHash } from 'node:crypto';
import { canonicalize } from '@iss/domain/pure';
import { IdentityState, type ImportProgress, ProtocolError } from '../src/index.ts';
import { jsonOf } from '../src/json.ts';
import { IMPORT_CHARACTERS } from '../src/limits.ts';

/** Receives batches. `plan` says what happens to each of them. */
class Archive {
  readonly stored = new Map<string, string>();
  readonly batches: number[] = [];
  createdAt = new Date().toISOString();
  retryAfter = 0;
  constructor(private readonly plan: readonly ('done' | 'breaks' | 'busy' | 'slow' | 'fails' | 'late' | 'forges')[]) {}

  readonly fetch: typeof fetch = async (_, init) => {
    const kind = this.plan[this.batches.length] ?? 'done';
    const lines = String(init?.body).trim().split('\n');
    this.batches.push(lines.length);
    if (kind === 'busy') {
      const error = { code: 'unavailable', message: 'Later.', request_id: 'r' };
      return new Response(JSON.stringify({ error }), { status: 503, headers: { 'retry-after': '0' } });
    }
    const results = lines.map((text, index) => this.take(text, index + 1, kind));
    // The connection ends after one and a half results.
    const text = results.map((one) => `${JSON.stringify(one)}\n`).join('');
    return new Response(kind === 'breaks' ? text.slice(0, text.indexOf('\n') + 20) : text);
  };

  private take(text: string, line: number, kind: string): object {
    const { snapshot_id: id }: { snapshot_id: string } = JSON.parse(text);
    if (id.startsWith('bad'))
      return { line, status: 409, error: { code: 'conflict', message: 'No.', request_id: 'r' } };
    if (kind === 'slow' && line > 1)
      return { line, status: 429, retry_after: this.retryAfter, error: { code: 'rate_limited', message: 'Later.' } };
    if (kind === 'late' && line > 1)
      return { line, status: 408, retry_after: this.retryAfter, error: { code: 'timeout', message: 'Too slow.' } };
    if (kind === 'fails' && line > 1)
      return { line, status: 503, retry_after: this.retryAfter, error: { code: 'unavailable', message: 'Later.' } };
    const hash = createHash('sha256')
      .update(kind === 'forges' ? 'other' : text)
      .digest('hex');
    const status = this.stored.has(id) ? 200 : 201;
    this.stored.set(id, text);
    return { line, status, snapshot_id: id, envelope_hash: hash, created_at: this.createdAt };
  }
}

const records = (...ids: readonly string[]): string[] => ids.map((id) => JSON.stringify({ z: 1, snapshot_id: id }));
const tenantOf = (archive: Archive) =>
  new IdentityState({ baseUrl: 'http://service.example', fetch: archive.fetch }).tenant('acme');

it('import stores each record once despite failures, and reports its progress', async () => {
  const archive = new Archive(['breaks', 'busy', 'slow', 'done']);
  const progress: ImportProgress[] = [];
  const report = await tenantOf(archive).import(records('a', 'b', 'bad', 'c'), {
    onProgress: (at) => progress.push(at),
  });
  expect(report).toMatchObject({
    settled: 4,
    stored: 3,
    known: 0,
    refused: 1,
    refusals: [{ index: 2, result: { status: 409 } }],
  });
  expect([...archive.stored.keys()]).toEqual(['a', 'b', 'c']);
  expect(archive.batches).toEqual([4, 3, 3, 1]);
  expect(progress.map(({ settled }) => settled)).toEqual([1, 2, 3, 4]);
});

it('import counts existing records as known, even after a lost answer', async () => {
  const archive = new Archive(['breaks', 'done']);
  archive.createdAt = '2026-01-01T00:00:00Z';
  archive.stored.set('b', '');
  expect(await tenantOf(archive).import(records('a', 'b'))).toMatchObject({ settled: 2, stored: 1, known: 1 });
});

it('import resumes from an index, and reads records from an async generator', async () => {
  async function* lines(): AsyncGenerator<string> {
    yield* records('a', 'b', 'c');
  }
  const archive = new Archive([]);
  expect(await tenantOf(archive).import(lines(), { from: 2 })).toMatchObject({ settled: 3, stored: 1 });
  expect([...archive.stored.keys()]).toEqual(['c']);
  // The hash is computed from the text that is sent.
  expect(archive.stored.get('c')).toBe(canonicalize(jsonOf({ z: 1, snapshot_id: 'c' })));
});

it('import retries a line that failed with 5xx, and does not count it as refused', async () => {
  const archive = new Archive([]);
  archive.stored.set('a', '');
  expect(await tenantOf(archive).import(records('a'))).toMatchObject({ settled: 1, stored: 0, known: 1 });
});

it.each([
  ['failed with 5xx', 'fails'],
  ['took too long', 'late'],
] as const)('sends a line again that %s, and does not count it as refused', async (_, kind) => {
  const archive = new Archive([kind]);
  const report = await tenantOf(archive).import(records('a', 'b'));
  expect(report).toMatchObject({ settled: 2, stored: 2, refused: 0 });
  expect(archive.batches).toEqual([2, 1]);
});

it('import continues while each request stores a record, and waits for retry_after', async () => {
  jest.useFakeTimers();
  try {
    const archive = new Archive(['slow', 'fails', 'slow', 'fails', 'slow']);
    archive.retryAfter = 7;
    const report = tenantOf(archive).import(records('a', 'b', 'c', 'd', 'e', 'f'));
    for (let requests = 1; requests < 6; requests++) {
      await jest.advanceTimersByTimeAsync(6_999);
      expect(archive.batches).toHaveLength(requests);
      await jest.advanceTimersByTimeAsync(1);
    }
    expect(await report).toMatchObject({ settled: 6, stored: 6 });
  } finally {
    jest.useRealTimers();
  }
});

it('import sends at most 1,000 records per request', async () => {
  const archive = new Archive([]);
  await tenantOf(archive).import(records(...Array.from({ length: 2_001 }, (_, index) => `r-${index}`)));
  expect(archive.batches).toEqual([1_000, 1_000, 1]);
});

it('sends requests of at most four million characters', async () => {
  const archive = new Archive([]);
  const padding = 'x'.repeat(Math.floor(IMPORT_CHARACTERS * 0.4));
  const large = ['a', 'b', 'c', 'd', 'e'].map((id) => JSON.stringify({ padding, snapshot_id: id }));
  await tenantOf(archive).import(large);
  expect(archive.batches).toEqual([2, 2, 1]);
});

it.each([
  {},
  null,
  { line: 1 },
  { line: 1, status: 'ok' },
  { line: 1, status: 204 },
  { line: 1, status: 302, error: { code: 'moved', message: 'Elsewhere.' } },
  { line: 1, status: 409 },
  { line: 2, status: 201 },
])('import refuses the result %j', async (result) => {
  const fetch = async (): Promise<Response> => new Response(`${JSON.stringify(result)}\n`);
  const tenant = new IdentityState({ baseUrl: 'http://service.example', fetch }).tenant('acme');
  await expect(tenant.import(records('a'))).rejects.toThrow(ProtocolError);
});

it('import fails after 5 requests without progress, and if a result has another hash', async () => {
  const broken = new Archive(Array.from({ length: 9 }, () => 'busy' as const));
  await expect(tenantOf(broken).import(records('a'))).rejects.toMatchObject({ name: 'UnavailableError' });
  expect(broken.batches).toHaveLength(5);
  await expect(tenantOf(new Archive(['forges'])).import(records('a'))).rejects.toMatchObject({ failure: 'written' });
});
