import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { formatPointer, parsePointer } from '@iss/domain/pure';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import { FitBadge } from './changes.tsx';
import { coverOf, fitOf, textMember, withValueAt } from './draft/backing.ts';
import { isAtOrBelow, isSame, type JsonValue, removePlace, valueAt } from './draft/content.ts';
import { EMPTY, type ValueKind, VALUE_KINDS, type PlaceProps, useProposalForm } from './form-context.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

/** A longer text, or one with several lines, gets a larger field. */
const LONG_TEXT = 90;
const SHOWN_BEFORE = 200;

/** Shows the field of a value, its evidence, and its previous value. */
export function AttributeLeaf({ pointer, name, value, before, unread, kind }: PlaceProps & { kind: ValueKind }) {
  const { faults } = useProposalForm();
  const id = useId();
  const row = useFocusedRow(pointer);
  const typed = unread[pointer];
  const shownKind = typed === undefined ? kind : 'number';
  const own = [...(typed === undefined ? [] : [TEXT.noNumber]), ...(faults.get(pointer) ?? [])];
  const [isLong] = useState(typeof value === 'string' && (value.length > LONG_TEXT || value.includes('\n')));
  const { become, typeNumber } = useEdits(pointer);
  const changeKind = (next: ValueKind): void => {
    if (next === 'number') return typeNumber(typeof value === 'string' ? value : '0');
    if (next === 'text') return become(value === null ? '' : (typed ?? shortText(value)));
    become(EMPTY[next]);
  };
  const control = {
    id,
    className: ui.input,
    'aria-invalid': own.length > 0 || undefined,
    'aria-describedby': own.length > 0 ? `${id}-fault` : undefined,
  };
  return (
    <div ref={row} className={styles.leaf} data-path={pointer}>
      <div className={styles.leafHead}>
        <label htmlFor={id} className={styles.name}>
          {name}
        </label>
        <Mark value={value} before={before} />
      </div>
      <div className={styles.controls}>
        <Control
          kind={shownKind}
          value={value}
          typed={typed}
          isLong={isLong}
          control={control}
          become={become}
          typeNumber={typeNumber}
        />
        <KindChoice name={name} kind={shownKind} onChange={changeKind} />
        <RemoveButton pointer={pointer} name={name} />
      </div>
      {own.length > 0 && (
        <span id={`${id}-fault`} className={ui.fault}>
          {own.join(' ')}
        </span>
      )}
      <Backing pointer={pointer} name={name} isChanged={!isSame(before, value)} />
      <Beside pointer={pointer} />
      {before !== undefined && !isSame(before, value) && (
        <p className={styles.beforeLine}>
          {TEXT.before} <code>{shortText(before)}</code>{' '}
          <Button kind="plain" small onClick={() => become(before)} aria-label={TEXT.putBackName(name)}>
            {TEXT.putBack}
          </Button>
        </p>
      )}
    </div>
  );
}

/** Focuses and scrolls to the row of the value that the form was opened for. */
function useFocusedRow(pointer: string): RefObject<HTMLDivElement | null> {
  const { focus } = useProposalForm();
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus !== pointer) return;
    row.current?.querySelector<HTMLElement>('[data-new-evidence] input, input, textarea, select')?.focus();
    row.current?.scrollIntoView({ block: 'center' });
  }, [focus, pointer]);
  return row;
}

/** Returns functions that replace a value. A text that is no number yet stays beside the value. */
function useEdits(pointer: string) {
  const { edit } = useProposalForm();
  const become = (next: JsonValue): void =>
    edit((draft) => ({
      ...draft,
      content: withValueAt(draft.baseContent, draft.content, pointer, next),
      unread: withoutKey(draft.unread, pointer),
    }));
  const typeNumber = (text: string): void => {
    const number = numberOf(text);
    if (number !== null) return become(number);
    edit((draft) => ({ ...draft, unread: { ...draft.unread, [pointer]: text } }));
  };
  return { become, typeNumber };
}

function KindChoice({ name, kind, onChange }: { name: string; kind: ValueKind; onChange: (kind: ValueKind) => void }) {
  return (
    <select
      className={styles.kind}
      aria-label={TEXT.kind(name)}
      value={kind}
      onChange={(event) => {
        const next = VALUE_KINDS.find((one) => one.value === event.target.value);
        if (next !== undefined) onChange(next.value);
      }}
    >
      {VALUE_KINDS.map((one) => (
        <option key={one.value} value={one.value}>
          {one.label}
        </option>
      ))}
    </select>
  );
}

interface ControlProps {
  kind: ValueKind;
  value: JsonValue;
  typed: string | undefined;
  isLong: boolean;
  control: {
    id: string;
    className: string | undefined;
    'aria-invalid': true | undefined;
    'aria-describedby': string | undefined;
  };
  become: (value: JsonValue) => void;
  typeNumber: (text: string) => void;
}

function Control({ kind, value, typed, isLong, control, become, typeNumber }: ControlProps): ReactNode {
  switch (kind) {
    case 'text': {
      const text = typeof value === 'string' ? value : '';
      return isLong ? (
        <textarea {...control} rows={4} value={text} onChange={(event) => become(event.target.value)} />
      ) : (
        <input {...control} autoComplete="off" value={text} onChange={(event) => become(event.target.value)} />
      );
    }
    case 'number':
      return (
        <input
          {...control}
          autoComplete="off"
          inputMode="decimal"
          value={typed ?? JSON.stringify(value)}
          onChange={(event) => typeNumber(event.target.value)}
        />
      );
    case 'boolean':
      return (
        <select
          {...control}
          value={value === true ? 'true' : 'false'}
          onChange={(event) => become(event.target.value === 'true')}
        >
          <option value="true">{TEXT.yes}</option>
          <option value="false">{TEXT.no}</option>
        </select>
      );
    case 'null':
    case 'group':
    case 'list':
      return <output {...control}>{TEXT.nothing}</output>;
  }
}

/** Shows the evidence status of a value, and a button to add evidence. */
function Backing({ pointer, name, isChanged }: { pointer: string; name: string; isChanged: boolean }) {
  const { base, evidence, addEvidence, proved } = useProposalForm();
  const known = fitOf(base, evidence, pointer, isChanged);
  const fit = known === 'kept' && proved.get(pointer)?.evidence_status === 'carried' ? 'carried' : known;
  const cover = coverOf(evidence, pointer);
  return (
    <div className={styles.backing}>
      <FitBadge fit={fit} />
      {cover.map((reference, index) => (
        <span key={index} className={styles.quiet}>
          {textMember(reference, 'evidence_id')} · {textMember(reference, 'evidence_type')}
        </span>
      ))}
      {fit !== 'current' && (
        <Button kind="plain" small onClick={() => addEvidence(pointer)} aria-label={TEXT.evidenceForName(name)}>
          {TEXT.evidenceFor}
        </Button>
      )}
    </div>
  );
}

/** The container in which new evidence of a value is entered. */
export function Beside({ pointer }: { pointer: string }) {
  const { beside, placeBeside } = useProposalForm();
  return beside === pointer && <div ref={placeBeside} />;
}

/** Marks a value that is new or changed. */
export function Mark({ value, before }: { value: JsonValue; before: JsonValue | undefined }) {
  if (before === undefined) return <Badge tone="accent">{TEXT.added}</Badge>;
  return isSame(before, value) ? null : <Badge tone="accent">{TEXT.changed}</Badge>;
}

export function RemoveButton({ pointer, name, isNamed = false }: { pointer: string; name: string; isNamed?: boolean }) {
  const { edit } = useProposalForm();
  const remove = (): void =>
    edit((draft) => {
      const tokens = parsePointer(pointer);
      const parent = formatPointer(tokens.slice(0, -1));
      // Unfinished input below the place is dropped too, since the indexes of a list change.
      const unread = Object.fromEntries(
        Object.entries(draft.unread).filter(
          ([path]) => !isAtOrBelow(path, Array.isArray(valueAt(draft.content, parent)) ? parent : pointer),
        ),
      );
      return { ...draft, content: removePlace(draft.content, tokens), unread };
    });
  return (
    <Button kind="plain" small onClick={remove} aria-label={TEXT.removeName(name)}>
      {isNamed ? TEXT.removeName(name) : TEXT.remove}
    </Button>
  );
}

/** Parses a JSON number. Returns null for any other text. */
export function numberOf(text: string): number | null {
  if (!/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?\s*$/.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

function withoutKey<T>(all: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  return key in all ? Object.fromEntries(Object.entries(all).filter(([name]) => name !== key)) : all;
}

export function shortText(value: JsonValue, most = SHOWN_BEFORE): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
