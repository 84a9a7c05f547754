const EXPECTED = 'must be file:///FOLDER or s3://BUCKET/PREFIX, without credentials (set those as AWS_… variables)';

/** Returns the fault of a URL of an archive, or undefined. */
export function archiveUrlFault(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return EXPECTED;
  const { protocol, hostname, pathname, search, hash, username, password } = parsed;
  if (search + hash + username + password !== '') return EXPECTED;
  if (protocol === 'file:') return hostname === '' && pathname.length > 1 ? undefined : EXPECTED;
  return protocol === 's3:' && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(hostname) ? undefined : EXPECTED;
}
