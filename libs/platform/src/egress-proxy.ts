import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTcp, isIPv6, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What is waited for a proxy that is only asked whether it is there. */
const PING_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;
const UNAUTHORIZED = 407;

/** The way out is closed: nothing was asked of the target. The message names neither the proxy nor its credentials. */
export class EgressProxyError extends Error {
  override readonly name = 'EgressProxyError';

  constructor(
    message: string,
    /** What the proxy answered; null where it gave no answer. */
    readonly statusCode: number | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A forward proxy that makes tunnels (CONNECT, RFC 9110 section 9.3.6), reached over TCP or, as `https:`, over verified TLS. */
export class EgressProxy {
  private readonly url: URL;
  private readonly authorization: { 'proxy-authorization'?: string };
  private readonly opening = new Set<ClientRequest>();
  private refusesCredentials = false;

  /** `http://[user:password@]host:port`, or `https:`; user and password percent-encoded. */
  constructor(url: string) {
    this.url = new URL(url);
    const { username, password } = this.url;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.authorization =
      credentials === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
  }

  /**
   * A connection to this address that the proxy has made. The proxy is given the address and never a name, so that what was
   * decided of the address holds. Rejects with {@link EgressProxyError}.
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
      // An answer that is none to CONNECT, or an end without one.
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

  /** Resolves when the proxy takes connections, and took our credentials the last time. Rejects with {@link EgressProxyError}. */
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

  /** Gives up the tunnels that are being made; those that are made belong to who asked for them. */
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
