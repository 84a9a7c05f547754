/**
 * A PostgreSQL URL in the format of libpq (its documentation, "Connection URIs"): one host, or several separated by
 * commas, each with its port. With several, the service uses the one that accepts writes.
 */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([/?#].*)?$/;

/** Accepted values of `target_session_attrs`: the service writes. */
const WRITABLE = ['any', 'read-write', 'primary'];

/** Accepted values for replicas, which do not accept writes. */
const READABLE = ['any', 'prefer-standby', 'standby', 'read-only'];

/** Returns a URL for each host, in order. Returns none if the text is not such a URL or requests a read-only server. */
export function serverUrls(text: string): string[] {
  return urlsOf(text, WRITABLE);
}

/** Does the same for replicas. Returns none if the text requests a server that accepts writes. */
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
    // Any change of the parameters would re-encode all of them.
    if (url.searchParams.has('target_session_attrs')) url.searchParams.delete('target_session_attrs');
    found.push(url.href);
  }
  return found;
}
