import {
  apiErrorOf,
  type ApiError,
  type ErasureReceipt,
  type ErrorDetail,
  isErrorCode,
  ProtocolError,
} from '../errors.ts';

/** The value of an answer that nothing has to be proved of. Its shape is the service's word. */
export function decode<T>(text: string): T {
  try {
    const value: T = JSON.parse(text);
    return value;
  } catch (cause) {
    throw new ProtocolError(`The answer is no JSON: ${text.slice(0, 100)}`, { cause });
  }
}

/** The error that an answer tells of. */
export function failureOf(status: number, headers: Headers, text: string): ApiError {
  const requestId = headers.get('x-request-id');
  const retryAfterMs = retryAfter(headers.get('retry-after'));
  try {
    const {
      error,
    }: {
      error: { code: unknown; message: unknown; details?: ErrorDetail[]; request_id?: string; erased?: ErasureReceipt };
    } = JSON.parse(text);
    if (isErrorCode(error.code)) {
      return apiErrorOf({
        status,
        code: error.code,
        message: String(error.message),
        details: error.details ?? [],
        requestId: error.request_id ?? requestId,
        retryAfterMs,
        erased: error.erased ?? null,
      });
    }
  } catch {
    // Somebody between here and the service answered.
  }
  const message = `HTTP ${status}${text === '' ? '' : `: ${text.slice(0, 200)}`}`;
  return apiErrorOf({ status, code: null, message, details: [], requestId, retryAfterMs, erased: null });
}

/** Seconds, or a date (RFC 9110 section 10.2.3). */
function retryAfter(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
