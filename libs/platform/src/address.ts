import ipaddr from 'ipaddr.js';

/** `public`, or the reason why webhooks may not be sent to an address. */
export type AddressVerdict = 'public' | 'metadata' | 'invalid' | SpecialRange;
type SpecialRange =
  Exclude<ReturnType<ipaddr.IPv4['range']>, 'unicast'> | Exclude<ReturnType<ipaddr.IPv6['range']>, 'unicast'>;

/** Addresses at which cloud providers serve a machine's credentials. */
const METADATA = ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map(bytesOf);
/**
 * All addresses that are assigned for global use so far. Every other address is special, whether or not it is named.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/**
 * Decides whether a webhook may be sent to an IP address, in any spelling: it must be globally reachable. An IPv6
 * address that contains an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) is always refused, because the
 * network that would translate it is unknown.
 */
export function decideAddress(address: string): AddressVerdict {
  if (!ipaddr.isValid(address)) return 'invalid';
  const parsed = ipaddr.parse(address);
  if (METADATA.includes(bytesOf(address))) return 'metadata';
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS)) return 'reserved';
  return 'public';
}

/** The additional ranges that a developer's machine may use: itself and its own network. */
const PRIVATE: readonly AddressVerdict[] = ['loopback', 'private', 'uniqueLocal'];

/**
 * Checks whether deliveries may go to the address. Private addresses are allowed only if the deployment allows them.
 */
export function isAllowedAddress(address: string, allowPrivateTargets: boolean): boolean {
  const verdict = decideAddress(address);
  return verdict === 'public' || (allowPrivateTargets && PRIVATE.includes(verdict));
}

/** Returns the same text for all spellings of an address. The zone is ignored. */
function bytesOf(address: string): string {
  return ipaddr.parse(address).toByteArray().join('.');
}

/** An IPv6 customer has at least a network of this prefix length, and so 2^64 addresses. */
const IPV6_NETWORK_BITS = 64;

/**
 * Returns the network that is limited as one caller: an IPv4 address, or the /64 of an IPv6 address. Any other text is
 * returned unchanged.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString()
    : parsed.toString();
}

/**
 * Returns the address from an entry of `X-Forwarded-For`. Some proxies add the port. Null if it contains no address.
 */
export function forwardedAddress(text: string): string | null {
  const written = text.trim();
  const address = /^\[(.*)\](?::\d+)?$/.exec(written)?.[1] ?? /^([\d.]+):\d+$/.exec(written)?.[1] ?? written;
  return ipaddr.isValid(address) ? address : null;
}

/** Checks whether the text is an IP address or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
}

/**
 * Returns a function that checks whether an address is in one of these networks ({@link isNetwork}). IPv4 addresses
 * that are mapped into IPv6 count as IPv4.
 */
export function withinNetworks(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((text): [ipaddr.IPv4 | ipaddr.IPv6, number] =>
    ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : wholeAddress(text),
  );
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
}

function wholeAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.process(text);
  return [address, address.toByteArray().length * 8];
}
