import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTcp, isIPv6, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** How long a ping waits for the proxy. */
const PING_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;
const UNAUTHORIZED = 407;

/**
 * The proxy failed before anything was sent to the target. The message contains neither the proxy's address nor its
 * credentials.
 */
export class EgressProxyError extends Error {
  override readonly name = 'EgressProxyError';

  constructor(
    message: string,
    /** The proxy's status; null without a response. */
    readonly statusCode: number | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * A forward proxy that opens tunnels (CONNECT, RFC 9110 section 9.3.6), over TCP or, for `https:`, over verified TLS.
 */
export class EgressProxy {
  private readonly url: URL;
  private readonly authorization: { 'proxy-authorization'?: string };
  private readonly opening = new Set<ClientRequest>();
  private refusesCredentials = false;

  /** `http://[user:password@]host:port` or `https:`. User and password are percent-encoded. */
  constructor(url: string) {
    this.url = new URL(url);
    const { username, password } = this.url;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.authorization =
      credentials === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
  }

  /**
   * Opens a connection to this address through the proxy. The proxy gets the address and never a name, so that it
   * connects to the address that was checked. Rejects with {@link EgressProxyError}.
   */
  openTunnel(address: string, port: number, timeoutMs: number): Promise<Socket> {
    const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
    const { isTls, ...server } = this.server();
    return new Promise((resolve, reject) => {
      const request = (isTls ? requestHttps : requestHttp)({
        ...server,
        method: 'CONNECT',
        path: authority,
        headers: { host: authority, ...this.authorization },
        agent: false,
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      this.opening.add(request);
      const settle = (): void => {
        clearTimeout(timer);
        this.opening.delete(request);
      };
      const fail = (error: EgressProxyError): void => {
        settle();
        request.destroy();
        reject(error);
      };
      const timer = setTimeout(
        () => fail(new EgressProxyError('The egress proxy made no connection in time.', null)),
        timeoutMs,
      );
      // Handles a response that is not valid for CONNECT, and a connection that closes without a response.
      const closed = (): void => fail(new EgressProxyError('The egress proxy gave no answer.', null));
      request.once('connect', ({ statusCode = 0 }, socket, head) => {
        request.off('close', closed);
        this.refusesCredentials = statusCode === UNAUTHORIZED;
        if (statusCode < 200 || statusCode >= 300) {
          socket.destroy();
          fail(new EgressProxyError(`The egress proxy answered ${statusCode}.`, statusCode));
          return;
        }
        settle();
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      request.once('close', closed);
      request.on('error', (cause) => fail(unreachable(cause)));
      request.end();
    });
  }

  /**
   * Resolves if the proxy accepts connections and did not refuse the credentials last time. Rejects with {@link
   * EgressProxyError}.
   */
  async ping(): Promise<void> {
    const { isTls, ...server } = this.server();
    await new Promise<void>((resolve, reject) => {
      const socket = isTls ? connectTls(server) : connectTcp(server);
      const end = (error?: EgressProxyError): void => {
        socket.destroy();
        if (error === undefined) resolve();
        else reject(error);
      };
      socket.setTimeout(PING_MS, () => end(new EgressProxyError('The egress proxy does not answer.', null)));
      socket.once(isTls ? 'secureConnect' : 'connect', () => end());
      socket.on('error', (cause) => end(unreachable(cause)));
    });
    if (this.refusesCredentials) throw new EgressProxyError('The egress proxy refuses the credentials.', UNAUTHORIZED);
  }

  /** Aborts tunnels that are still being opened. Open tunnels belong to their callers. */
  close(): void {
    for (const request of this.opening) request.destroy();
  }

  private server(): { isTls: boolean; host: string; port: number; servername?: string } {
    const { protocol, hostname, port } = this.url;
    const isTls = protocol === 'https:';
    const host = hostname.replace(/^\[|\]$/g, '');
    return { isTls, host, port: Number(port) || (isTls ? 443 : 80) };
  }
}

function unreachable(cause: Error): EgressProxyError {
  return new EgressProxyError('The egress proxy cannot be reached.', null, { cause });
}
