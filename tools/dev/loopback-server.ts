import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** Listens on 127.0.0.1 and, if available, on ::1, since `localhost` can be either. */
export async function listenOnLoopback(port: number, create: () => Server): Promise<Server[]> {
  const servers: Server[] = [];
  for (const host of ['127.0.0.1', '::1']) {
    const server = create();
    const error = await new Promise<Error | undefined>((resolve) => {
      server.once('error', resolve);
      server.listen(port, host, () => resolve(undefined));
    });
    if (error === undefined) servers.push(server);
    else if (host === '127.0.0.1') throw error;
  }
  return servers;
}

export async function stopServers(servers: Server[]): Promise<void> {
  await Promise.all(
    servers.map((server) => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      return closed;
    }),
  );
}

/** Reads the raw bytes of a request's body, which signatures cover. */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error('The body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export async function readBody(request: IncomingMessage): Promise<string> {
  return (await readBytes(request)).toString('utf8');
}

export function sendHtml(response: ServerResponse, status: number, html: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  };
  response.writeHead(status, headers).end(html);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body, null, 2));
}
