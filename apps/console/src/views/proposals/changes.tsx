import { useMemo } from 'react';
import { TEXT } from '../../text/proposals.ts';
import { Badge, type Tone } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import {
  coverOf,
  type Fit,
  fitOf,
  isAtOrBelow,
  itemOf,
  type JsonObject,
  type JsonValue,
  type Step,
  stepsOf,
  textOf,
} from './content.ts';
import styles from './proposals.module.css';

const SHOWN_STEPS = 200;
const SHOWN_TEXT = 2_000;
const LONG_TEXT = 150;
const FIT_TONES: Readonly<Record<Fit, Tone>> = {
  current: 'good',
  carried: 'warn',
  missing: 'bad',
  none: 'warn',
  kept: 'plain',
};

interface ChangesProps {
  caption: string;
  from: JsonObject;
  to: JsonObject;
  /** Places that something else changes too: marked. */
  alsoChanged?: readonly string[];
}

/** What differs, place by place: before, after, and the evidence for what it became. */
export function Changes({ caption, from, to, alsoChanged = [] }: ChangesProps) {
  const { steps, more } = useMemo(() => stepsOf(from, to, SHOWN_STEPS), [from, to]);
  // What evidence is named for stands beside the value that it is named for.
  const shown = steps.filter(({ path }) => !isAtOrBelow(path, '/attribute_paths') || isLone(path, steps));
  const columns: Column<Step>[] = [
    {
      title: TEXT.path,
      isHeader: true,
      cell: ({ op, path }) => (
        <span className={styles.where}>
          <span className={styles.op} data-op={op}>
            {TEXT.ops[op]}
          </span>{' '}
          <code>{path}</code>
          {alsoChanged.some((other) => isAtOrBelow(other, path) || isAtOrBelow(path, other)) && (
            <>
              {' '}
              <Badge tone="warn">{TEXT.alsoHere}</Badge>
            </>
          )}
        </span>
      ),
    },
    { title: TEXT.was, cell: ({ before }) => <Value value={before} side="removed" /> },
    { title: TEXT.becomes, cell: ({ after }) => <Value value={after} side="added" /> },
    {
      title: TEXT.evidenceColumn,
      cell: ({ op, path }) => op !== 'remove' && <Backing from={from} to={to} path={path} />,
    },
  ];
  return (
    <>
      <Table caption={caption} columns={columns} items={shown} keyOf={(step) => `${steps.indexOf(step)}`} />
      {more > 0 && <p className={styles.quiet}>{TEXT.moreSteps(more)}</p>}
    </>
  );
}

/** Whether the attribution changes for a value that does not. */
function isLone(path: string, steps: readonly Step[]): boolean {
  const named = path.slice('/attribute_paths/'.length).split('/')[0]?.replaceAll('~1', '/').replaceAll('~0', '~') ?? '';
  return !steps.some((step) => isAtOrBelow(named, step.path) || isAtOrBelow(step.path, named));
}

/** An item of evidence. */
function isItem(value: JsonValue): boolean {
  return ['evidence_id', 'evidence_type', 'source', 'captured_at'].every((name) => textOf(value, name) !== '');
}

function Value({ value, side }: { value: JsonValue | undefined; side: 'added' | 'removed' }) {
  if (value === undefined) return <span className={styles.quiet}>{TEXT.nothingThere}</span>;
  if (isItem(value)) {
    return (
      <div className={styles.changed} data-side={side}>
        {textOf(value, 'evidence_id')} · {textOf(value, 'evidence_type')}
        <br />
        {TEXT.from(textOf(value, 'source'))}, {TEXT.captured} <Time at={textOf(value, 'captured_at')} />
      </div>
    );
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  // What is long scrolls, by keyboard too.
  const frame =
    text.length > LONG_TEXT || text.includes('\n')
      ? { tabIndex: 0, role: 'group', 'aria-label': side === 'added' ? TEXT.becomes : TEXT.was }
      : {};
  return (
    <pre className={styles.changed} data-side={side} {...frame}>
      {text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text}
    </pre>
  );
}

function Backing({ from, to, path }: { from: JsonObject; to: JsonObject; path: string }) {
  if (!isAtOrBelow(path, '/attributes')) return null;
  const fit = fitOf(from, to, path, true);
  return (
    <div className={styles.backing}>
      {fit !== 'kept' && <Badge tone={FIT_TONES[fit]}>{TEXT.fits[fit]}</Badge>}
      {coverOf(to, path).map((reference, index) => {
        const item = itemOf(to, reference);
        return (
          <span key={index}>
            {textOf(reference, 'evidence_id')} · {textOf(reference, 'evidence_type')}
            {item !== undefined && <span className={styles.quiet}> {TEXT.from(textOf(item, 'source'))}</span>}
          </span>
        );
      })}
    </div>
  );
}
