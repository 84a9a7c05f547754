import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { api } from '@identity-state/client';
import { Badge, type Tone } from '../../ui/page.tsx';
import { Place, wholeName } from '../../ui/text/place.tsx';
import { isAtOrBelow } from '../proposals/draft/content.ts';
import { EVIDENCE_TONES } from '../subject/provenance.ts';
import type { Change, Comparison } from './comparison.ts';
import { TEXT } from './words.ts';
import styles from './compare.module.css';

type Attribution = NonNullable<api.VersionDiffResult['attribution']>[number];
type Leaf = api.Provenance['items'][number];
/** The facts that the kind of a change depends on. */
type Kinded = Pick<Change, 'op' | 'movedWith'>;

/** A row of the list: the head of a change, a pair of lines, or folded lines. */
type Row =
  | { readonly is: 'head'; readonly change: number }
  | { readonly is: 'pair'; readonly line: number }
  | { readonly is: 'fold'; readonly line: number; readonly count: number };

interface BothLines {
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** The number of unchanged lines around a change. */
const AROUND = 3;
/** Fewer lines are not folded, since the fold itself takes a line. */
const WORTH_FOLDING = 4;
const ROW_HEIGHT = 22;
const MAX_LINE = 2_000;

/** Shows both versions line by line, side by side on a wide page. Unchanged lines are folded. */
export function Sides({
  comparison,
  attribution,
  leaves,
}: {
  comparison: Comparison;
  attribution: readonly Attribution[];
  leaves: readonly Leaf[];
}) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const lines = useMemo(
    () => ({ left: comparison.left.split('\n'), right: comparison.right.split('\n') }),
    [comparison],
  );
  const rows = useMemo(() => rowsOf(comparison.changeOf, unfolded), [comparison, unfolded]);
  const frame = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  return (
    <>
      <p className={styles.counts}>{TEXT.counts(comparison.changes.length)}</p>
      <div ref={frame} className={styles.sides} tabIndex={0} role="region" aria-label={TEXT.linesLabel}>
        <div className={styles.space} style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, start, key }) => {
            const row = rows[index];
            return (
              <div
                key={key}
                ref={list.measureElement}
                data-index={index}
                className={styles.row}
                style={{ transform: `translateY(${start}px)` }}
              >
                {row?.is === 'head' && (
                  <Head comparison={comparison} index={row.change} attribution={attribution} leaves={leaves} />
                )}
                {row?.is === 'pair' && <Pair comparison={comparison} lines={lines} line={row.line} />}
                {row?.is === 'fold' && (
                  <button
                    type="button"
                    className={styles.fold}
                    onClick={() => setUnfolded((before) => new Set([...before, row.line]))}
                  >
                    <span aria-hidden="true">⋯ </span>
                    {TEXT.fold(row.count)}
                  </button>
                )}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

/** Returns the rows of the list. `unfolded` contains the first lines of the opened folds. */
export function rowsOf(changeOf: Int32Array, unfolded: ReadonlySet<number>): Row[] {
  const rows: Row[] = [];
  const pairs = (from: number, to: number): void => {
    for (let line = from; line < to; line++) rows.push({ is: 'pair', line });
  };
  for (let line = 0; line < changeOf.length;) {
    const change = changeOf[line] ?? -1;
    let end = line + 1;
    while (end < changeOf.length && changeOf[end] === change) end++;
    if (change >= 0) {
      rows.push({ is: 'head', change });
      pairs(line, end);
    } else {
      const first = line === 0 ? line : line + AROUND;
      const last = end === changeOf.length ? end : end - AROUND;
      if (last - first < WORTH_FOLDING || unfolded.has(first)) pairs(line, end);
      else {
        pairs(line, first);
        rows.push({ is: 'fold', line: first, count: last - first });
        pairs(last, end);
      }
    }
    line = end;
  }
  return rows;
}

export type ChangeKind = keyof typeof TEXT.kinds;

const TONES: Readonly<Record<ChangeKind, Tone>> = { added: 'good', removed: 'bad', changed: 'warn', moved: 'accent' };

export function changeKindOf({ op, movedWith }: Kinded): ChangeKind {
  if (movedWith !== null) return 'moved';
  return op === 'add' ? 'added' : op === 'remove' ? 'removed' : 'changed';
}

/** Returns where the value of a move comes from or goes to; null if the change is not part of a move. */
export function otherPlace(changes: readonly Pick<Change, 'path'>[], { op, movedWith }: Kinded): string | null {
  const other = movedWith === null ? undefined : changes[movedWith];
  if (other === undefined) return null;
  return op === 'add' ? TEXT.movedFrom(wholeName(other.path)) : TEXT.movedTo(wholeName(other.path));
}

export function KindLabel({ change }: { change: Kinded }) {
  const kind = changeKindOf(change);
  return <Badge tone={TONES[kind]}>{TEXT.kinds[kind]}</Badge>;
}

/** Shows the place of a change, and the provenance of its value. */
function Head({
  comparison,
  index,
  attribution,
  leaves,
}: {
  comparison: Comparison;
  index: number;
  attribution: readonly Attribution[];
  leaves: readonly Leaf[];
}) {
  const change = comparison.changes[index];
  if (change === undefined) return null;
  const other = otherPlace(comparison.changes, change);
  return (
    <div className={styles.head} data-kind={changeKindOf(change)}>
      <div>
        <KindLabel change={change} /> <Place pointer={change.path} />{' '}
        {other !== null && <span className={styles.quiet}>{other}</span>}
      </div>
      <Evidence change={change} attribution={attribution} leaves={leaves} />
    </div>
  );
}

/** The statuses of evidence, from worst to best. */
const STATUSES = ['revoked', 'missing', 'none', 'carried', 'current'] as const;

function Evidence({
  change,
  attribution,
  leaves,
}: {
  change: Change;
  attribution: readonly Attribution[];
  leaves: readonly Leaf[];
}) {
  if (!change.path.startsWith('/attributes')) return null;
  const below = change.op === 'remove' ? [] : leaves.filter(({ path }) => isAtOrBelow(path, change.path));
  const said = attribution.find(({ path }) => path === change.path);
  const status = STATUSES.find((one) => below.some(({ evidence_status: found }) => found === one));
  const evidence = new Map(below.flatMap((leaf) => leaf.evidence.map((item) => [item.evidence_id, item])));
  const since = below.reduce<Leaf | undefined>(
    (newest, leaf) => (newest === undefined || leaf.since_version > newest.since_version ? leaf : newest),
    undefined,
  );
  const refs = below.length > 0 ? [...evidence.values()] : change.op === 'remove' ? [] : (said?.to ?? []);
  return (
    <div className={styles.evidence}>
      {since !== undefined && <span className={styles.quiet}>{TEXT.since(since.since_version, since.changed_by)}</span>}
      {status !== undefined && <Badge tone={EVIDENCE_TONES[status]}>{TEXT.evidence[status]}</Badge>}
      {status === undefined && said?.evidence_unchanged === true && <Badge tone="warn">{TEXT.evidence.carried}</Badge>}
      {refs.map((ref) => (
        <span key={`${ref.evidence_type}/${ref.evidence_id}`} className={styles.ref}>
          {TEXT.refs(ref.evidence_id, ref.evidence_type)}
        </span>
      ))}
      {said?.from !== null && said?.from !== undefined && differs(said) && (
        <span className={styles.quiet}>
          {TEXT.was} {said.from.map((ref) => TEXT.refs(ref.evidence_id, ref.evidence_type)).join(', ')}
        </span>
      )}
    </div>
  );
}

function differs({ from, to }: Attribution): boolean {
  return JSON.stringify(from) !== JSON.stringify(to);
}

function Pair({
  comparison: { changeOf, changes },
  lines,
  line,
}: {
  comparison: Comparison;
  lines: BothLines;
  line: number;
}) {
  const before = lines.left[line] ?? '';
  const after = lines.right[line] ?? '';
  const change = changes[changeOf[line] ?? -1];
  if (change === undefined) {
    return (
      <div className={styles.pair}>
        <Line text={before} />
        <Line text={after} isSecond />
      </div>
    );
  }
  const isMoved = change.movedWith !== null;
  const [start, end] = before !== '' && after !== '' ? common(before, after) : [0, 0];
  return (
    <div className={styles.pair} data-changed="true">
      <Line text={before} sign="−" tone={isMoved ? 'moved' : 'removed'} start={start} end={end} />
      <Line text={after} sign="+" tone={isMoved ? 'moved' : 'added'} start={start} end={end} isSecond />
    </div>
  );
}

/** Returns the lengths of the common beginning and the common end of two lines. */
export function common(one: string, other: string): [start: number, end: number] {
  const most = Math.min(one.length, other.length, MAX_LINE);
  let start = 0;
  while (start < most && one[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return [start, end];
}

function Line({
  text,
  sign = ' ',
  tone,
  start = 0,
  end = 0,
  isSecond = false,
}: {
  text: string;
  sign?: string;
  tone?: 'added' | 'removed' | 'moved';
  start?: number;
  end?: number;
  isSecond?: boolean;
}) {
  if (text === '') return <div className={styles.line} data-tone="absent" />;
  const shown = text.slice(0, MAX_LINE);
  let content: ReactNode = shown;
  if (start + end > 0) {
    const middle = Math.max(start, shown.length - end);
    content = (
      <>
        {shown.slice(0, start)}
        <mark>{shown.slice(start, middle)}</mark>
        {shown.slice(middle)}
      </>
    );
  }
  return (
    <div className={styles.line} data-tone={tone} data-second={isSecond}>
      <span className={styles.sign}>{sign}</span>
      <span className={styles.text}>{content}</span>
    </div>
  );
}
