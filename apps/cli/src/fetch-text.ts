import { Failure, UsageError } from './command';
import { visible } from './visible';

const TIMEOUT_MS = 20_000;
/** Above the size of any note, consistency proof or token response. */
const MAX_BYTES = 2_000_000;

/**
 * Fetches a text of at most {@link MAX_BYTES}, without following redirects.
 *
 * @throws Failure if the answer is not 200, too long, or missing
 */
export async function fetchText(url: URL, signal?: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const text = (await boundedBody(response, url)).toString('utf8');
    if (response.status !== 200)
      throw new Failure(`${url.href} answers ${response.status}: ${visible(text.slice(0, 200).trim())}`);
    return text;
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

/** Returns the body of a response. @throws Failure if it has more than {@link MAX_BYTES} */
export async function boundedBody(response: Response, url: URL): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > MAX_BYTES) throw new Failure(`${url.href} answers more than ${MAX_BYTES} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
