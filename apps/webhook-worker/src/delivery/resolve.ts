import { within } from '@iss/platform';
import { lookup, Resolver } from 'node:dns/promises';

/** All addresses of a name; rejects when it has none, or when nobody says so in time. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** How names of hosts are resolved (`WEBHOOK_DNS`). */
export type DnsWay = 'system' | 'direct';

const ANSWER_MS = 2_000;
const TRIES = 2;

/**
 * `direct` asks the name servers itself, `system` whatever the machine asks (getaddrinfo), which knows `localhost` and what
 * else its own files name, and answers one name at a time on a handful of threads, so that a few slow names hold up every
 * other. Both say within four seconds what they found.
 */
export function resolver(way: DnsWay, nameServers?: readonly string[]): Resolve {
  return way === 'system' ? askSystem : (hostname) => askNameServers(hostname, nameServers);
}

/** The name servers of the machine, unless others are named. */
async function askNameServers(hostname: string, nameServers: readonly string[] | undefined): Promise<string[]> {
  const asked = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (nameServers !== undefined) asked.setServers(nameServers);
  // What has come by then counts.
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
