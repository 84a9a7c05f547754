import { useMemo } from 'react';
import { formatPointer } from '@iss/domain/pure';
import { Badge, type Tone } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Place, textOfValue } from '../../ui/text/place.tsx';
import { Time } from '../../ui/time.tsx';
import { coverOf, type Fit, fitOf, itemOf, textMember } from './draft/backing.ts';
import {
  isAtOrBelow,
  isSame,
  type JsonObject,
  type JsonValue,
  attributionOf,
  type DraftStep,
  stepsOf,
} from './draft/content.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

export const SHOWN_STEPS = 200;
const SHOWN_TEXT = 2_000;
const LONG_TEXT = 150;
const FIT_TONES: Readonly<Record<Fit, Tone>> = {
  current: 'good',
  carried: 'warn',
  missing: 'bad',
  none: 'warn',
  kept: 'plain',
};

const OP_TONES: Readonly<Record<DraftStep['op'], Tone>> = { add: 'good', replace: 'accent', remove: 'bad' };

interface ChangesProps {
  caption: string;
  from: JsonObject;
  to: JsonObject;
  /** The differences, if they are already known. */
  known?: ReturnType<typeof stepsOf>;
  /** Places to mark, since something else changes them too. */
  alsoChanged?: readonly string[];
  /** Returns a note for a step. */
  noteOf?: (step: DraftStep) => string | null;
}

/** Lists the changed places with the previous value, the new value and its evidence. */
export function Changes({ caption, from, to, known, alsoChanged = [], noteOf }: ChangesProps) {
  const { steps, more } = useMemo(() => known ?? stepsOf(from, to, SHOWN_STEPS), [known, from, to]);
  const shown = useMemo(
    () => [
      ...steps.filter(({ path }) => !isAtOrBelow(path, '/attribute_paths')),
      ...attributionSteps(from, to, steps).slice(0, SHOWN_STEPS),
    ],
    [from, to, steps],
  );
  const columns: Column<Shown>[] = [
    {
      title: TEXT.path,
      isHeader: true,
      value: ({ path }) => path,
      cell: (step) => {
        const { op, path } = step;
        const note = noteOf?.(step) ?? null;
        return (
          <span className={styles.where}>
            <Place pointer={path} /> <Badge tone={OP_TONES[op]}>{TEXT.kindsOfChange[op]}</Badge>
            {note !== null && <span className={styles.quiet}> {note}</span>}
            {alsoChanged.some((other) => isAtOrBelow(other, path) || isAtOrBelow(path, other)) && (
              <>
                {' '}
                <Badge tone="warn">{TEXT.alsoHere}</Badge>
              </>
            )}
          </span>
        );
      },
    },
    {
      title: TEXT.was,
      value: ({ before }) => textOfValue(before),
      cell: ({ before, named }) =>
        named === undefined ? <Value value={before} side="removed" /> : <Cover content={from} path={named} />,
    },
    {
      title: TEXT.becomes,
      value: ({ after }) => textOfValue(after),
      cell: ({ after, named }) =>
        named === undefined ? <Value value={after} side="added" /> : <Cover content={to} path={named} />,
    },
    {
      title: TEXT.evidenceColumn,
      cell: ({ op, path }) => op !== 'remove' && <Backing from={from} to={to} path={path} />,
    },
  ];
  return (
    <>
      <Table caption={caption} columns={columns} items={shown} keyOf={(step) => `${shown.indexOf(step)}`} />
      {more > 0 && <p className={styles.quiet}>{TEXT.moreSteps(more)}</p>}
    </>
  );
}

interface Shown extends DraftStep {
  /** The unchanged value whose evidence changes. */
  readonly named?: string;
}

/** Returns the unchanged values whose evidence changes. */
function attributionSteps(from: JsonObject, to: JsonObject, steps: readonly DraftStep[]): Shown[] {
  const [before, after] = [attributionOf(from), attributionOf(to)];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((named) => {
    const isBeside = steps.some(({ path }) => isAtOrBelow(named, path) || isAtOrBelow(path, named));
    if (isBeside || isSame(before[named], after[named])) return [];
    const op = before[named] === undefined ? 'add' : after[named] === undefined ? 'remove' : 'replace';
    const path = formatPointer(['attribute_paths', named]);
    return [{ op, path, named, before: before[named], after: after[named] }];
  });
}

/** Returns whether a value is an item of evidence. */
function isItem(value: JsonValue): boolean {
  return ['evidence_id', 'evidence_type', 'source', 'captured_at'].every((name) => textMember(value, name) !== '');
}

function Value({ value, side }: { value: JsonValue | undefined; side: 'added' | 'removed' }) {
  if (value === undefined) return <span className={styles.quiet}>{TEXT.nothingThere}</span>;
  if (isItem(value)) {
    return (
      <div className={styles.changed} data-side={side}>
        {textMember(value, 'evidence_id')} · {textMember(value, 'evidence_type')}
        <br />
        {TEXT.from(textMember(value, 'source'))},{' '}
        {textMember(value, 'locator') !== '' && `${textMember(value, 'locator')}, `}
        {TEXT.captured} <Time at={textMember(value, 'captured_at')} />
      </div>
    );
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  // A long text scrolls, also by keyboard.
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

/** Shows the evidence status of a value in a draft, if the draft changes it. */
export function FitBadge({ fit }: { fit: Fit }) {
  return fit === 'kept' ? null : <Badge tone={FIT_TONES[fit]}>{TEXT.fits[fit]}</Badge>;
}

function Backing({ from, to, path }: { from: JsonObject; to: JsonObject; path: string }) {
  if (!isAtOrBelow(path, '/attributes')) return null;
  const fit = fitOf(from, to, path, true);
  return (
    <div className={styles.backing}>
      <FitBadge fit={fit} />
      <Cover content={to} path={path} />
    </div>
  );
}

/** Shows the evidence of a value: each item with its source, locator and role. */
function Cover({ content, path }: { content: JsonObject; path: string }) {
  return coverOf(content, path).map((reference, index) => {
    const item = itemOf(content, reference);
    const [locator, role] = [textMember(item, 'locator'), textMember(reference, 'role')];
    return (
      <div key={index}>
        {textMember(reference, 'evidence_id')} · {textMember(reference, 'evidence_type')}{' '}
        <span className={styles.quiet}>
          {item === undefined ? TEXT.fits.missing : TEXT.from(textMember(item, 'source'))}
          {locator !== '' && `, ${locator}`}
          {role !== '' && ` (${role})`}
        </span>
      </div>
    );
  });
}
