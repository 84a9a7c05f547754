import { Failure, UsageError } from './command';
import { visible } from './visible';

const TIMEOUT_MS = 20_000;
/** Above the size of any note, consistency proof or token response. */
const MAX_BYTES = 2_000_000;

/** The service answered with another status than 200. */
export class RefusedFetch extends Failure {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Fetches a text of at most {@link MAX_BYTES}. Throws as {@link fetchBytes}. */
export async function fetchText(url: URL, signal?: AbortSignal): Promise<string> {
  return (await fetchBytes(url, signal)).toString('utf8');
}

/**
 * Fetches at most `limit` bytes, without following redirects.
 *
 * @throws RefusedFetch if the answer is not 200; Failure if it is too long, or missing
 */
export async function fetchBytes(url: URL, signal?: AbortSignal, limit = MAX_BYTES): Promise<Buffer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const body = await boundedBody(response, url, limit);
    if (response.status === 200) return body;
    const text = visible(body.toString('utf8').slice(0, 200).trim());
    throw new RefusedFetch(response.status, `${url.href} answers ${response.status}: ${text}`);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Failure(`${url.href} cannot be fetched: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** Returns the URL of a path below the prefix of a log. @throws UsageError for an invalid prefix */
export function below(prefix: string, path: string): URL {
  if (!/^https?:\/\/[^?#]+$/.test(prefix) || !URL.canParse(prefix)) {
    throw new UsageError('--log takes the URL prefix of a log (http or https), such as https://example.com/log.');
  }
  return new URL(`${prefix.replace(/\/+$/, '')}/${path}`);
}

/** Returns the body of a response. @throws Failure if it has more than `limit` bytes */
export async function boundedBody(response: Response, url: URL, limit = MAX_BYTES): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > limit) throw new Failure(`${url.href} answers more than ${limit} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
