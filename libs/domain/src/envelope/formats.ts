import { DomainError } from '../errors';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,30})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const PLAIN_DATE = /^\d{4}-\d{2}-\d{2}$/;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Checks whether `text` is a UUID in the textual form of RFC 9562 section 4: 8-4-4-4-12 hexadecimal digits, either
 * case, any version, including Nil and Max. Compare UUIDs with `sameUuid`, which ignores case.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Compares two UUIDs without regard to case (RFC 9562 section 4). */
export function sameUuid(left: string, right: string): boolean {
  return left === right || left.toLowerCase() === right.toLowerCase();
}

/**
 * Checks whether `text` is an RFC 3339 section 5.6 date-time with a timezone. The day must exist in the Gregorian
 * calendar, the offset is at most 23:59, a fraction has at most 30 digits, and the year is not 0000. A leap second
 * (`:60`) is accepted only where section 5.7 allows one: at 23:59:60 UTC on 30 June or 31 December.
 */
export function isDateTime(text: string): boolean {
  if (!DATE_TIME.test(text)) return false;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  if (year === 0 || digits(text, 8, 2) > daysIn(year, month)) return false;
  return digits(text, 17, 2) !== 60 || isLeapSecond(text);
}

/**
 * Returns the instant of an RFC 3339 date-time, to the millisecond, or null if `isDateTime` refuses the text. A leap
 * second is read as the following instant, as PostgreSQL does. (JavaScript's `Date` refuses it.)
 */
export function parseDateTime(text: string): Date | null {
  if (!isDateTime(text)) return null;
  const fraction = /\.(\d{1,3})/.exec(text)?.[1] ?? '';
  return new Date(minuteOf(text) + digits(text, 17, 2) * 1000 + Number(fraction.padEnd(3, '0')));
}

/**
 * Returns the first and last millisecond that a bound of a period of time covers. A date (`YYYY-MM-DD`) covers a UTC
 * day, and an RFC 3339 date-time a single instant. Returns null for any other text.
 */
export function parsePeriod(text: string): { first: Date; last: Date } | null {
  const isDate = PLAIN_DATE.test(text);
  const first = parseDateTime(isDate ? `${text}T00:00:00Z` : text);
  return first === null ? null : { first, last: isDate ? new Date(first.getTime() + DAY_MS - 1) : first };
}

function isLeapSecond(text: string): boolean {
  const last = new Date(minuteOf(text));
  const isJuneOrDecember = last.getUTCMonth() === 5 || last.getUTCMonth() === 11;
  return isJuneOrDecember && new Date(last.getTime() + MINUTE_MS).getUTCDate() === 1 && last.getUTCDate() !== 1;
}

/** Returns the minute of a well-formed date-time, in milliseconds since the epoch. */
function minuteOf(text: string): number {
  const date = new Date(0);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(digits(text, 0, 4), digits(text, 5, 2) - 1, digits(text, 8, 2));
  date.setUTCHours(digits(text, 11, 2), digits(text, 14, 2));
  if (/[Zz]$/.test(text)) return date.getTime();
  const offset = (digits(text, text.length - 5, 2) * 60 + digits(text, text.length - 2, 2)) * MINUTE_MS;
  return date.getTime() - (text.at(-6) === '-' ? -offset : offset);
}

function daysIn(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeapYear ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

function digits(text: string, start: number, length: number): number {
  let number = 0;
  for (let i = start; i < start + length; i++) number = number * 10 + text.charCodeAt(i) - 48;
  return number;
}

/** An ISO 8601 duration in whole years, months, weeks and days. */
export const RECURRENCE = /^P(?:(\d{1,2})Y)?(?:(\d{1,2})M)?(?:(\d{1,3})W)?(?:(\d{1,4})D)?$/;
const RECURRENCE_UNIT_DAYS = [365.25, 30.4375, 7, 1];
const MAX_RECURRENCE_DAYS = 5 * 365.25;

/** Checks whether a text is an ISO 8601 duration of whole days from `P1D` to `P5Y`, such as `P1Y`, `P3M` or `P1Y6M`. */
export function isRecurrence(text: string): boolean {
  const counts = RECURRENCE.exec(text)?.slice(1);
  if (counts === undefined) return false;
  const days = RECURRENCE_UNIT_DAYS.reduce((sum, unit, place) => sum + unit * Number(counts[place] ?? 0), 0);
  return days >= 1 && days <= MAX_RECURRENCE_DAYS;
}

/**
 * Parses the `expires_at` of a new object: an RFC 3339 date-time in the future, or null for never. Throws
 * `validation_error` under `/expires_at` otherwise.
 */
export function requireExpiry(text: string | null): Date | null {
  return requireFuture(text, 'expires_at');
}

/** Does the same as {@link requireExpiry} for any member of the body. */
export function requireFuture(text: string | null, member: string): Date | null {
  if (text === null) return null;
  const date = parseDateTime(text);
  if (date !== null && date.getTime() > Date.now()) return date;
  const message = date === null ? 'must be an RFC 3339 date-time with a timezone' : 'must be in the future';
  throw new DomainError('validation_error', `${member} ${message}.`, [
    { path: `/${member}`, message, code: 'invalid_value' },
  ]);
}
