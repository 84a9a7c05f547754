import { DomainError, parsePeriod } from '@iss/domain';
import type { TimeBounds } from '@iss/persistence';

/** Time bounds as sent, each a moment or a UTC day; undefined: no bound. */
export interface SentWindow {
  from: string | undefined;
  to: string | undefined;
}

/** Parses the bounds. Throws `validation_error` if the window ends before it begins. */
export function requireWindow(sent: SentWindow): TimeBounds {
  const from = sent.from === undefined ? null : (parsePeriod(sent.from)?.first ?? null);
  const to = sent.to === undefined ? null : (parsePeriod(sent.to)?.last ?? null);
  if (from === null || to === null || from <= to) return { from, to };
  const message = 'must not be later than to';
  throw new DomainError('validation_error', `from ${message}.`, [
    { path: '/query/from', message, code: 'out_of_range' },
  ]);
}
