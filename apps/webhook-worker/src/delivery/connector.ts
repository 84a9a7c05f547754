import { type EgressProxy, EgressProxyError, isAllowedAddress } from '@iss/platform';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { DeliveryFailure } from './delivery-failure';
import type { Resolve } from './resolve';

export interface ConnectorSettings {
  allowPrivateTargets: boolean;
  connectTimeoutMs: number;
  /** The time limit of a whole attempt. */
  totalTimeoutMs: number;
  resolve: Resolve;
}

/** The most addresses of one name that are tried through a proxy, one after another. */
const MAX_ADDRESSES = 4;

/**
 * Connects to hosts that tenants chose. Addresses are checked when a connection is made, for names and for literals.
 * The connection, direct or through the proxy, goes to the very address that was checked.
 */
export function guardedConnector(settings: ConnectorSettings, proxy: EgressProxy | null): buildConnector.connector {
  return proxy === null ? directConnector(settings) : tunnelConnector(settings, proxy);
}

function directConnector({
  allowPrivateTargets,
  connectTimeoutMs,
  resolve,
}: ConnectorSettings): buildConnector.connector {
  const isAllowed = (address: string): boolean => isAllowedAddress(address, allowPrivateTargets);
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    lookup: guardedLookup(resolve, isAllowed),
  });
  return (options, callback) => {
    // A literal address is never looked up, so it is checked here.
    const literal = literalOf(options.hostname);
    if (literal !== null && !isAllowed(literal)) return callback(blocked(), null);
    return connect(options, callback);
  };
}

/**
 * Returns the lookup function of the socket, which connects to one of the returned addresses. A name is refused if any
 * of its addresses is not allowed, because the socket may choose that one.
 */
function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    allowedAddresses(hostname, resolve, isAllowed).then(
      ([first, ...others]) => {
        if (options.all === true)
          callback(
            null,
            [first, ...others].map((address) => ({ address, family: isIP(address) })),
          );
        else callback(null, first, isIP(first));
      },
      (failure: DeliveryFailure) => callback(failure, ''),
    );
  };
}

/**
 * Connects through the proxy. TLS, if used, is negotiated with the target inside the tunnel, under the target's name.
 */
function tunnelConnector(settings: ConnectorSettings, proxy: EgressProxy): buildConnector.connector {
  const connect = buildConnector({ timeout: settings.connectTimeoutMs, allowH2: false });
  return (options, callback) => {
    openTunnel(options, settings, proxy).then(
      (tunnel) => {
        if (options.protocol === 'https:') connect({ ...options, httpSocket: tunnel }, callback);
        else callback(null, tunnel);
      },
      (failure: Error) => callback(failure, null),
    );
  };
}

async function openTunnel(
  { hostname, protocol, port }: buildConnector.Options,
  { allowPrivateTargets, connectTimeoutMs, totalTimeoutMs, resolve }: ConnectorSettings,
  proxy: EgressProxy,
): Promise<Socket> {
  const isAllowed = (address: string): boolean => isAllowedAddress(address, allowPrivateTargets);
  const literal = literalOf(hostname);
  if (literal !== null && !isAllowed(literal)) throw blocked();
  const [first, ...others] = literal === null ? await allowedAddresses(hostname, resolve, isAllowed) : [literal];
  const portNumber = Number(port) || (protocol === 'https:' ? 443 : 80);
  // A shorter limit than the attempt's, so that a hanging proxy can be distinguished from a hanging receiver.
  const deadlineMs = performance.now() + Math.min(connectTimeoutMs, totalTimeoutMs / 2);
  const open = (address: string): Promise<Socket> =>
    proxy.openTunnel(address, portNumber, Math.max(1, deadlineMs - performance.now()));
  let opening = open(first);
  for (const address of others.slice(0, MAX_ADDRESSES - 1)) {
    opening = opening.catch((error: unknown) => {
      if (isOfAddress(error)) return open(address);
      throw error;
    });
  }
  return opening;
}

/** Returns whether another address may work. A proxy answers 5xx if it could not reach this one. */
function isOfAddress(error: unknown): boolean {
  return error instanceof EgressProxyError && error.statusCode !== null && error.statusCode >= 500;
}

async function allowedAddresses(
  hostname: string,
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
): Promise<[string, ...string[]]> {
  const [first, ...others] = await resolve(hostname).catch(() => []);
  if (first === undefined) throw new DeliveryFailure('dns', 'The host name has no address.');
  if (![first, ...others].every(isAllowed)) throw blocked();
  return [first, ...others];
}

function literalOf(hostname: string): string | null {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) === 0 ? null : literal;
}

function blocked(): DeliveryFailure {
  return new DeliveryFailure('blocked', 'The address of the target is not public.');
}
