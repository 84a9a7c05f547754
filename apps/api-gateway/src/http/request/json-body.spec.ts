import { PassThrough } from 'node:stream';
import type { Request } from 'express';
import { readBody } from './json-body';

const MAX_BYTES = 8;

/** A request whose body still arrives. */
function arriving(headers: Record<string, string> = {}): PassThrough & Request {
  return Object.assign(new PassThrough(), { headers, complete: false }) as unknown as PassThrough & Request;
}

it('readBody accepts a body of exactly the limit, and refuses one byte more', async () => {
  for (const [bytes, outcome] of [
    [MAX_BYTES, 'x'.repeat(MAX_BYTES)],
    [MAX_BYTES + 1, 'payload_too_large'],
  ] as const) {
    const request = arriving();
    const read = readBody(request, MAX_BYTES).then(String, ({ code }: { code: string }) => code);
    request.write('x');
    request.end('x'.repeat(bytes - 1));
    expect(await read).toBe(outcome);
  }
});

it('readBody refuses a body by its content-length before any of it arrives', async () => {
  const request = arriving({ 'content-length': String(MAX_BYTES + 1) });
  const read = readBody(request, MAX_BYTES);
  request.end();
  await expect(read).rejects.toMatchObject({ code: 'payload_too_large' });
});

it.each(['aborted', 'error'])('readBody refuses a body that ends early: %s', async (event) => {
  const request = arriving();
  const read = readBody(request, MAX_BYTES);
  request.write('x');
  request.emit(event);
  request.end();
  await expect(read).rejects.toMatchObject({ code: 'validation_error' });
});
