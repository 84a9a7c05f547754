import { isJsonObject, type JsonValue, parseStoredJson, type SubjectRef } from '@iss/domain';

/** A stored response for a repeated request. */
export interface StoredAnswer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

/** The headers that belong to the response. The others belong to the individual request or to the connection. */
const STORED_HEADERS = ['content-type', 'cache-control', 'link'];

/** Writes a response as one line with status and headers, then the body as it was sent. */
export function writeAnswer({ status, headers, body }: StoredAnswer): string {
  const stored = STORED_HEADERS.filter((name) => typeof headers[name] === 'string').map((name) => [
    name,
    headers[name],
  ]);
  return `${JSON.stringify({ status, headers: Object.fromEntries(stored) })}\n${body}`;
}

/**
 * Returns the subject of a response, or null. It is in the member `subject` of a snapshot or envelope, or directly in
 * an update. An erasure shows nothing that a later erasure deletes.
 */
export function subjectOfAnswer({ body }: StoredAnswer): SubjectRef | null {
  const answer = jsonOf(body);
  const about = isJsonObject(answer) && isJsonObject(answer['subject']) ? answer['subject'] : answer;
  if (!isJsonObject(about) || 'erasure_id' in about) return null;
  const { subject_type: subjectType, subject_id: subjectId } = about;
  return typeof subjectType === 'string' && typeof subjectId === 'string' ? { subjectType, subjectId } : null;
}

function jsonOf(body: string): JsonValue {
  try {
    return body.includes('"subject_id"') ? parseStoredJson(body) : null;
  } catch {
    return null;
  }
}

/** Reads a response that {@link writeAnswer} wrote. */
export function readAnswer(text: string): StoredAnswer {
  const lineEnd = text.indexOf('\n');
  const head = parseStoredJson(text.slice(0, lineEnd));
  if (isJsonObject(head) && typeof head['status'] === 'number' && isJsonObject(head['headers'])) {
    return { status: head['status'], headers: head['headers'], body: text.slice(lineEnd + 1) };
  }
  throw new Error('a stored response lacks its status or its headers');
}
