import type { DomainError, ErrorCode, ErrorDetail } from '@iss/domain';
import { type Erased, ErasedError } from '../../access/erased';

/** More details do not help a caller that made so many mistakes. */
const MAX_DETAILS = 100;
/** Lengths of a path and of a text, in UTF-16 units. Both can contain keys of any length from the caller. */
const MAX_PATH = 256;
const MAX_TEXT = 1024;
/** The size of all details as they are sent, so that the whole response has at most 64 KiB. */
const MAX_DETAILS_BYTES = 56 * 1024;

/** The specification's error envelope ("Errors"). As JSON it has at most 64 KiB, whatever the error contains. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; details?: ErrorDetail[]; request_id: string; erased?: Erased };
}

export function errorBody(error: DomainError, requestId: string, maxDetails = MAX_DETAILS): ErrorBody {
  const { code, message, details } = error;
  const shortened = details === undefined ? {} : { details: withinBudget(details.slice(0, maxDetails)) };
  const erased = error instanceof ErasedError ? { erased: error.erased } : {};
  return { error: { code, message: cut(message, MAX_TEXT), ...shortened, request_id: requestId, ...erased } };
}

/** Returns the first details, as many as fit. */
function withinBudget(details: readonly ErrorDetail[]): ErrorDetail[] {
  const fitting: ErrorDetail[] = [];
  let bytes = 0;
  for (const detail of details) {
    const short = { ...detail, path: cut(detail.path, MAX_PATH), message: cut(detail.message, MAX_TEXT) };
    bytes += Buffer.byteLength(JSON.stringify(short)) + 1;
    if (bytes > MAX_DETAILS_BYTES) break;
    fitting.push(short);
  }
  return fitting;
}

/** Shortens a text. A shortened text ends in `…`. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // Half of a surrogate pair is not a character.
  return text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '') + '…';
}
