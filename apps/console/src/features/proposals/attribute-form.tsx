import {
  createContext,
  memo,
  type ReactNode,
  type RefCallback,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { formatPointer, parsePointer } from '@iss/domain/pure';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Badge, type Tone } from '../../ui/state.tsx';
import ui from '../../ui/ui.module.css';
import {
  countLeaves,
  coverOf,
  type Fit,
  fitOf,
  isAtOrBelow,
  isSame,
  type JsonObject,
  type JsonValue,
  textOf,
  valueAt,
  without,
  withValue,
  withValueAt,
} from './content.ts';
import type { Draft } from './draft.ts';
import type { Proved } from './evidence-form.tsx';
import styles from './proposals.module.css';

/** The data that every field of the form uses. It changes with the evidence, not with each typed key. */
export interface FormContext {
  readonly base: JsonObject;
  /** The evidence of the draft and its attribution. */
  readonly evidence: JsonObject;
  readonly faults: ReadonlyMap<string, readonly string[]>;
  /** The pointer of the value that the form was opened for. */
  readonly focus: string | undefined;
  readonly edit: (change: (draft: Draft) => Draft) => void;
  readonly addEvidence: (pointer: string) => void;
  readonly proved: Proved;
  /** The value beside which its new evidence is entered, and the ref of the element there. */
  readonly beside: string | undefined;
  readonly placeBeside: RefCallback<HTMLElement>;
}

const Context = createContext<FormContext | null>(null);
export const FormProvider = Context;

function useForm(): FormContext {
  const form = useContext(Context);
  if (form === null) throw new Error('This component needs a form around it.');
  return form;
}

type Kind = keyof typeof TEXT.kinds;
const KINDS = (['text', 'number', 'boolean', 'null', 'group', 'list'] as const satisfies readonly Kind[]).map(
  (value) => ({
    value,
    label: TEXT.kinds[value],
  }),
);
const EMPTY: Readonly<Record<Kind, JsonValue>> = {
  text: '',
  number: 0,
  boolean: false,
  null: null,
  group: {},
  list: [],
};

/** A tree with fewer values is shown open. */
const OPEN_LEAVES = 120;
const SHOWN_MEMBERS = 100;
/** A longer text, or one with several lines, gets a larger field. */
const LONG_TEXT = 90;
const SHOWN_BEFORE = 200;

function kindOf(value: JsonValue): Kind {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'object') return Array.isArray(value) ? 'list' : 'group';
  return typeof value === 'number' ? 'number' : 'boolean';
}

/** Shows a field for each attribute. */
export function AttributeForm({ attributes, unread }: { attributes: JsonValue; unread: Draft['unread'] }) {
  const { base } = useForm();
  return (
    <div className={styles.tree}>
      <Children
        pointer="/attributes"
        name={TEXT.attributes}
        value={attributes}
        before={base['attributes']}
        unread={unread}
        isOpen={countLeaves(attributes, OPEN_LEAVES) < OPEN_LEAVES}
      />
    </div>
  );
}

interface PlaceProps {
  pointer: string;
  name: string;
  value: JsonValue;
  /** The value in the base version, if any. */
  before: JsonValue | undefined;
  unread: Draft['unread'];
  /** True if groups are open at first. */
  isOpen: boolean;
}

const Place = memo(function Place(props: PlaceProps) {
  const kind = kindOf(props.value);
  return kind === 'group' || kind === 'list' ? <Group {...props} /> : <Leaf {...props} kind={kind} />;
});

function Group(props: PlaceProps) {
  const { pointer, name, value, before, isOpen } = props;
  const { focus, faults } = useForm();
  const holdsFocus = focus !== undefined && isAtOrBelow(focus, pointer);
  const faultCount = [...faults.keys()].filter((path) => isAtOrBelow(path, pointer)).length;
  const [isShown, setShown] = useState(isOpen || holdsFocus);
  const count = Array.isArray(value) ? TEXT.elements(value.length) : TEXT.members(Object.keys(value ?? {}).length);
  return (
    <details className={styles.group} open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        <span className={styles.name}>{name}</span> <span className={styles.quiet}>{count}</span>{' '}
        <Mark value={value} before={before} />
        {faultCount > 0 && <Badge tone="bad">{TEXT.faults(faultCount)}</Badge>}
      </summary>
      {isShown && (
        <>
          <Beside pointer={pointer} />
          <Faults pointer={pointer} />
          <Children {...props} />
          <RemoveButton pointer={pointer} name={name} isNamed />
        </>
      )}
    </details>
  );
}

/** Shows the members of a group or list, the removed ones, and a form to add one. */
function Children({ pointer, name, value, before, unread, isOpen }: PlaceProps) {
  const { focus } = useForm();
  const [shown, setShown] = useState(SHOWN_MEMBERS);
  const isList = Array.isArray(value);
  const members = value !== null && typeof value === 'object' ? Object.entries(value) : [];
  const membersBefore: JsonObject =
    before !== null && typeof before === 'object' && !Array.isArray(before) ? before : {};
  const removed = isList
    ? []
    : Object.keys(membersBefore).filter((token) => valueAt(value, formatPointer([token])) === undefined);
  const isShown = ([token]: [string, JsonValue], index: number): boolean =>
    index < shown || (focus !== undefined && isAtOrBelow(focus, pointer + formatPointer([token])));
  // If the length of a list changed, only the patch can match its elements.
  const isComparable = !isList || (Array.isArray(before) && before.length === value.length);
  return (
    <div className={styles.children}>
      {members.length === 0 && removed.length === 0 && pointer === '/attributes' && (
        <p className={styles.quiet}>{TEXT.noAttributes}</p>
      )}
      {members.filter(isShown).map(([token, child]) => (
        <Place
          key={token}
          pointer={pointer + formatPointer([token])}
          name={isList ? TEXT.element(Number(token)) : token}
          value={child}
          before={isComparable ? valueAt(before ?? null, formatPointer([token])) : child}
          unread={unread}
          isOpen={isOpen}
        />
      ))}
      {members.length > shown && (
        <Button small onClick={() => setShown(shown + SHOWN_MEMBERS)}>
          {TEXT.showMore(Math.min(SHOWN_MEMBERS, members.length - shown))}
        </Button>
      )}
      {removed.map((token) => (
        <Removed key={token} pointer={pointer + formatPointer([token])} name={token} />
      ))}
      <AddMember pointer={pointer} name={name} value={value} />
    </div>
  );
}

function Removed({ pointer, name }: { pointer: string; name: string }) {
  const { base, edit } = useForm();
  const putBack = (): void => {
    const value = valueAt(base, pointer);
    if (value === undefined) return;
    edit((draft) => ({
      ...draft,
      content: withPutBack(draft.baseContent, withValue(draft.content, parsePointer(pointer), value), pointer),
    }));
  };
  return (
    <div className={styles.removedRow}>
      <s>{name}</s> <Badge tone="bad">{TEXT.removed}</Badge>
      <Button kind="plain" small onClick={putBack} aria-label={TEXT.putBackName(name)}>
        {TEXT.putBack}
      </Button>
    </div>
  );
}

/** Restores the attribution of a place from the base version. */
function withPutBack(base: JsonObject, content: JsonObject, pointer: string): JsonObject {
  const before = base['attribute_paths'];
  if (before === null || typeof before !== 'object' || Array.isArray(before)) return content;
  const back = Object.entries(before).filter(([path]) => isAtOrBelow(path, pointer));
  if (back.length === 0) return content;
  const now = content['attribute_paths'];
  const paths = now !== null && typeof now === 'object' && !Array.isArray(now) ? now : {};
  return { ...content, attribute_paths: { ...paths, ...Object.fromEntries(back) } };
}

function Leaf({ pointer, name, value, before, unread, kind }: PlaceProps & { kind: Kind }) {
  const { faults, focus, edit } = useForm();
  const id = useId();
  const row = useRef<HTMLDivElement>(null);
  const typed = unread[pointer];
  const shownKind = typed === undefined ? kind : 'number';
  const own = [...(typed === undefined ? [] : [TEXT.noNumber]), ...(faults.get(pointer) ?? [])];
  const [isLong] = useState(typeof value === 'string' && (value.length > LONG_TEXT || value.includes('\n')));
  useEffect(() => {
    if (focus !== pointer) return;
    row.current?.querySelector<HTMLElement>('[data-new-evidence] input, input, textarea, select')?.focus();
    row.current?.scrollIntoView({ block: 'center' });
  }, [focus, pointer]);

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
  const changeKind = (next: Kind): void => {
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
        <select
          className={styles.kind}
          aria-label={TEXT.kind(name)}
          value={shownKind}
          onChange={(event) => {
            const next = KINDS.find((one) => one.value === event.target.value);
            if (next !== undefined) changeKind(next.value);
          }}
        >
          {KINDS.map((one) => (
            <option key={one.value} value={one.value}>
              {one.label}
            </option>
          ))}
        </select>
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

interface ControlProps {
  kind: Kind;
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

const FIT_TONES: Readonly<Record<Fit, Tone>> = {
  current: 'good',
  carried: 'warn',
  missing: 'bad',
  none: 'warn',
  kept: 'plain',
};

/** Shows the evidence status of a value, and a button to add evidence. */
function Backing({ pointer, name, isChanged }: { pointer: string; name: string; isChanged: boolean }) {
  const { base, evidence, addEvidence, proved } = useForm();
  const known = fitOf(base, evidence, pointer, isChanged);
  const fit = known === 'kept' && proved.get(pointer)?.evidence_status === 'carried' ? 'carried' : known;
  const cover = coverOf(evidence, pointer);
  return (
    <div className={styles.backing}>
      {fit !== 'kept' && <Badge tone={FIT_TONES[fit]}>{TEXT.fits[fit]}</Badge>}
      {cover.map((reference, index) => (
        <span key={index} className={styles.quiet}>
          {textOf(reference, 'evidence_id')} · {textOf(reference, 'evidence_type')}
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
function Beside({ pointer }: { pointer: string }) {
  const { beside, placeBeside } = useForm();
  return beside === pointer && <div ref={placeBeside} />;
}

function Mark({ value, before }: { value: JsonValue; before: JsonValue | undefined }) {
  if (before === undefined) return <Badge tone="accent">{TEXT.added}</Badge>;
  return isSame(before, value) ? null : <Badge tone="accent">{TEXT.changed}</Badge>;
}

function Faults({ pointer }: { pointer: string }) {
  const { faults } = useForm();
  const own = faults.get(pointer) ?? [];
  return own.length === 0 ? null : <p className={ui.fault}>{own.join(' ')}</p>;
}

function RemoveButton({ pointer, name, isNamed = false }: { pointer: string; name: string; isNamed?: boolean }) {
  const { edit } = useForm();
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
      return { ...draft, content: without(draft.content, tokens), unread };
    });
  return (
    <Button kind="plain" small onClick={remove} aria-label={TEXT.removeName(name)}>
      {isNamed ? TEXT.removeName(name) : TEXT.remove}
    </Button>
  );
}

function AddMember({ pointer, name, value }: { pointer: string; name: string; value: JsonValue }) {
  const { edit } = useForm();
  const [isOpen, setOpen] = useState(false);
  const [member, setMember] = useState('');
  const [kind, setKind] = useState<Kind>('text');
  const [fault, setFault] = useState<string | undefined>(undefined);
  const isList = Array.isArray(value);
  if (!isOpen) {
    return (
      <Button
        kind="plain"
        small
        onClick={() => setOpen(true)}
        aria-label={`${isList ? TEXT.addElement : TEXT.addMember}: ${name}`}
      >
        {isList ? TEXT.addElement : TEXT.addMember}
      </Button>
    );
  }
  const add = (): void => {
    const token = isList ? String(value.length) : member;
    if (token === '') return setFault(TEXT.nameMissing);
    if (valueAt(value, formatPointer([token])) !== undefined) return setFault(TEXT.nameTaken);
    const tokens = [...parsePointer(pointer), token];
    edit((draft) => ({ ...draft, content: withValue(draft.content, tokens, EMPTY[kind]) }));
    setOpen(false);
    setMember('');
    setFault(undefined);
  };
  return (
    <fieldset className={styles.addForm}>
      <legend className="visually-hidden">{TEXT.addTo(name)}</legend>
      {!isList && (
        <TextField
          label={TEXT.memberName}
          value={member}
          fault={fault}
          autoFocus
          onChange={(event) => setMember(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && (event.preventDefault(), add())}
        />
      )}
      <Select
        label={TEXT.memberType}
        value={kind}
        options={KINDS}
        autoFocus={isList}
        onChange={(event) => setKind(KINDS.find((one) => one.value === event.target.value)?.value ?? 'text')}
      />
      <Button small onClick={add}>
        {TEXT.add}
      </Button>
      <Button small kind="plain" onClick={() => setOpen(false)}>
        {TEXT.cancel}
      </Button>
    </fieldset>
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
