import { memo, useState } from 'react';
import { formatPointer, parsePointer } from '@iss/domain/pure';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Badge } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import { Beside, AttributeLeaf, Mark, RemoveButton } from './attribute-leaf.tsx';
import {
  countLeaves,
  isAtOrBelow,
  type JsonObject,
  type JsonValue,
  attributionOf,
  valueAt,
  withValue,
} from './draft/content.ts';
import type { Draft } from './draft/draft.ts';
import { EMPTY, type ValueKind, valueKindOf, VALUE_KINDS, type PlaceProps, useProposalForm } from './form-context.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

/** A tree with fewer values is shown open. */
const OPEN_LEAVES = 120;
const SHOWN_MEMBERS = 100;

/** Shows a field for each attribute. */
export function AttributeForm({ attributes, unread }: { attributes: JsonValue; unread: Draft['unread'] }) {
  const { base } = useProposalForm();
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

const Place = memo(function Place(props: PlaceProps) {
  const kind = valueKindOf(props.value);
  return kind === 'group' || kind === 'list' ? <Group {...props} /> : <AttributeLeaf {...props} kind={kind} />;
});

function Group(props: PlaceProps) {
  const { pointer, name, value, before, isOpen } = props;
  const { focus, faults } = useProposalForm();
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
  const { focus } = useProposalForm();
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
  const { base, edit } = useProposalForm();
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
  const back = Object.entries(attributionOf(base)).filter(([path]) => isAtOrBelow(path, pointer));
  if (back.length === 0) return content;
  return { ...content, attribute_paths: { ...attributionOf(content), ...Object.fromEntries(back) } };
}

function Faults({ pointer }: { pointer: string }) {
  const { faults } = useProposalForm();
  const own = faults.get(pointer) ?? [];
  return own.length === 0 ? null : <p className={ui.fault}>{own.join(' ')}</p>;
}

function AddMember({ pointer, name, value }: { pointer: string; name: string; value: JsonValue }) {
  const { edit } = useProposalForm();
  const [isOpen, setOpen] = useState(false);
  const [member, setMember] = useState('');
  const [kind, setKind] = useState<ValueKind>('text');
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
        options={VALUE_KINDS}
        autoFocus={isList}
        onChange={(event) => setKind(VALUE_KINDS.find((one) => one.value === event.target.value)?.value ?? 'text')}
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
