import { useId } from 'react';
import { createPortal } from 'react-dom';
import { isJsonObject } from '@iss/domain/pure';
import type { api } from '@identity-state/client';
import { instantOf, localOf, MomentField } from '../../forms/form.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Select, TextArea, TextField } from '../../ui/field.tsx';
import { Place, wholeName } from '../../ui/text/place.tsx';
import { TEXT as SUBJECT } from '../subject/words.ts';
import ui from '../../ui/ui.module.css';
import {
  coverOf,
  evidenceOf,
  itemOf,
  refersTo,
  roleOf,
  supportedBy,
  textMember,
  withItem,
  withMended,
  withRole,
  withSupport,
} from './draft/backing.ts';
import {
  isAtOrBelow,
  isSame,
  type JsonObject,
  type JsonValue,
  leafPointersOf,
  draftPatch,
  valueAt,
} from './draft/content.ts';
import type { Draft } from './draft/draft.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

/** The number of unchanged values that can be chosen. */
const MAX_PLACES = 500;
const ID_CHARACTERS = 6;

interface EvidenceFormProps {
  draft: Draft;
  focus: string | undefined;
  faults: ReadonlyMap<string, readonly string[]>;
  edit: (change: (draft: Draft) => Draft) => void;
  /** The value beside which its new evidence is entered, and the element there. */
  beside: { readonly pointer: string; readonly place: HTMLElement } | null;
}

/** The provenance of the base, by pointer. */
export type Proved = ReadonlyMap<string, api.ProvedLeaf>;

/** Returns a new item of evidence, captured now. */
export function newItem(): JsonObject {
  const at = new Date();
  const id = `ev-${at.toISOString().slice(0, 10)}-${crypto.randomUUID().slice(0, ID_CHARACTERS)}`;
  return { evidence_id: id, evidence_type: '', source: '', captured_at: at.toISOString() };
}

/** Adds the newest item of the draft, or a new one, as evidence of a value and of those with the same fault. */
export function withEvidenceFor(draft: Draft, pointer: string, proved: Proved): Draft {
  const { baseContent: base } = draft;
  const added = evidenceOf(draft.content).findLast((item) => itemOf(base, item) === undefined);
  const item = added ?? newItem();
  const content =
    added === undefined ? { ...draft.content, evidence: [...evidenceOf(draft.content), item] } : draft.content;
  return { ...draft, content: withMended(base, content, item, { pointer, stale: staleWith(proved, pointer) }) };
}

/** Returns the values with the same outdated evidence as a value. */
function staleWith(proved: Proved, pointer: string): string[] {
  const evidenceFor = (leaf: api.ProvedLeaf): string =>
    JSON.stringify(leaf.evidence.map(({ evidence_id: id, evidence_type: type }) => [id, type]));
  const own = proved.get(pointer);
  if (own?.evidence_status !== 'carried') return [];
  return [...proved.values()].flatMap((leaf) =>
    leaf.evidence_status === 'carried' && evidenceFor(leaf) === evidenceFor(own) ? [leaf.path] : [],
  );
}

const ROLES = Object.entries(SUBJECT.roles).map(([value, label]) => ({ value, label }));
type FieldName = keyof typeof TEXT.fields;
const REQUIRED: readonly FieldName[] = ['evidence_id', 'evidence_type', 'source', 'captured_at'];
const isRequired = (name: FieldName): boolean => REQUIRED.includes(name);

/** Returns the missing members of the items that a draft adds, by pointer. */
export function missingOf(base: JsonObject, content: JsonObject): ReadonlyMap<string, readonly string[]> {
  const missing = new Map<string, readonly string[]>();
  evidenceOf(content).forEach((item, index) => {
    if (!isAdded(base, item)) return;
    for (const name of REQUIRED) {
      if (textMember(item, name).trim() === '') missing.set(`/evidence/${index}/${name}`, [TEXT.required]);
    }
  });
  return missing;
}

function isAdded(base: JsonObject, item: JsonValue): boolean {
  return !evidenceOf(base).some((one) => isSame(one, item));
}

/** Shows the evidence of a draft: new items to fill in, and existing ones. */
export function EvidenceForm({ draft, focus, faults, edit, beside }: EvidenceFormProps) {
  const { baseContent: base, content } = draft;
  const items = evidenceOf(content).map((item, index) => ({ item, index }));
  const added = items.filter(({ item }) => isAdded(base, item));
  const existing = items.filter(({ item }) => !isAdded(base, item));
  const changed = changedPlaces(base, content, focus);
  const support = (item: JsonValue, pointer: string, isOn: boolean): void =>
    edit((before) => ({ ...before, content: withSupport(base, before.content, item, { pointer, isOn }) }));
  const add = (): void =>
    edit((before) => ({
      ...before,
      content: { ...before.content, evidence: [...evidenceOf(before.content), newItem()] },
    }));
  const isBeside = (item: JsonValue): boolean =>
    beside !== null && coverOf(content, beside.pointer).some((reference) => refersTo(reference, item));
  const forms = (wanted: typeof added, isFocused: boolean) =>
    wanted.map(({ item, index }) => (
      <NewItem
        key={index}
        item={item}
        index={index}
        role={roleOf(content, item)}
        faults={faults}
        isFocused={isFocused}
        edit={edit}
      >
        <Supports item={item} content={content} changed={changed} support={support} />
      </NewItem>
    ));
  return (
    <section className={ui.card} aria-label={TEXT.evidence} id="evidence">
      {beside !== null &&
        createPortal(
          forms(
            added.filter(({ item }) => isBeside(item)),
            true,
          ),
          beside.place,
        )}
      <div className={ui.pageHead}>
        <div>
          <h2>{TEXT.evidence}</h2>
          <p className={styles.quiet}>{TEXT.evidenceNote}</p>
        </div>
        <Button small onClick={add}>
          {TEXT.newEvidence}
        </Button>
      </div>
      <div className={styles.items}>
        {forms(
          added.filter(({ item }) => !isBeside(item)),
          false,
        )}
      </div>
      {existing.length === 0 ? (
        added.length === 0 && <p className={styles.quiet}>{TEXT.noEvidence}</p>
      ) : (
        <details className={styles.group}>
          <summary>
            <span className={styles.name}>{TEXT.existing}</span> <span className={styles.quiet}>{existing.length}</span>
          </summary>
          <div className={styles.items}>
            {existing.map(({ item, index }) => (
              <fieldset key={index} className={styles.item}>
                <legend>
                  {textMember(item, 'evidence_id')} · {textMember(item, 'evidence_type')}{' '}
                  <span className={styles.quiet}>{TEXT.from(textMember(item, 'source'))}</span>
                </legend>
                <Supports item={item} content={content} changed={changed} support={support} />
              </fieldset>
            ))}
          </div>
        </details>
      )}
    </section>
  );
}

/** Returns the values that the draft adds or replaces, the groups that lost one, and the value that it was opened for. */
function changedPlaces(base: JsonObject, content: JsonObject, focus: string | undefined): string[] {
  const changed = draftPatch(base, content).flatMap(({ op, path }) => {
    if (!isAtOrBelow(path, '/attributes')) return [];
    return [op === 'remove' ? path.slice(0, path.lastIndexOf('/')) : path];
  });
  const wanted = focus !== undefined && valueAt(content, focus) !== undefined ? [focus] : [];
  return [...new Set([...wanted, ...changed])].slice(0, MAX_PLACES);
}

interface NewItemProps {
  item: JsonValue;
  index: number;
  role: string;
  /** The first field gets the focus when it appears. */
  isFocused: boolean;
  faults: ReadonlyMap<string, readonly string[]>;
  edit: (change: (draft: Draft) => Draft) => void;
  children: React.ReactNode;
}

function NewItem({ item, index, role, faults, isFocused, edit, children }: NewItemProps) {
  const id = useId();
  const replace = (change: (before: JsonObject) => JsonObject | null): void =>
    edit((draft) => {
      const before = evidenceOf(draft.content)[index];
      if (!isJsonObject(before)) return draft;
      return { ...draft, content: withItem(draft.baseContent, draft.content, index, change(before)) };
    });
  const change = (name: FieldName, value: string): void =>
    replace((before) => {
      const next: JsonObject = { ...before, [name]: value };
      if (value === '' && !isRequired(name)) delete next[name];
      return next;
    });
  const field = (name: FieldName) => ({
    label: TEXT.fields[name],
    value: textMember(item, name),
    fault: faults.get(`/evidence/${index}/${name}`)?.join(' '),
    required: isRequired(name),
    onChange: (event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => change(name, event.target.value),
  });
  const whole = faults.get(`/evidence/${index}`);
  return (
    <fieldset className={styles.item} data-new-evidence>
      <legend>{TEXT.newItem(textMember(item, 'evidence_id'))}</legend>
      {whole !== undefined && <p className={ui.fault}>{whole.join(' ')}</p>}
      <div className={styles.itemFields}>
        <TextField
          {...field('evidence_type')}
          autoFocus={isFocused}
          list={`${id}-types`}
          hint={TEXT.hints.evidence_type}
        />
        <datalist id={`${id}-types`}>
          {TEXT.evidenceTypes.map((type) => (
            <option key={type} value={type} />
          ))}
        </datalist>
        <TextField {...field('source')} hint={TEXT.hints.source} />
        <MomentField
          {...field('captured_at')}
          step={1}
          value={localOf(textMember(item, 'captured_at'))}
          onChange={(event) => change('captured_at', instantOf(event.target.value) ?? '')}
        />
        <TextField {...field('evidence_id')} />
        {role !== '' && (
          <Select
            label={TEXT.role}
            value={role}
            options={ROLES}
            onChange={(event) =>
              edit((draft) => ({ ...draft, content: withRole(draft.content, item, event.target.value) }))
            }
          />
        )}
        <TextField {...field('locator')} />
        <TextArea rows={1} {...field('notes')} />
      </div>
      {children}
      <div>
        <Button kind="plain" small onClick={() => replace(() => null)}>
          {TEXT.removeItem}
        </Button>
      </div>
    </fieldset>
  );
}

interface SupportsProps {
  item: JsonValue;
  content: JsonObject;
  changed: readonly string[];
  support: (item: JsonValue, pointer: string, isOn: boolean) => void;
}

/** Chooses the values that an item supports. */
function Supports({ item, content, changed, support }: SupportsProps) {
  const on = supportedBy(content, item);
  const offered = [...new Set([...changed, ...on])];
  const others = leafPointersOf(content, MAX_PLACES).filter((path) => !offered.includes(path));
  return (
    <div className={styles.supports} role="group" aria-label={TEXT.supports}>
      <span className={ui.legend}>{TEXT.supports}</span>
      {offered.length === 0 && <span className={styles.quiet}>{TEXT.supportsNothing}</span>}
      {offered.map((pointer) => (
        <Checkbox
          key={pointer}
          label={<Place pointer={pointer} />}
          checked={on.includes(pointer)}
          onChange={(event) => support(item, pointer, event.target.checked)}
        />
      ))}
      {others.length > 0 && (
        <select
          className={ui.input}
          aria-label={TEXT.anotherPlace}
          value=""
          onChange={(event) => support(item, event.target.value, true)}
        >
          <option value="">{`${TEXT.anotherPlace}: ${TEXT.choosePlace}`}</option>
          {others.map((pointer) => (
            <option key={pointer} value={pointer}>
              {wholeName(pointer)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
