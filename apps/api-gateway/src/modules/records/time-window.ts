import { DomainError, parseDateTime } from '@iss/domain';
import type { TimeBounds } from '@iss/persistence';

/** Bounds as they were sent; undefined: none. */
export interface SentWindow {
  from: string | undefined;
  to: string | undefined;
}

/** Throws `validation_error` for what is no moment, and for an end before the beginning. */
export function requireWindow(sent: SentWindow): TimeBounds {
  const from = momentOf('from', sent.from);
  const to = momentOf('to', sent.to);
  if (from !== null && to !== null && from > to) throw invalid('to', 'must not be earlier than from', 'out_of_range');
  return { from, to };
}

function momentOf(name: keyof SentWindow, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const moment = parseDateTime(text);
  if (moment === null) throw invalid(name, 'must be an RFC 3339 date-time with a timezone', 'invalid_format');
  return moment;
}

function invalid(name: keyof SentWindow, message: string, code: string): DomainError {
  return new DomainError('validation_error', `${name} ${message}.`, [{ path: `/query/${name}`, message, code }]);
}
