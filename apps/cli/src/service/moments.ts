import { UsageError } from '../command';

const DAY = /^\d{4}-\d\d-\d\d$/;
const FROM_NOW = /^([1-9]\d{0,4})([dh])$/;
const MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** Parses a time (RFC 3339), or a day, which means its start in UTC. @throws UsageError */
export function momentOf(text: string, option: string): string {
  const moment = DAY.test(text) ? `${text}T00:00:00Z` : text;
  if (/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/i.test(moment) && !Number.isNaN(Date.parse(moment))) return moment;
  throw new UsageError(`--${option} takes a time such as 2026-01-31T12:00:00Z, or a UTC day such as 2026-01-31.`);
}

/** Parses a time, or a day, which means its last millisecond in UTC. @throws UsageError */
export function momentAtEnd(text: string, option: string): string {
  return DAY.test(text) ? momentOf(`${text}T23:59:59.999Z`, option) : momentOf(text, option);
}

/** Parses a time, a day, or a duration from now such as 90d or 12h. @throws UsageError */
export function momentToCome(text: string, option: string, nowMs = Date.now()): string {
  const [, count, unit = ''] = FROM_NOW.exec(text) ?? [];
  if (count === undefined) return momentOf(text, option);
  return new Date(nowMs + Number(count) * (MS[unit] ?? 0)).toISOString();
}
