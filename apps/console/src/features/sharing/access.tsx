import { useDeferredValue, useEffect, useRef } from 'react';
import type { api } from '@identity-state/client';
import { useList } from '../../app/api.ts';
import { useWholeList } from '../../app/whole-list.ts';
import { SCOPES, TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Badge, Empty, Loading, type Tone } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { momentText, Time } from '../../ui/time.tsx';
import { Scopes, SubjectOf, subjectText, Until } from './grant-table.tsx';
import { namesOf } from './grants.ts';
import styles from './sharing.module.css';

type Period = api.AccessPeriod;

const MOST_PERIODS = 1_000;
const MOST_LANES = 40;
const MOST_STEPS = 2_000;
const HOUR_MS = 3_600_000;
/** Steps of the slider's keys. The smallest one is used that needs no more than the maximum number of steps. */
const STEPS_MS = [1_000, 10_000, 60_000, 600_000, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];
/** The axis extends at least this far into the future, or as far as into the past. */
const AHEAD_MS = 90 * 24 * HOUR_MS;
const TONES: Readonly<Record<NonNullable<Period['ended_by']> | 'lives', Tone>> = {
  lives: 'good',
  expired: 'plain',
  replaced: 'plain',
  revoked: 'bad',
};

/** Shows which tenants could read a subject: as bars on a time axis, and as a list for any moment. */
export function Access({
  tenantId,
  path,
  at,
  onMove,
}: {
  tenantId: string;
  path: string;
  /** The moment that the address names. */
  at: string | undefined;
  onMove: (at: string | undefined) => void;
}) {
  const all = useWholeList<Period>(`${path}/access-history`, { limit: 200 }, MOST_PERIODS);
  const { items } = all;
  return (
    <Section title={TEXT.could}>
      {all.error !== null && <Problem error={all.error} retry={() => void all.refetch()} />}
      {all.isPending && all.error === null && <Loading />}
      {all.data !== undefined &&
        (items.length === 0 ? (
          <Empty title={TEXT.noPeriods} />
        ) : (
          <Axis tenantId={tenantId} path={path} periods={items} at={at} onMove={onMove} />
        ))}
    </Section>
  );
}

function Axis({
  tenantId,
  path,
  periods,
  at,
  onMove,
}: {
  tenantId: string;
  path: string;
  periods: readonly Period[];
  at: string | undefined;
  onMove: (at: string | undefined) => void;
}) {
  // The request follows the slider with a delay.
  const asked = useDeferredValue(at);
  const now = useRef(Date.now()).current;
  const bounds = boundsOf(periods, now);
  const step =
    STEPS_MS.find((ms) => (bounds.to - bounds.from) / ms <= MOST_STEPS) ?? STEPS_MS[STEPS_MS.length - 1] ?? HOUR_MS;
  const named = at === undefined ? Number.NaN : Date.parse(at);
  const moment = Number.isNaN(named) ? now : named;
  const changes = changesOf(periods);
  const before = changes.findLast((time) => time < moment);
  const after = changes.find((time) => time > moment);
  const move = (time: number | undefined): void =>
    onMove(time === undefined ? undefined : new Date(time).toISOString());
  const list = useList<Period>(`${path}/access-history`, {
    at: asked !== undefined && !Number.isNaN(Date.parse(asked)) ? asked : new Date(now).toISOString(),
    limit: 200,
  });
  const share = (time: number): string =>
    `${Math.min(100, Math.max(0, ((time - bounds.from) / (bounds.to - bounds.from)) * 100))}%`;
  return (
    <div className={styles.stack}>
      <p className={styles.quiet}>{TEXT.couldText}</p>
      <div>
        <div className={styles.lanes} aria-hidden="true">
          {lanesOf(periods)
            .slice(0, MOST_LANES)
            .map(([name, each]) => (
              <Lane key={name} name={name} periods={each} share={share} moment={moment} end={bounds.to} />
            ))}
          <span />
          <span className={styles.ends}>
            <Time at={bounds.from} />
            <Time at={bounds.to} />
          </span>
        </div>
        <div className={styles.lanes}>
          <label htmlFor="moment" className={styles.laneName}>
            {TEXT.moment}
          </label>
          <Slider bounds={bounds} step={step} moment={moment} onMove={move} />
        </div>
      </div>
      <div className={styles.row}>
        <strong>
          <Time at={moment} />
        </strong>
        <Button small disabled={before === undefined} onClick={() => move(before)}>
          ← {TEXT.previous}
        </Button>
        <Button small disabled={after === undefined} onClick={() => move(after)}>
          {TEXT.next} →
        </Button>
        <Button small onClick={() => move(undefined)}>
          {TEXT.now}
        </Button>
      </div>
      <div aria-busy={list.isPlaceholderData || asked !== at}>
        <p role="status">{list.data !== undefined && TEXT.couldAt(list.items.length)}</p>
        <ListTable
          caption={TEXT.atCaption}
          list={list}
          empty={null}
          keyOf={({ grant_id: id, from }) => `${id} ${from}`}
          columns={[
            { title: TEXT.grantee, isHeader: true, value: ({ grantee_tenant_id: grantee }) => grantee },
            {
              title: TEXT.subject,
              value: subjectText,
              cell: (period) => <SubjectOf tenantId={tenantId} of={period} />,
            },
            {
              title: TEXT.mayRead,
              value: ({ scopes }) => namesOf(scopes),
              cell: ({ scopes }) => <Scopes scopes={scopes} />,
            },
            { title: TEXT.from, at: ({ from }) => from },
            { title: TEXT.until, at: ({ until }) => until, cell: ({ until }) => <Until at={until} /> },
            {
              title: TEXT.ended,
              value: ({ ended_by: by }) => (by === null ? TEXT.lives : TEXT.endedBy[by]),
              cell: ({ ended_by: by }) => (
                <Badge tone={TONES[by ?? 'lives']}>{by === null ? TEXT.lives : TEXT.endedBy[by]}</Badge>
              ),
            },
            {
              title: TEXT.log,
              value: ({ granted }) => granted.log_index,
              cell: ({ granted }) => granted.log_index ?? <span className={styles.quiet}>{TEXT.notLogged}</span>,
            },
          ]}
        />
      </div>
    </div>
  );
}

/** A slider over the time axis. The address follows when the slider rests. */
function Slider({
  bounds,
  step,
  moment,
  onMove,
}: {
  bounds: Bounds;
  step: number;
  moment: number;
  onMove: (time: number) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const { from } = bounds;
  useEffect(() => {
    if (input.current !== null) input.current.value = String(Math.round((moment - from) / step));
  }, [moment, from, step]);
  return (
    <input
      ref={input}
      id="moment"
      type="range"
      className={styles.slider}
      min={0}
      max={Math.ceil((bounds.to - from) / step)}
      step={1}
      defaultValue={Math.round((moment - from) / step)}
      aria-valuetext={momentText(moment)}
      onChange={(event) => onMove(from + Number(event.target.value) * step)}
    />
  );
}

function Lane({
  name,
  periods,
  share,
  moment,
  end,
}: {
  name: string;
  periods: readonly Period[];
  share: (time: number) => string;
  moment: number;
  end: number;
}) {
  return (
    <>
      <span className={styles.laneName} title={name}>
        {name}
      </span>
      <span className={styles.lane}>
        {periods.map(({ grant_id: id, from, until, ended_by: endedBy, scopes }) => {
          const [start, stop] = [Date.parse(from), until === null ? end : Date.parse(until)];
          return (
            <span
              key={`${id} ${from}`}
              className={styles.bar}
              data-tone={endedBy === null ? 'live' : undefined}
              title={scopes.map((scope) => SCOPES[scope].name).join(', ')}
              style={{ left: share(start), width: `calc(${share(stop)} - ${share(start)})` }}
            />
          );
        })}
        <span className={styles.marker} style={{ left: share(moment) }} />
      </span>
    </>
  );
}

interface Bounds {
  readonly from: number;
  readonly to: number;
}

const MARGIN = 0.08;

/** Returns the range of the axis: it includes the first beginning, the last known end, and now. */
export function boundsOf(periods: readonly Period[], now: number): Bounds {
  const from = Math.min(now, ...periods.map((period) => Date.parse(period.from)));
  const last = Math.max(now, ...periods.map(({ until }) => (until === null ? now : Date.parse(until))));
  // A grant that ends in years must not squeeze the past.
  const to = Math.min(last, now + Math.max(now - from, AHEAD_MS));
  const margin = Math.max(60_000, (to - from) * MARGIN);
  return { from: from - margin, to: to + margin };
}

/** Returns the moments at which access changes, in rising order. */
export function changesOf(periods: readonly Period[]): number[] {
  const times = periods.flatMap(({ from, until }) => (until === null ? [from] : [from, until]));
  return [...new Set(times.map((time) => Date.parse(time)))].sort((a, b) => a - b);
}

export function lanesOf(periods: readonly Period[]): [string, Period[]][] {
  const lanes = new Map<string, Period[]>();
  for (const period of periods) {
    const lane = lanes.get(period.grantee_tenant_id) ?? [];
    lane.push(period);
    lanes.set(period.grantee_tenant_id, lane);
  }
  return [...lanes];
}
