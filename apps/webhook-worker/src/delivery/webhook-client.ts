import { isAllowedAddress } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { SETTINGS } from '../settings';
import { DeliveryFailure, toDeliveryFailure } from './delivery-failure';
import { parseRetryAfter } from './retry-policy';

export interface WebhookClientSettings {
  /** Lets deliveries reach `http:` targets and loopback and private addresses. */
  allowPrivateTargets: boolean;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  /** From the first byte sent to the last byte read. */
  totalTimeoutMs: number;
  /** All addresses of a name; rejects when it has none. */
  resolve?: Resolve;
}
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface WebhookAnswer {
  statusCode: number;
  /** What a Retry-After asks for. */
  retryAfterMs: number | null;
}

/** Nothing in an answer but its status matters; so much is read for the connection's sake. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;
/** Shorter than the five seconds after which common servers close an idle connection, possibly under our request. */
const KEEP_ALIVE_MS = 4_000;
const DNS_TIMEOUT_MS = 2_000;

/**
 * Sends deliveries to URLs that strangers chose. Addresses are decided when a connection is made, for names and for
 * literals alike, and the address that was decided is the one connected to, so that a name that changes its mind in
 * between (DNS rebinding) gains nothing. Redirects are not followed; TLS is verified; everything is bounded.
 */
@Injectable()
export class WebhookClient {
  private readonly agent: Agent;

  constructor(@Inject(SETTINGS) private readonly settings: WebhookClientSettings) {
    this.agent = new Agent({
      connect: guardedConnector(settings),
      allowH2: false,
      pipelining: 1,
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: settings.headersTimeoutMs,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  }

  /** Posts the body; resolves with whatever status is answered. Rejects with a {@link DeliveryFailure} otherwise. */
  async post(target: string, headers: Record<string, string>, body: string): Promise<WebhookAnswer> {
    // AbortSignal.timeout would stay for its whole time, also when the answer came at once.
    const breakOff = new AbortController();
    const timer = setTimeout(() => breakOff.abort(new DOMException('', 'TimeoutError')), this.settings.totalTimeoutMs);
    try {
      const url = requireTarget(target, this.settings.allowPrivateTargets);
      const { signal } = breakOff;
      const response = await request(url, { dispatcher: this.agent, method: 'POST', headers, body, signal });
      // The status has been given: a body that breaks or never ends doesn't change it.
      await response.body.dump({ limit: MAX_RESPONSE_BYTES, signal }).catch(() => undefined);
      const retryAfter = response.headers['retry-after'];
      return {
        statusCode: response.statusCode,
        retryAfterMs: parseRetryAfter(typeof retryAfter === 'string' ? retryAfter : undefined, Date.now()),
      };
    } catch (error) {
      throw toDeliveryFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Breaks the connections that are still open. */
  async close(): Promise<void> {
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
    throw new DeliveryFailure('target', 'The target holds credentials.');
  }
  return url;
}

function guardedConnector(settings: WebhookClientSettings): buildConnector.connector {
  const isAllowed = (address: string): boolean => isAllowedAddress(address, settings.allowPrivateTargets);
  const resolve = settings.resolve ?? (settings.allowPrivateTargets ? resolveLocally : resolvePublicly);
  const connect = buildConnector({
    timeout: settings.connectTimeoutMs,
    allowH2: false,
    lookup: guardedLookup(resolve, isAllowed),
  });
  return (options, callback) => {
    // A literal address is never looked up, so that it is decided here.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !isAllowed(literal)) return callback(blocked(), null);
    return connect(options, callback);
  };
}

/**
 * What the socket asks for the addresses of a name; it connects to one of those that it is given. A name with but one
 * address that is not allowed is refused: nobody can say which of them it would be.
 */
function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(unknownName(), '');
        else if (!addresses.every(isAllowed)) callback(blocked(), '');
        else if (options.all === true)
          callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        else callback(null, first, isIP(first));
      },
      () => callback(unknownName(), ''),
    );
  };
}

function unknownName(): DeliveryFailure {
  return new DeliveryFailure('dns', 'The name of the host has no address.');
}

function blocked(): DeliveryFailure {
  return new DeliveryFailure('blocked', 'The address of the target is not public.');
}

/**
 * Asks the name servers themselves. The system's own resolver would answer one name at a time on a handful of threads, so
 * that a few slow names hold up every other.
 */
async function resolvePublicly(hostname: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  return [...(four.status === 'fulfilled' ? four.value : []), ...(six.status === 'fulfilled' ? six.value : [])];
}

/** Knows `localhost` and what else the machine's own files name. */
async function resolveLocally(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}
