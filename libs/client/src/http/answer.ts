import { type JsonValue, parseJsonText } from '@iss/domain/pure';
import { apiErrorOf, type ApiError, isErrorCode } from '../errors.ts';
import type * as api from '../generated/types.ts';
import { MAX_DEPTH, MAX_RETRY_AFTER_MS } from '../limits.ts';
import { reasonText } from './abort.ts';
import { notOfThisApi, requireShape, type AnswerShape } from './shape.ts';

/** Parses an answer and checks its shape only. @throws ProtocolError */
export function decode<T>(text: string, shape: AnswerShape<T>): T {
  const value: unknown = parseAnswer(text);
  requireShape<T>(value, shape);
  return value;
}

/**
 * Parses an answer strictly: programs disagree on duplicate keys, and `JSON.parse` can return a wrong key.
 *
 * @throws ProtocolError
 */
export function parseAnswer(text: string): JsonValue {
  try {
    return parseJsonText(text, { maxDepth: MAX_DEPTH });
  } catch (cause) {
    throw notOfThisApi(reasonText(cause), cause);
  }
}

const ERROR: AnswerShape<api.Error['error']> = {
  code: '',
  message: '',
  request_id: null,
  details: { '?': [{ path: '', code: '', message: '' }] },
  erased: { '?': { erasure_id: '', erased_at: '' } },
};

/** Returns the error of an answer. */
export function errorOfAnswer(status: number, headers: Headers, text: string): ApiError {
  const requestId = headers.get('x-request-id');
  const retryAfterMs = retryAfter(headers.get('retry-after'));
  try {
    const { error } = decode<api.Error>(text, { error: ERROR });
    const { code, message, details = [], request_id: named, erased = null } = error;
    if (isErrorCode(code)) {
      return apiErrorOf({ status, code, message, details, requestId: named ?? requestId, retryAfterMs, erased });
    }
  } catch {
    // A proxy answered instead of the service.
  }
  const message = `HTTP ${status}${text && `: ${text.slice(0, 200)}`}`;
  return apiErrorOf({ status, code: null, message, details: [], requestId, retryAfterMs, erased: null });
}

/** Parses Retry-After, in seconds or as a date (RFC 9110, section 10.2.3), and limits it. */
function retryAfter(header: string | null): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : boundedWait(ms);
}

/** Limits a wait that the service requests. */
export function boundedWait(ms: number): number {
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
}
