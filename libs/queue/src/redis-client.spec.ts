import type { EventEmitter } from 'node:events';
import { RedisClients } from './redis-client';

interface Copied {
  duplicate(): EventEmitter & { disconnect(): void };
}

it.each(['redis://127.0.0.1:1', 'redis+sentinel://127.0.0.1:1?master=main', 'redis+cluster://127.0.0.1:1'])(
  'handles errors of a duplicate client, which ioredis would otherwise print (%s)',
  (url) => {
    const { client, close } = new RedisClients(url, () => undefined).open('waits');
    const copied: Copied = client;
    const copy = copied.duplicate();
    expect(copy.listenerCount('error')).toBe(1);
    copy.disconnect();
    close();
  },
);
