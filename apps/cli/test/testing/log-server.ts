import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { LONG_LIVED } from '../../../../tools/processes';

/** Serves the files of a log below the prefix `/log`. */
export interface LogServer {
  readonly url: string;
  /**
   * Sets the checkpoint that the server shows from now on. If only a checkpoint is given, there is no proof, and the
   * answer is 404. `read` returns other files below the prefix.
   */
  show(shown: {
    checkpoint: string;
    consistency?: (from: number, to: number) => Promise<object>;
    read?: (path: string) => string | Uint8Array | { status: number; body: string } | null;
  }): void;
  close(): void;
}

export async function serveLog(): Promise<LogServer> {
  let shown: Parameters<LogServer['show']>[0] = { checkpoint: '' };
  const answer = async (path: string): Promise<[status: number, body: string | Uint8Array]> => {
    if (path === '/log/checkpoint') return [200, shown.checkpoint];
    const file = shown.read?.(path.replace('/log/', '')) ?? null;
    if (file !== null) return typeof file === 'object' && 'status' in file ? [file.status, file.body] : [200, file];
    const [, from, to] = /^\/log\/consistency\?from=(\d+)&to=(\d+)$/.exec(path) ?? [];
    if (from === undefined || shown.consistency === undefined) return [404, 'not found'];
    return [200, JSON.stringify(await shown.consistency(Number(from), Number(to)))];
  };
  const server = createServer(LONG_LIVED, (request, response) => {
    answer(request.url ?? '').then(
      ([status, body]) => response.writeHead(status).end(body),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/log`,
    show: (next) => {
      shown = next;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
