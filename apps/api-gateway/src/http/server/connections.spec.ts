import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { DEFAULT_CONNECTION_LIMITS } from '@iss/platform';
import { Registry } from 'prom-client';
import { waitFor } from '../../../../../tools/testing/wait-for';
import { Connections } from './connections';
import { EndedRequests } from './ended-requests';

/** A peer with much unread data. At each look it has taken the same number of bytes. */
class Peer extends EventEmitter {
  readonly writableLength = 1_000_000;
  looks = 0;
  isClosed = false;

  constructor(private readonly bytesEachLook: number) {
    super();
  }

  get bytesWritten(): number {
    this.looks += 1;
    return this.looks * this.bytesEachLook;
  }

  destroy(): void {
    this.isClosed = true;
    this.emit('close');
  }
}

it('Connections closes the connection of a peer that reads too slowly, but not of one that reads fast', async () => {
  const ended = new EndedRequests();
  const metrics = new Registry();
  ended.register(metrics);
  const server = new EventEmitter();
  new Connections({ ...DEFAULT_CONNECTION_LIMITS, writeTimeoutMs: 20 }, ended).bound(server as unknown as Server);
  const [slow, fast] = [new Peer(10), new Peer(16 * 1024)];
  server.emit('connection', slow);
  server.emit('connection', fast);
  await waitFor(() => slow.isClosed);
  const looks = fast.looks;
  await waitFor(() => fast.looks > looks);
  expect(fast.isClosed).toBe(false);
  expect(await metrics.metrics()).toContain('http_requests_ended_total{cause="slow_reader"} 1');
  server.emit('close');
});
