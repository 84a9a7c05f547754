import { Client } from 'pg';

export { Client } from 'pg';

/*
 * Lets the process survive the loss of any connection to PostgreSQL: the error rejects the running statement, or the next one. Without a
 * listener, it would end the process. The error may come in the packet in which the connection becomes ready, before its user can
 * listen. BullMQ creates its own connections, and listens later too (docs/decisions/0016-nestjs-bullmq.md).
 */
Client.prototype.connect = new Proxy(Client.prototype.connect, {
  apply(connect, client: Client, given: unknown[]) {
    client.on('error', () => undefined);
    return Reflect.apply(connect, client, given);
  },
});
