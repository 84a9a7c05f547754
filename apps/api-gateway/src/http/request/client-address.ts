import type { IncomingMessage } from 'node:http';
import { decideAddress, forwardedAddress, type Warn, withinNetworks } from '@iss/platform';

/** Finds the addresses of callers. */
export class ClientAddresses {
  private readonly isTrusted: (address: string) => boolean;

  constructor(
    trustedProxies: readonly string[],
    private readonly warn: Warn,
  ) {
    this.isTrusted = withinNetworks(trustedProxies);
  }

  /**
   * Returns the address of the peer. Behind trusted proxies, returns the last address in `X-Forwarded-For` that is not
   * a trusted proxy; the caller may have forged the addresses before it. Empty if the connection is closed.
   */
  of({ socket, headers }: IncomingMessage): string {
    let address = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return address;
    if (!this.isTrusted(address)) {
      // Callers on the internet may send any header. Only a private address is likely to be a proxy of ours.
      if (decideAddress(address.replace(/^::ffff:/i, '')) !== 'public')
        this.warn('Ignored X-Forwarded-For from an address that is not in TRUSTED_PROXIES');
      return address;
    }
    const hops = String(forwarded).split(',');
    while (hops.length > 0 && this.isTrusted(address)) {
      const next = forwardedAddress(hops.pop() ?? '');
      if (next === null) break;
      address = next;
    }
    return address;
  }
}
