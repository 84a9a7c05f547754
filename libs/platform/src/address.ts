import ipaddr from 'ipaddr.js';

/** `public`, or why an address is none that a webhook may be sent to. */
export type AddressVerdict = 'public' | 'metadata' | 'invalid' | SpecialRange;
type SpecialRange =
  Exclude<ReturnType<ipaddr.IPv4['range']>, 'unicast'> | Exclude<ReturnType<ipaddr.IPv6['range']>, 'unicast'>;

/** Addresses at which clouds tell a machine its credentials. */
const METADATA = ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map(bytesOf);
/** All that is handed out for global use so far. Whatever lies outside is special, named or not. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/**
 * Whether a webhook may be sent to an IP address (text, any spelling): only to one that is globally reachable. An IPv6
 * address that carries an IPv4 one (mapped, compatible, NAT64, 6to4, Teredo) never is, whatever it carries: it says
 * nothing about the network in which it would be translated.
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

/** What a developer's machine may reach besides: itself and its own network. */
const PRIVATE: readonly AddressVerdict[] = ['loopback', 'private', 'uniqueLocal'];

/** Whether deliveries may go to the address; private ones only where the deployment lets them. */
export function isAllowedAddress(address: string, allowPrivateTargets: boolean): boolean {
  const verdict = decideAddress(address);
  return verdict === 'public' || (allowPrivateTargets && PRIVATE.includes(verdict));
}

/** The same for all spellings of an address, whatever zone it names. */
function bytesOf(address: string): string {
  return ipaddr.parse(address).toByteArray().join('.');
}

/** An IPv6 customer has at least a network of this length, and so 2^64 addresses. */
const IPV6_NETWORK_BITS = 64;

/** What one caller has at most: the address of an IPv4 peer, the /64 of an IPv6 one. A text that is no address stays as it is. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString()
    : parsed.toString();
}

/** The address that a proxy wrote into `X-Forwarded-For`, some of them with its port; null where it wrote none. */
export function forwardedAddress(text: string): string | null {
  const written = text.trim();
  const address = /^\[(.*)\](?::\d+)?$/.exec(written)?.[1] ?? /^([\d.]+):\d+$/.exec(written)?.[1] ?? written;
  return ipaddr.isValid(address) ? address : null;
}

/** Whether the text is an IP address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
}

/**
 * A test whether an address lies in one of these networks, each as {@link isNetwork} takes them. An IPv4 address that came
 * mapped into IPv6 is that IPv4 address.
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
