import { memo, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { OF_SUBJECT, SUBJECT_VIEW, useSubject } from '../../app/address.ts';
import { apiCall } from '../../app/api.ts';
import { BASE } from '../../app/settings.ts';
import { type SubjectAccess, useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { ChoiceFilter, useFilters } from '../../forms/filters.tsx';
import { Button } from '../../ui/button.tsx';
import { Fold, FoldedNote } from '../../ui/fold.tsx';
import { RowLink } from '../../ui/link.tsx';
import { Loaded, Badge, Empty, Page, Problem } from '../../ui/page.tsx';
import { type VirtualColumn, VirtualTable } from '../../ui/table/virtual-table.tsx';
import { Time } from '../../ui/time.tsx';
import { AxisPlot, type PlotLane } from './axis-plot.tsx';
import { moveRange, type Range, wholeRange, zoomRange } from './axis.ts';
import { inSight } from './bins.ts';
import { type Happening, KINDS, MOST, useOthers, versionsAsHappenings } from './happenings.ts';
import { MOST_VERSIONS, useVersionHeaders, type Versions } from './versions.ts';
import { TEXT } from './words.ts';
import styles from './timeline.module.css';

/** The delay after which the address follows the visible range. */
const REST_MS = 250;

/** Shows the versions, proposals, grants, requests and disclosures of a subject on a time axis and as a table. */
export function TimelineView() {
  const access = useSubjectAccess();
  return <Loaded query={access}>{(known) => <Timeline access={known} />}</Loaded>;
}

const NO_VERSIONS: Versions = { items: [], isRead: false };

function Timeline({ access }: { access: SubjectAccess }) {
  const { ids: path } = useSubject();
  const basis = useFilters().search['basis'] === 'recorded' ? 'recorded' : 'effective';
  const isShared = access.may('read_lineage');
  const read = useVersionHeaders(isShared);
  const head = useSubjectHead(isShared ? undefined : access).data;
  const others = useOthers(access);
  const versions = useMemo(
    () => (isShared ? (read.data ?? NO_VERSIONS) : { items: head === undefined ? [] : [head], isRead: true }),
    [isShared, read.data, head],
  );
  const happenings = useMemo(
    () => [...versionsAsHappenings(versions, basis), ...others.items].sort((a, b) => a.from - b.from),
    [versions, basis, others.items],
  );
  const failed = [read, ...others.failed].filter(({ error }) => error !== null);
  return (
    <Page
      title={TEXT.title}
      note={<FoldedNote>{TEXT.note}</FoldedNote>}
      call={apiCall('GET', `${OF_SUBJECT}/history`, { path, query: { view: 'header', limit: 200 } })}
    >
      {failed.map(
        ({ error, refetch }, index) =>
          error !== null && <Problem key={index} error={error} retry={() => void refetch()} />,
      )}
      <OnAxis happenings={happenings} />
      <Remarks access={access} versions={versions} isShared={isShared} others={others} />
    </Page>
  );
}

function Remarks({
  access,
  versions,
  isShared,
  others: { isAdmin, isCut },
}: {
  access: SubjectAccess;
  versions: Versions;
  isShared: boolean;
  others: Pick<ReturnType<typeof useOthers>, 'isAdmin' | 'isCut'>;
}) {
  const count = versions.items.length;
  const remarks = [
    ...(isShared && !versions.isRead && count > 0 ? [TEXT.loading(count)] : []),
    ...(count === MOST_VERSIONS ? [TEXT.cut(count)] : []),
    ...(isCut ? [TEXT.others(MOST)] : []),
    ...(access.isOwner ? (isAdmin ? [] : [TEXT.notShown]) : [TEXT.ofOwner]),
    ...(isShared ? [] : [TEXT.latestOnly]),
  ];
  return (
    <p className={styles.quiet} role="status">
      {remarks.join(' ')}
    </p>
  );
}

/** Memoized, since the change feed can render the page often. */
const OnAxis = memo(function OnAxis({ happenings }: { happenings: readonly Happening[] }) {
  const [now] = useState(() => Date.now());
  const whole = useMemo(() => extentOf(happenings, now), [happenings, now]);
  const [range, setRange] = useRange(whole);
  const open = useOpen();
  const lanes = useMemo(
    () =>
      KINDS.map((kind): PlotLane => ({ kind, items: happenings.filter((one) => one.kind === kind) })).filter(
        ({ items, kind }) => items.length > 0 || kind === 'version',
      ),
    [happenings],
  );
  const seen = useDeferredValue(range);
  const rows = useMemo(() => inSight(happenings, seen), [happenings, seen]);
  return (
    <>
      <Controls range={range} whole={whole} onRange={setRange} />
      <AxisPlot lanes={lanes} range={range} whole={whole} now={now} onRange={setRange} onOpen={open} />
      <p id="timeline-hint" className={styles.quiet}>
        <Time at={range.from} /> – <Time at={range.to} />
        {': '}
        <strong>{TEXT.inSight(rows.length)}</strong>. {TEXT.plotHint}
      </p>
      {rows.length === 0 ? (
        <Empty title={TEXT.nothing} text={TEXT.nothingText} />
      ) : (
        <VirtualTable caption={TEXT.table} columns={COLUMNS} items={rows} keyOf={keyOf} rowHeight={40} />
      )}
    </>
  );
});

/** Returns the range from the first item to now. Future ends do not extend it. */
function extentOf(happenings: readonly Happening[], now: number): Range {
  const [first] = happenings;
  const last = happenings.at(-1);
  return wholeRange(first?.from ?? now, Math.max(last?.from ?? now, now));
}

/** Returns the range of the address, or the current range during a drag. */
function useRange(whole: Range): [range: Range, setRange: (range: Range) => void] {
  const navigate = useNavigate({ from: `${SUBJECT_VIEW}/timeline` });
  const { search } = useFilters();
  const [live, setLive] = useState<Range | null>(null);
  const from = Date.parse(search['from'] ?? '');
  const to = Date.parse(search['to'] ?? '');
  const addressed = from < to ? { from, to } : whole;
  useEffect(() => {
    if (live === null) return;
    const timer = setTimeout(() => {
      const isWhole = live.from === whole.from && live.to === whole.to;
      const text = (at: number): string => (isWhole ? '' : new Date(Math.round(at)).toISOString());
      const done = navigate({
        search: (before) => ({ ...before, from: text(live.from), to: text(live.to) }),
        replace: true,
        resetScroll: false,
      });
      void done.then(() => setLive((newest) => (newest === live ? null : newest)));
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [live, whole, navigate]);
  return [live ?? addressed, setLive];
}

function Controls({ range, whole, onRange }: { range: Range; whole: Range; onRange: (range: Range) => void }) {
  const span = range.to - range.from;
  const actions = [
    [TEXT.earlier, '←', () => moveRange(range, -span / 2, whole)],
    [TEXT.later, '→', () => moveRange(range, span / 2, whole)],
    [TEXT.zoomIn, '+', () => zoomRange(range, 0.5, 0.5, whole)],
    [TEXT.zoomOut, '−', () => zoomRange(range, 2, 0.5, whole)],
  ] as const;
  return (
    <div className={styles.controls}>
      <Fold title={TEXT.basis}>
        <ChoiceFilter
          name="basis"
          label={TEXT.basis}
          options={{ effective: TEXT.effective, recorded: TEXT.recorded }}
        />
      </Fold>
      <div className={styles.buttons}>
        {actions.map(([label, sign, next]) => (
          <Button key={label} aria-label={label} title={label} onClick={() => onRange(next())}>
            {sign}
          </Button>
        ))}
        <Button onClick={() => onRange(whole)}>{TEXT.all}</Button>
      </div>
    </div>
  );
}

function useOpen(): (happening: Happening) => void {
  const { history } = useRouter();
  const { view } = useSubject();
  return useCallback(({ link }) => history.push(BASE + view + placeOf(link)), [history, view]);
}

function HappeningLink({ happening: { link, title } }: { happening: Happening }) {
  const { view } = useSubject();
  return <RowLink to={view + placeOf(link)}>{title}</RowLink>;
}

/** Returns the part of an address after that of the subject. */
function placeOf(link: Happening['link']): string {
  switch (link.view) {
    case 'version':
      return `?version=${link.version}`;
    case 'proposal':
      return `/proposals/${link.updateId}`;
    case 'sharing':
    case 'requests':
      return `/${link.view}`;
  }
}

function keyOf({ kind, key }: Happening): string {
  return `${kind} ${key}`;
}

const COLUMNS: readonly VirtualColumn<Happening>[] = [
  {
    title: TEXT.when,
    width: 'minmax(0, 1.3fr)',
    at: ({ from }) => new Date(from).toISOString(),
    cell: ({ from, to }) => (
      <>
        <Time at={from} />
        {typeof to === 'number' && to !== from && (
          <span className={styles.quiet}>
            {' '}
            {TEXT.until} <Time at={to} />
          </span>
        )}
      </>
    ),
  },
  {
    title: TEXT.what,
    width: 'minmax(0, 1.4fr)',
    isHeader: true,
    value: ({ title }) => title,
    cell: (happening) => <HappeningLink happening={happening} />,
  },
  {
    title: TEXT.state,
    width: 'minmax(0, 0.8fr)',
    value: ({ kind, state }) => `${TEXT.kind[kind]} ${state}`,
    cell: ({ kind, state }) => (
      <>
        <Badge tone={kind === 'version' ? 'accent' : 'plain'}>{TEXT.kind[kind]}</Badge> {state}
      </>
    ),
  },
  {
    title: TEXT.detail,
    width: 'minmax(0, 1.6fr)',
    value: ({ detail }) => detail,
    cell: ({ detail }) => <span className={styles.quiet}>{detail}</span>,
  },
];
