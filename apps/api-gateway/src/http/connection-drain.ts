import type { Server, ServerResponse } from 'node:http';
import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/**
 * Makes each answer the last one on its connection when the process stops. Node closes the connections that are idle at
 * that moment; one that is in use would be kept alive after its answer, and the process with it.
 */
@Injectable()
export class ConnectionDrain implements OnModuleInit, BeforeApplicationShutdown {
  private readonly answering = new Set<ServerResponse>();
  private isDraining = false;

  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    const server: Server = this.host.httpAdapter.getHttpServer();
    // Not before it listens: whoever takes the requests until then may take all listeners away.
    server.once('listening', () =>
      server.prependListener('request', (_request, response) => this.watch(server, response)),
    );
  }

  beforeApplicationShutdown(): void {
    this.isDraining = true;
    for (const response of this.answering) response.shouldKeepAlive = false;
  }

  private watch(server: Server, response: ServerResponse): void {
    if (this.isDraining) response.shouldKeepAlive = false;
    this.answering.add(response);
    response.once('close', () => {
      this.answering.delete(response);
      // The head of a long answer may have gone out before.
      if (this.isDraining) server.closeIdleConnections();
    });
  }
}
