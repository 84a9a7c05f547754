import { DEFAULT_CONNECTION_LIMITS } from '@iss/platform';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request, type Response } from 'express';
import { Client } from 'undici';
import { createGatewayServer } from './gateway-server';

let server: Server | undefined;

afterEach(() => server?.close());

it.each(['closeAfterAnswers', 'drain'] as const)(
  '%s makes each response the last one on its connection',
  async (how) => {
    const application = express();
    application.get('/', (_request: Request, response: Response) => response.end());
    const gateway = createGatewayServer(application, { connections: DEFAULT_CONNECTION_LIMITS, corsOrigins: [] });
    server = gateway.server.listen(0, '127.0.0.1');
    const { port }: AddressInfo = await new Promise((resolve) => {
      server?.once('listening', () => resolve(Object(server?.address())));
    });
    const connection = async (): Promise<unknown> => {
      // A reused connection might be closed as idle at this moment.
      const client = new Client(`http://127.0.0.1:${port}`);
      const { headers, body } = await client.request({ path: '/', method: 'GET' });
      await body.dump();
      await client.destroy();
      return headers['connection'];
    };
    expect(await connection()).toBe('keep-alive');
    gateway[how]();
    expect(await connection()).toBe('close');
  },
);
