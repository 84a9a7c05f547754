import { useDeferredValue, useEffect, useRef } from 'react';
import type { api } from '@identity-state/client';
import { OF_SUBJECT, type SubjectAddress } from '../../app/address.ts';
import { apiCall, useList, useWholeList } from '../../app/api.ts';
import { GRANT, GRANTEE, MAY_READ, scopeNames, subjectColumn, untilColumn } from '../../entities/grant.tsx';
import { useFilters } from '../../forms/filters.tsx';
import { Button } from '../../ui/button.tsx';
import { Loaded, Empty, Section, type Tone } from '../../ui/page.tsx';
import { badgeColumn, type Column, ListTable, orQuiet } from '../../ui/table/table.tsx';
import { momentText, Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { type Bounds, boundsOf, momentsOfChange, lanesOf, shareOf, stepOf } from './access-axis.ts';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

type Period = api.AccessPeriod;

const HISTORY = `${OF_SUBJECT}/access-history` as const;
const MOST_PERIODS = 1_000;
const MOST_LANES = 40;
const TONES: Readonly<Record<NonNullable<Period['ended_by']> | 'lives', Tone>> = {
  lives: 'good',
  expired: 'plain',
  replaced: 'plain',
  revoked: 'bad',
};

/** Shows which tenants could read a subject: as bars on a time axis, and as a list for any moment. */
export function Access({ subject }: { subject: SubjectAddress }) {
  const all = useWholeList(apiCall('GET', HISTORY, { path: subject.ids, query: { limit: 200 } }), MOST_PERIODS);
  return (
    <Section title={TEXT.could}>
      <Loaded query={all}>
        {() =>
          all.items.length === 0 ? <Empty title={TEXT.noPeriods} /> : <Axis subject={subject} periods={all.items} />
        }
      </Loaded>
    </Section>
  );
}

function Axis({ subject, periods }: { subject: SubjectAddress; periods: readonly Period[] }) {
  const { search, set } = useFilters();
  const at = search['at'];
  // The request follows the slider with a delay.
  const delayed = useDeferredValue(at);
  const now = useRef(Date.now()).current;
  const bounds = boundsOf(periods, now);
  const momentOf = (text = ''): number => (Number.isNaN(Date.parse(text)) ? now : Date.parse(text));
  const moment = momentOf(at);
  const changes = momentsOfChange(periods);
  const before = changes.findLast((time) => time < moment);
  const after = changes.find((time) => time > moment);
  const move = (time: number | undefined): void => set({ at: time === undefined ? '' : new Date(time).toISOString() });
  const query = { at: new Date(momentOf(delayed)).toISOString(), limit: 200 };
  const list = useList(apiCall('GET', HISTORY, { path: subject.ids, query }));
  return (
    <div className={ui.stack}>
      <p className={ui.quiet}>{TEXT.couldText}</p>
      <div>
        <div className={styles.lanes} aria-hidden="true">
          {lanesOf(periods)
            .slice(0, MOST_LANES)
            .map(([name, each]) => (
              <Lane key={name} name={name} periods={each} moment={moment} bounds={bounds} />
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
          <Slider bounds={bounds} moment={moment} onMove={move} />
        </div>
      </div>
      <div className={ui.row}>
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
      <div aria-busy={list.isPlaceholderData || delayed !== at}>
        <p role="status">{list.data !== undefined && TEXT.couldAt(list.items.length)}</p>
        <ListTable
          caption={TEXT.atCaption}
          list={list}
          empty={null}
          keyOf={keyOfPeriod}
          columns={[GRANTEE, subjectColumn(subject.tenantId), ...PERIOD_COLUMNS]}
        />
      </div>
    </div>
  );
}

const keyOfPeriod = ({ grant_id: id, from }: Period): string => `${id} ${from}`;

const PERIOD_COLUMNS: readonly Column<Period>[] = [
  MAY_READ,
  { title: TEXT.from, at: ({ from }) => from },
  untilColumn(GRANT.until, ({ until }) => until),
  badgeColumn(TEXT.ended, ({ ended_by: by }) => by ?? 'lives', TONES, { ...TEXT.endedBy, lives: TEXT.lives }),
  orQuiet(TEXT.log, ({ granted }) => granted.log_index, TEXT.notLogged),
];

interface SliderProps {
  bounds: Bounds;
  moment: number;
  onMove: (time: number) => void;
}

/** A slider over the time axis. The address follows when the slider rests. */
function Slider({ bounds, moment, onMove }: SliderProps) {
  const input = useRef<HTMLInputElement>(null);
  const { from, to } = bounds;
  const step = stepOf(bounds);
  const value = Math.round((moment - from) / step);
  useEffect(() => {
    if (input.current !== null) input.current.value = String(value);
  }, [value]);
  return (
    <input
      ref={input}
      id="moment"
      type="range"
      className={styles.slider}
      min={0}
      max={Math.ceil((to - from) / step)}
      step={1}
      defaultValue={value}
      aria-valuetext={momentText(moment)}
      onChange={(event) => onMove(from + Number(event.target.value) * step)}
    />
  );
}

interface LaneProps {
  name: string;
  periods: readonly Period[];
  moment: number;
  bounds: Bounds;
}

function Lane({ name, periods, moment, bounds }: LaneProps) {
  return (
    <>
      <span className={styles.laneName} title={name}>
        {name}
      </span>
      <span className={styles.lane}>
        {periods.map((period) => {
          const { from, until, ended_by: endedBy, scopes } = period;
          const start = shareOf(Date.parse(from), bounds);
          const stop = shareOf(until === null ? bounds.to : Date.parse(until), bounds);
          return (
            <span
              key={keyOfPeriod(period)}
              className={styles.bar}
              data-tone={endedBy === null ? 'live' : undefined}
              title={scopeNames(scopes)}
              style={{ left: start, width: `calc(${stop} - ${start})` }}
            />
          );
        })}
        <span className={styles.marker} style={{ left: shareOf(moment, bounds) }} />
      </span>
    </>
  );
}
