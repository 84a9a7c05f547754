/**
 * A URL of PostgreSQL, as libpq reads it (its documentation, "Connection URIs"): one host, or several separated by commas,
 * each with its port. Of several the one is meant that takes writes.
 */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([/?#].*)?$/;

/** What `target_session_attrs` may say: the service writes. */
const WRITABLE = ['any', 'read-write', 'primary'];

/** The same of a replica, which takes none. */
const READABLE = ['any', 'prefer-standby', 'standby', 'read-only'];

/** A URL for each host, in their order; none where the text is no such URL, or asks for a server that takes no writes. */
export function serverUrls(text: string): string[] {
  return urlsOf(text, WRITABLE);
}

/** The same of replicas; none where the text asks for a server that takes writes. */
export function replicaUrls(text: string): string[] {
  return urlsOf(text, READABLE);
}

function urlsOf(text: string, purposes: readonly string[]): string[] {
  const [, beginning = '', hosts = '', end = ''] = FORM.exec(text) ?? [];
  if (beginning === '') return [];
  const urls = hosts.split(',').map((host) => URL.parse(`${beginning}${host}${end}`));
  const found: string[] = [];
  for (const url of urls) {
    if (url === null || !purposes.includes(url.searchParams.get('target_session_attrs') ?? 'any')) return [];
    if (urls.length > 1 && url.hostname === '') return [];
    // Writing to the parameters writes all of them anew.
    if (url.searchParams.has('target_session_attrs')) url.searchParams.delete('target_session_attrs');
    found.push(url.href);
  }
  return found;
}
