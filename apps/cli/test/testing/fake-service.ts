import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { LONG_LIVED } from '../../../../tools/processes';

/** Answers the requests of `iss` from a table, and remembers them. */
export interface FakeService {
  readonly url: string;
  /** The requests so far, as `METHOD path?query`, with body and token. */
  readonly asked: { request: string; body: unknown; authorization: string | undefined }[];
  /** Answers by `METHOD path` without the query. A function makes an answer. Other requests get 404. */
  answers: Record<string, unknown>;
  close(): void;
}

/** An answer that is an error. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly message: string,
  ) {}
}

export async function fakeService(): Promise<FakeService> {
  const fake: Pick<FakeService, 'asked' | 'answers'> = { asked: [], answers: {} };
  const server = createServer(LONG_LIVED, (request, response) => {
    const answer = async (): Promise<void> => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const sent = await text(request);
      const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
      const body: unknown = isForm ? Object.fromEntries(new URLSearchParams(sent)) : JSON.parse(sent || 'null');
      fake.asked.push({
        request: `${request.method} ${pathname}${search}`,
        body,
        authorization: request.headers.authorization,
      });
      const known = fake.answers[`${request.method} ${pathname}`];
      const given: unknown = typeof known === 'function' ? known() : known;
      const found = given === undefined ? new Refusal(404, 'not_found', 'There is no such thing.') : given;
      if (found instanceof Refusal) {
        const { status, code, message } = found;
        response.writeHead(status).end(JSON.stringify({ error: { code, message, request_id: 'r-1' } }));
        return;
      }
      response.end(JSON.stringify(found));
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(fake, {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
}
