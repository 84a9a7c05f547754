import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Client } from './client';

/** AuthenticationOk and ReadyForQuery, then the error of a server that stops. */
const STOPPING = Buffer.concat([
  Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1'),
  Buffer.from('E\0\0\0\x16SFATAL\0C57P01\0M-\0\0', 'latin1'),
]);

it('a connection that is lost when it becomes ready rejects its first statement, and does not end the process', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.end(STOPPING)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new Client({ host: '127.0.0.1', port, user: 'u', database: 'd' });
  await client.connect();
  await expect(client.query('SELECT 1')).rejects.toThrow();
  server.close();
});
