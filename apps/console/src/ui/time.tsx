const SHOWN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** A moment in the reader's zone; in UTC where the pointer rests on it, and for machines. */
export function Time({ at, dayOnly = false }: { at: string; dayOnly?: boolean }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const utc = date.toISOString();
  return (
    <time dateTime={utc} title={utc.replace('T', ' ').replace(/(\.000)?Z$/, ' UTC')}>
      {(dayOnly ? DAY : SHOWN).format(date)}
    </time>
  );
}
