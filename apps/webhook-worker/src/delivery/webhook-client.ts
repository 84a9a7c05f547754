import { EgressProxy } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Agent, type Dispatcher, request } from 'undici';
import { SETTINGS } from '../settings';
import { guardedConnector } from './connector';
import { DeliveryFailure, toDeliveryFailure } from './delivery-failure';
import { type DnsWay, type Resolve, resolver } from './resolve';
import { parseRetryAfter } from './retry-policy';

export interface WebhookClientSettings {
  /** Lets deliveries reach `http:` targets and loopback and private addresses. */
  allowPrivateTargets: boolean;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  /** From the first byte sent to the last byte read. */
  totalTimeoutMs: number;
  dns: DnsWay;
  /** `http://[user:password@]host:port`; undefined: direct connections. */
  egressProxyUrl?: string | undefined;
  /** Replaces `dns`. */
  resolve?: Resolve;
}

export interface WebhookAnswer {
  statusCode: number;
  /** The delay that Retry-After asks for. */
  retryAfterMs: number | null;
}

/** Only the status of a response matters. This much is read so that the connection can be reused. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;
/** Shorter than the five seconds after which common servers close an idle connection, possibly during our request. */
const KEEP_ALIVE_MS = 4_000;

/**
 * Sends deliveries to URLs that tenants chose, and fetches status lists. Addresses are checked when a connection is made, for names and for
 * literals, and the connection goes to the very address that was checked. A name that changes its addresses in between
 * (DNS rebinding) gains nothing. Redirects are not followed, TLS is verified, and sizes and times are limited.
 */
@Injectable()
export class WebhookClient {
  private readonly agent: Agent;
  private readonly proxy: EgressProxy | null;

  constructor(@Inject(SETTINGS) private readonly settings: WebhookClientSettings) {
    const { allowPrivateTargets, connectTimeoutMs, totalTimeoutMs, dns, egressProxyUrl } = settings;
    this.proxy = egressProxyUrl === undefined ? null : new EgressProxy(egressProxyUrl);
    const { resolve = resolver(dns) } = settings;
    this.agent = new Agent({
      connect: guardedConnector({ allowPrivateTargets, connectTimeoutMs, totalTimeoutMs, resolve }, this.proxy),
      allowH2: false,
      pipelining: 1,
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: settings.headersTimeoutMs,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  }

  /**
   * Posts the body and returns the response's status, whatever it is. Otherwise rejects with a {@link DeliveryFailure}.
   */
  post(target: string, headers: Record<string, string>, body: string): Promise<WebhookAnswer> {
    return this.send(target, { method: 'POST', headers, body }, async (response, signal) => {
      // The status is known. A body that breaks or never ends does not change it.
      await response.body.dump({ limit: MAX_RESPONSE_BYTES, signal }).catch(() => undefined);
      const retryAfter = response.headers['retry-after'];
      return {
        statusCode: response.statusCode,
        retryAfterMs: parseRetryAfter(typeof retryAfter === 'string' ? retryAfter : undefined, Date.now()),
      };
    });
  }

  /** Fetches a text of at most `maxBytes`. Rejects with a {@link DeliveryFailure}, also unless the status is 200. */
  fetchText(target: string, accept: string, maxBytes: number): Promise<string> {
    return this.send(target, { method: 'GET', headers: { accept } }, async ({ statusCode, body }, signal) => {
      if (statusCode !== 200) {
        await body.dump({ limit: MAX_RESPONSE_BYTES, signal }).catch(() => undefined);
        throw new DeliveryFailure('response', `The status of the response is ${statusCode}.`);
      }
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of body) {
        const bytes = Buffer.from(chunk);
        size += bytes.length;
        if (size > maxBytes) throw new DeliveryFailure('response', `The response is longer than ${maxBytes} bytes.`);
        chunks.push(bytes);
      }
      return Buffer.concat(chunks).toString();
    });
  }

  private async send<T>(
    target: string,
    sent: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string },
    read: (response: Dispatcher.ResponseData, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    // AbortSignal.timeout would exist for its whole time, even after a quick response.
    const breakOff = new AbortController();
    const timer = setTimeout(() => breakOff.abort(new DOMException('', 'TimeoutError')), this.settings.totalTimeoutMs);
    try {
      const url = requireTarget(target, this.settings.allowPrivateTargets);
      const { signal } = breakOff;
      return await read(await request(url, { dispatcher: this.agent, ...sent, signal }), signal);
    } catch (error) {
      throw toDeliveryFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Resolves if the egress proxy works, as far as can be checked without a target, or if there is none. Rejects with
   * the problem otherwise.
   */
  async pingEgress(): Promise<void> {
    await this.proxy?.ping();
  }

  /** Closes all open connections. */
  async close(): Promise<void> {
    this.proxy?.close();
    await this.agent.destroy();
  }
}

function requireTarget(target: string, allowPrivateTargets: boolean): URL {
  const url = URL.parse(target);
  if (url === null) throw new DeliveryFailure('target', 'The target is not a URL.');
  if (url.protocol !== 'https:' && !(allowPrivateTargets && url.protocol === 'http:')) {
    throw new DeliveryFailure('target', 'The target is not an https URL.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new DeliveryFailure('target', 'The target contains credentials.');
  }
  return url;
}
