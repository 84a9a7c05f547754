import type { IncomingMessage } from 'node:http';
import { decideAddress, forwardedAddress, type Warn, withinNetworks } from '@iss/platform';

/** From which address callers come. */
export class ClientAddresses {
  private readonly isTrusted: (address: string) => boolean;

  constructor(
    trustedProxies: readonly string[],
    private readonly warn: Warn,
  ) {
    this.isTrusted = withinNetworks(trustedProxies);
  }

  /**
   * Who connected; behind trusted proxies the last one that they saw and that is no such proxy. What stands before it in
   * `X-Forwarded-For` the caller may have written itself. Empty once the connection is gone.
   */
  of({ socket, headers }: IncomingMessage): string {
    let address = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return address;
    if (!this.isTrusted(address)) {
      // A caller on the internet may write any header. A proxy of ours is near.
      if (decideAddress(address.replace(/^::ffff:/i, '')) !== 'public')
        this.warn('X-Forwarded-For came from an address that TRUSTED_PROXIES does not name, and was ignored');
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
