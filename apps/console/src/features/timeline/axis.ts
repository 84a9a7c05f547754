/** A time range, in milliseconds since 1970. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The closest zoom. */
const MIN_SPAN = SECOND;
/** The margin on both sides, as a share of the range. */
const MARGIN = 0.03;

/** Returns the whole range with margins on both sides. */
export function wholeRange(first: number, last: number): Range {
  const span = Math.max(last - first, MINUTE);
  return { from: first - span * MARGIN, to: last + span * MARGIN };
}

/** Zooms a range around a place, given as a share of it from 0 to 1. A factor below 1 zooms in. The result is within `whole`. */
export function zoomRange({ from, to }: Range, factor: number, about: number, whole: Range): Range {
  const wanted = Math.max((to - from) * factor, MIN_SPAN);
  const still = from + (to - from) * about;
  return within({ from: still - wanted * about, to: still + wanted * (1 - about) }, whole);
}

export function moveRange({ from, to }: Range, byMs: number, whole: Range): Range {
  return within({ from: from + byMs, to: to + byMs }, whole);
}

function within({ from, to }: Range, whole: Range): Range {
  const span = to - from;
  if (span >= whole.to - whole.from) return whole;
  const start = Math.min(Math.max(from, whole.from), whole.to - span);
  return { from: start, to: start + span };
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

const STEPS = [
  SECOND, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
]; // prettier-ignore
const DAY_STEPS = [1, 2, 7, 14];
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 600, 1_200];

const FORMATS = {
  second: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),
  minute: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' }),
  year: new Intl.DateTimeFormat(undefined, { year: 'numeric' }),
};

/** Returns at most `most` round moments in the reader's time zone. */
export function ticksOf({ from, to }: Range, most: number): readonly Tick[] {
  const atLeast = (to - from) / Math.max(most, 1);
  const step = STEPS.find((one) => one >= atLeast);
  if (step !== undefined) {
    const offset = new Date(from).getTimezoneOffset() * MINUTE;
    const first = Math.ceil((from - offset) / step) * step + offset;
    const format = step < MINUTE ? FORMATS.second : FORMATS.minute;
    return collect(to, format, (index) => first + index * step);
  }
  const begin = new Date(from);
  const days = DAY_STEPS.find((one) => one * DAY >= atLeast);
  if (days !== undefined) {
    return collect(to, FORMATS.day, (index) =>
      new Date(begin.getFullYear(), begin.getMonth(), begin.getDate() + 1 + index * days).getTime(),
    );
  }
  const months = MONTH_STEPS.find((one) => one * 30 * DAY >= atLeast) ?? 1_200;
  const firstMonth = Math.ceil((begin.getMonth() + 1) / months) * months;
  return collect(to, months < 12 ? FORMATS.month : FORMATS.year, (index) =>
    new Date(begin.getFullYear(), firstMonth + index * months, 1).getTime(),
  );
}

function collect(to: number, format: Intl.DateTimeFormat, at: (index: number) => number): readonly Tick[] {
  const ticks: Tick[] = [];
  for (let index = 0; at(index) <= to; index++) ticks.push({ at: at(index), label: format.format(at(index)) });
  return ticks;
}
