import { type EgressProxy, EgressProxyError, isAllowedAddress } from '@iss/platform';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { DeliveryFailure } from './delivery-failure';
import type { Resolve } from './resolve';

export interface ConnectorSettings {
  allowPrivateTargets: boolean;
  connectTimeoutMs: number;
  /** Of a whole attempt. */
  totalTimeoutMs: number;
  resolve: Resolve;
}

/** Addresses of one name that a proxy is asked for, one after the other. */
const MAX_ADDRESSES = 4;

/**
 * Connects to hosts that strangers chose. Addresses are decided when a connection is made, for names and for literals
 * alike, and the address that was decided is the one connected to, by us or by the proxy.
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
    // A literal address is never looked up, so that it is decided here.
    const literal = literalOf(options.hostname);
    if (literal !== null && !isAllowed(literal)) return callback(blocked(), null);
    return connect(options, callback);
  };
}

/**
 * What the socket asks for the addresses of a name; it connects to one of those that it is given. A name with but one
 * address that is not allowed is refused: nobody can say which of them it would be.
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

/** Through the proxy: TLS, where there is any, is spoken with the target, under its name and inside the tunnel. */
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
  // A proxy that hangs is told from a receiver that does as long as the attempt is not over.
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

/** Whether another address may do: 5xx is what a proxy says that could not reach this one. */
function isOfAddress(error: unknown): boolean {
  return error instanceof EgressProxyError && error.statusCode !== null && error.statusCode >= 500;
}

async function allowedAddresses(
  hostname: string,
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
): Promise<[string, ...string[]]> {
  const [first, ...others] = await resolve(hostname).catch(() => []);
  if (first === undefined) throw new DeliveryFailure('dns', 'The name of the host has no address.');
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
