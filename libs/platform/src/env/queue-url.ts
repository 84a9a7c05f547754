/** A server in `QUEUE_URL`. */
export interface RedisHost {
  host: string;
  port: number;
}

/** The connection settings for Redis. */
export interface RedisAddress {
  /**
   * `server`: the only host. `sentinel`: the hosts are Sentinels, which know the primary. `cluster`: the hosts are
   * nodes of a Redis Cluster, which know the other nodes.
   */
  kind: 'server' | 'sentinel' | 'cluster';
  hosts: readonly RedisHost[];
  username: string | undefined;
  password: string | undefined;
  database: number;
  /** IP version, 4 or 6; 0 for either. */
  family: number;
  /** The Sentinels' name for the primary; empty otherwise. */
  primary: string;
  sentinelUsername: string | undefined;
  sentinelPassword: string | undefined;
  /**
   * The PEM files of a TLS connection. Without `authorityFile`, Node's certificate authorities are trusted. Undefined
   * for a connection without TLS.
   */
  tls:
    { authorityFile: string | undefined; certificateFile: string | undefined; keyFile: string | undefined } | undefined;
}

const FORM = /^(rediss?)(\+sentinel|\+cluster)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

const DEFAULT_PORTS = { server: 6379, sentinel: 26_379, cluster: 6379 } as const;
const MAX_DATABASE = 65_535;

/** Parameters by the forms of the URL that allow them. */
const OF_ALL = ['family'];
const OF_TLS = ['cacert', 'cert', 'key'];
const OF_SENTINEL = ['master', 'sentinel_username', 'sentinel_password'];

/**
 * Parses a `QUEUE_URL`:
 *
 * - `redis://[user:password@]host[:port][/database]`
 * - `redis+sentinel://…host,host/[database]?master=NAME`
 * - `redis+cluster://…host,host`
 *
 * For TLS, each begins with `rediss`. A returned string is an error message. It completes a sentence that begins with
 * the variable's name, and contains no part of the URL.
 */
export function readQueueUrl(text: string): RedisAddress | string {
  const [matched, scheme = '', form = '', login, hosts = '', path = '', query = ''] = FORM.exec(text) ?? [];
  if (matched === undefined) {
    return 'must be a URL starting with redis://, redis+sentinel:// or redis+cluster://, or with rediss for TLS';
  }
  const kind = kindOf(form);
  const found = hosts.split(',').map((host) => hostOf(host, DEFAULT_PORTS[kind]));
  const named = found.filter((host) => host !== undefined);
  if (named.length < found.length) return 'must name each server as host or host:port, separated by commas';
  if (kind === 'server' && named.length > 1) {
    return 'must start with redis+sentinel:// or redis+cluster:// (rediss for TLS) to name several servers';
  }
  const [username, password] = loginOf(login);
  if (username === null || password === null) return 'must have user and password percent-encoded';
  if (!/^\d{0,5}$/.test(path) || Number(path) > MAX_DATABASE) return 'must have the number of a database as its path';
  if (kind === 'cluster' && Number(path) !== 0) return 'must name no database but 0: a Redis Cluster has no other';

  const isSecure = scheme === 'rediss';
  const parameters = new URLSearchParams(query);
  const known = [...OF_ALL, ...(isSecure ? OF_TLS : []), ...(kind === 'sentinel' ? OF_SENTINEL : [])];
  if ([...parameters.keys()].some((name) => !known.includes(name) || parameters.getAll(name).length > 1)) {
    return `must have no parameters but ${known.join(', ')}, each once`;
  }
  const given = (name: string): string | undefined => parameters.get(name) || undefined;
  const primary = given('master');
  if (kind === 'sentinel' && primary === undefined) return 'must say what the Sentinels call the primary: ?master=NAME';
  const family = given('family') ?? '0';
  if (!['0', '4', '6'].includes(family)) return 'must have 0, 4 or 6 as its family';
  if ((given('cert') === undefined) !== (given('key') === undefined)) return 'must have cert and key, or neither';
  return {
    kind,
    hosts: named,
    username,
    password,
    database: Number(path),
    family: Number(family),
    primary: primary ?? '',
    sentinelUsername: given('sentinel_username'),
    sentinelPassword: given('sentinel_password'),
    tls: isSecure
      ? { authorityFile: given('cacert'), certificateFile: given('cert'), keyFile: given('key') }
      : undefined,
  };
}

/** Checks whether the URL leads to Redis over a network without TLS. */
export function isPlainQueueUrl(text: string): boolean {
  const address = readQueueUrl(text);
  return (
    typeof address !== 'string' &&
    address.tls === undefined &&
    address.hosts.some(({ host }) => !/^(localhost|127(\.\d+){3}|::1)$/.test(host))
  );
}

function kindOf(form: string): RedisAddress['kind'] {
  if (form === '+sentinel') return 'sentinel';
  return form === '+cluster' ? 'cluster' : 'server';
}

function hostOf(text: string, defaultPort: number): RedisHost | undefined {
  const [matched, bracketed, name, port] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]%]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? name;
  if (matched === undefined || host === undefined || Number(port ?? 1) > 65_535 || port === '0') return undefined;
  return { host, port: port === undefined ? defaultPort : Number(port) };
}

/** Returns user and password; null for one that cannot be decoded. */
function loginOf(login: string | undefined): [string | undefined | null, string | undefined | null] {
  if (login === undefined) return [undefined, undefined];
  const colon = login.indexOf(':');
  const [user, password] = colon === -1 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)];
  return [decoded(user), decoded(password)];
}

function decoded(text: string): string | undefined | null {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    return null;
  }
}
