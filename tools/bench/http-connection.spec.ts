import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { HttpConnection, requestBytes } from './http-connection.ts';

const servers: (Server | TcpServer)[] = [];
const connections: HttpConnection[] = [];

afterEach(() => {
  connections.splice(0).forEach((connection) => connection.close());
  servers.splice(0).forEach((server) => server.close());
});

async function connectTo(server: Server | TcpServer): Promise<HttpConnection> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address !== 'object') throw new Error('no port');
  const connection = await HttpConnection.open(address.port);
  connections.push(connection);
  return connection;
}

const toHttp = (listener: RequestListener): Promise<HttpConnection> => connectTo(createServer(listener));

/** Connects to a server that answers each request with these bytes, piece by piece. */
const toPieces = (...pieces: string[]): Promise<HttpConnection> =>
  connectTo(
    createTcpServer((socket) => {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      // The pause lets the client read each piece separately.
      const write = ([piece, ...others]: readonly string[]): void => {
        if (piece === undefined) return;
        socket.write(piece, 'latin1');
        setTimeout(write, 5, others);
      };
      socket.on('data', () => write(pieces));
    }),
  );

const GET = requestBytes('GET', '/', { Authorization: 'Bearer x' });

it('sends a valid request to a Node server and reads the response', async () => {
  const connection = await toHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = JSON.stringify({
        method: request.method,
        url: request.url,
        authorization: request.headers.authorization,
        length: request.headers['content-length'],
        body: Buffer.concat(chunks).toString('utf8'),
      });
      response.writeHead(201, { 'Content-Length': Buffer.byteLength(text) }).end(text);
    });
  });
  const { status, body } = await connection.send(requestBytes('POST', '/a?b', { Authorization: 'Bearer x' }, '"ö"'));
  expect(status).toBe(201);
  expect(JSON.parse(body.toString('utf8'))).toEqual({
    method: 'POST',
    url: '/a?b',
    authorization: 'Bearer x',
    length: '4',
    body: '"ö"',
  });
});

it('reads consecutive responses of all sizes on one connection', async () => {
  const sizes = [10, 300_000, 0, 64 * 1024, 5];
  let asked = 0;
  const connection = await toHttp((_request, response) => {
    const text = 'x'.repeat(sizes[asked++] ?? 0);
    response.setHeader('Content-Length', text.length);
    response.end(text);
  });
  for (const size of sizes) {
    const { status, body } = await connection.send(GET);
    expect(status).toBe(200);
    expect(body.equals(Buffer.alloc(size, 'x'))).toBe(true);
  }
});

it.each([204, 304])('reads a response with status %s without a body', async (status) => {
  const connection = await toHttp((_request, response) => response.writeHead(status, { ETag: '"x"' }).end());
  for (let time = 0; time < 3; time++) {
    const answer = await connection.send(GET);
    expect(answer.status).toBe(status);
    expect(answer.body).toHaveLength(0);
  }
});

const HEAD = 'HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\n';

it.each(Array.from({ length: HEAD.length + 5 }, (_, at) => at).filter((at) => at % 7 === 1 || at > HEAD.length - 6))(
  'reads a response that arrives in two parts, split at byte %s',
  async (at) => {
    const whole = `${HEAD}hello`;
    const connection = await toPieces(whole.slice(0, at), whole.slice(at));
    for (let time = 0; time < 2; time++) {
      const { status, body } = await connection.send(GET);
      expect([status, body.toString('latin1')]).toEqual([200, 'hello']);
    }
  },
);

it('reads a response that arrives byte by byte', async () => {
  const connection = await toPieces(...`${HEAD}hello`);
  expect((await connection.send(GET)).body.toString('latin1')).toBe('hello');
});

it('reads Content-Length in any case and without a space', async () => {
  const connection = await toPieces('HTTP/1.1 200 OK\r\ncontent-length:5\r\nConnection: keep-alive\r\n\r\nhello');
  expect((await connection.send(GET)).body.toString('latin1')).toBe('hello');
});

it('ignores a Content-Length in the body', async () => {
  const connection = await toPieces('HTTP/1.1 200 OK\r\nContent-length: 24\r\n\r\n..\r\nContent-Length: 999.');
  expect((await connection.send(GET)).body).toHaveLength(24);
});

it('fails when the body is longer than announced', async () => {
  const connection = await toPieces(`${HEAD}hello, world`);
  await expect(connection.send(GET)).rejects.toThrow('More bytes than announced: , world');
  await expect(connection.send(GET)).rejects.toThrow('More bytes');
});

it('fails when the connection ends before the announced length', async () => {
  const connection = await connectTo(createTcpServer((socket) => void socket.on('data', () => socket.end(`${HEAD}hel`))));
  await expect(connection.send(GET)).rejects.toThrow('The server closed the connection');
});

it('fails when no length is announced', async () => {
  const connection = await toHttp((_request, response) => {
    response.write('a');
    response.end('b');
  });
  await expect(connection.send(GET)).rejects.toThrow('without Content-Length');
});

it('fails when no server listens on the port', async () => {
  const server = createServer();
  await connectTo(server);
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  connections.splice(0).forEach((connection) => connection.close());
  await new Promise((resolve) => server.close(resolve));
  servers.length = 0;
  await expect(HttpConnection.open(port)).rejects.toThrow('ECONNREFUSED');
});
