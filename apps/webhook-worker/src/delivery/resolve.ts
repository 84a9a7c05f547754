import { within } from '@iss/platform';
import { lookup, Resolver } from 'node:dns/promises';

/** Returns all addresses of a name. Rejects if it has none, or if no answer arrives in time. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** How host names are resolved (`WEBHOOK_DNS`). */
export type DnsWay = 'system' | 'direct';

const ANSWER_MS = 2_000;
const TRIES = 2;

/**
 * Returns the function that resolves names, within four seconds. The way `direct` asks the name servers itself. The way
 * `system` uses the machine's own resolver (getaddrinfo), which also knows `localhost` and the entries of its files. It
 * resolves on a handful of threads, so a few slow names delay all others.
 */
export function resolver(way: DnsWay, nameServers?: readonly string[]): Resolve {
  return way === 'system' ? askSystem : (hostname) => askNameServers(hostname, nameServers);
}

/** Asks these name servers, or by default those of the machine. */
async function askNameServers(hostname: string, nameServers: readonly string[] | undefined): Promise<string[]> {
  const asked = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (nameServers !== undefined) asked.setServers(nameServers);
  // After the time limit, the answers so far are used.
  const timer = setTimeout(() => asked.cancel(), TRIES * ANSWER_MS);
  const [four, six] = await Promise.allSettled([asked.resolve4(hostname), asked.resolve6(hostname)]);
  clearTimeout(timer);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  return [...(four.status === 'fulfilled' ? four.value : []), ...(six.status === 'fulfilled' ? six.value : [])];
}

async function askSystem(hostname: string): Promise<string[]> {
  const found = await within(TRIES * ANSWER_MS, lookup(hostname, { all: true }), 'The name of the host');
  return found.map(({ address }) => address);
}
