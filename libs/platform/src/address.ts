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
