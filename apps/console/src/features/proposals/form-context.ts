import { createContext, type RefCallback, useContext } from 'react';
import type { JsonObject, JsonValue } from './draft/content.ts';
import type { Draft } from './draft/draft.ts';
import type { Proved } from './evidence-form.tsx';
import { TEXT } from './words.ts';

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
  /** The value whose new evidence is entered beside it, and the ref of the element for that. */
  readonly beside: string | undefined;
  readonly placeBeside: RefCallback<HTMLElement>;
}

const Context = createContext<FormContext | null>(null);
export const FormProvider = Context;

/** Returns the data of the form around a field. */
export function useProposalForm(): FormContext {
  const form = useContext(Context);
  if (form === null) throw new Error('This component needs a form around it.');
  return form;
}

export type ValueKind = keyof typeof TEXT.kinds;
export const VALUE_KINDS = (
  ['text', 'number', 'boolean', 'null', 'group', 'list'] as const satisfies readonly ValueKind[]
).map((value) => ({
  value,
  label: TEXT.kinds[value],
}));
/** The value that a new member of each kind starts with. */
export const EMPTY: Readonly<Record<ValueKind, JsonValue>> = {
  text: '',
  number: 0,
  boolean: false,
  null: null,
  group: {},
  list: [],
};

export function valueKindOf(value: JsonValue): ValueKind {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'object') return Array.isArray(value) ? 'list' : 'group';
  return typeof value === 'number' ? 'number' : 'boolean';
}

export interface PlaceProps {
  pointer: string;
  name: string;
  value: JsonValue;
  /** The value in the base version, if any. */
  before: JsonValue | undefined;
  unread: Draft['unread'];
  /** True if groups are open at first. */
  isOpen: boolean;
}
