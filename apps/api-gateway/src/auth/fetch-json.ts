import { parseJson, type JsonValue } from '@iss/domain';

const MAX_RESPONSE_BYTES = 256 * 1024;
const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json *(?:;|$)/i;

/** Fetches one JSON document of the issuer: without redirects, of limited size, until `signal` aborts. */
export async function fetchJson(url: string, signal: AbortSignal): Promise<JsonValue> {
  const response = await fetch(url, { redirect: 'error', headers: { accept: 'application/json' }, signal });
  const mediaType = response.headers.get('content-type') ?? 'nothing';
  if (response.status !== 200 || !JSON_MEDIA_TYPE.test(mediaType) || !response.body) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status} with ${mediaType}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new Error(`${url} answered more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return parseJson(Buffer.concat(chunks));
}
