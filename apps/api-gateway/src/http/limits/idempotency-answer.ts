import { isJsonObject, parseStoredJson } from '@iss/domain';

/** An answer as it is kept for whoever sends its request again. */
export interface KeptAnswer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

/** The headers that belong to an answer; the others belong to the request that it is sent to, or to the connection. */
const KEPT_HEADERS = ['content-type', 'cache-control', 'link', 'location'];

/** One line of status and headers, then the body as it was sent. */
export function writeAnswer({ status, headers, body }: KeptAnswer): string {
  const kept = KEPT_HEADERS.filter((name) => typeof headers[name] === 'string').map((name) => [name, headers[name]]);
  return `${JSON.stringify({ status, headers: Object.fromEntries(kept) })}\n${body}`;
}

/** What {@link writeAnswer} wrote. */
export function readAnswer(text: string): KeptAnswer {
  const lineEnd = text.indexOf('\n');
  const head = parseStoredJson(text.slice(0, lineEnd));
  if (isJsonObject(head) && typeof head['status'] === 'number' && isJsonObject(head['headers'])) {
    return { status: head['status'], headers: head['headers'], body: text.slice(lineEnd + 1) };
  }
  throw new Error('a kept answer lacks its status or its headers');
}
