import { type ChangeEvent, type FormEvent, useState } from 'react';
import type { ApiCall } from '../app/api.ts';

type Values = Readonly<Record<string, string | boolean | readonly string[]>>;
type Change = ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>;

type Faults<V> = { readonly [Name in keyof V]?: string | undefined };

/** Sends the call of a form: a mutation of `useAction`, or anything like it. */
export interface Action<T> {
  readonly isPending: boolean;
  readonly error: Error | null;
  mutate(call: ApiCall<T>, options: { onSuccess: (answer: T) => void }): void;
}

/** Returns the members of `after` that differ from `before`: the body of a change. */
export function patchOf<T extends object>(before: T, after: T): Partial<T> {
  const patch: Partial<T> = { ...after };
  for (const name in patch) {
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) delete patch[name];
  }
  return patch;
}

interface FormOptions<V extends Values, T> {
  readonly start: V;
  readonly action: Action<T>;
  /** Returns the call that the values make; null while there is nothing to send, which disables the form. */
  readonly callOf: (values: V) => ApiCall<T> | null;
  /** Returns the errors of the values. The form shows them once the user tries to submit it. */
  readonly faultsOf?: (values: V) => Faults<V>;
  readonly onDone: (answer: T, values: V) => void;
}

/** The part of a form that its frame needs. */
export interface FormState {
  readonly call: ApiCall | null;
  readonly isDisabled: boolean;
  readonly isPending: boolean;
  readonly error: Error | null;
  submit(event: FormEvent): void;
}

interface Form<V extends Values> extends FormState {
  readonly values: V;
  set(change: Partial<V>): void;
  /** Returns the properties of a text field, or of a select that takes any value. */
  text(name: keyof V): { value: string; fault: string | undefined; onChange: (event: Change) => void };
  /** Returns the properties of a select that takes only these values. */
  choice<Name extends keyof V>(
    name: Name,
    options: readonly V[Name][],
  ): { value: string; onChange: (event: Change) => void };
  check(name: keyof V): { checked: boolean; onChange: (event: ChangeEvent<HTMLInputElement>) => void };
}

/** Keeps the values of a form, and sends the call that they make. A failure keeps the values. */
export function useForm<V extends Values, T>(options: FormOptions<V, T>): Form<V> {
  const { start, action, callOf, faultsOf, onDone } = options;
  const [values, setValues] = useState(start);
  const [isTried, setTried] = useState(false);
  const put = <Name extends keyof V>(name: Name, value: V[Name] | string | boolean): void =>
    setValues((before) => ({ ...before, [name]: value }));
  const faults: Faults<V> = faultsOf?.(values) ?? {};
  const isFaulty = Object.values(faults).some((fault) => fault !== undefined);
  const call = isFaulty ? null : callOf(values);
  return {
    values,
    call,
    isDisabled: call === null && !isFaulty,
    isPending: action.isPending,
    error: action.error,
    set: (change) => setValues((before) => ({ ...before, ...change })),
    submit: (event) => {
      event.preventDefault();
      setTried(true);
      if (call !== null) action.mutate(call, { onSuccess: (answer) => onDone(answer, values) });
    },
    text: (name) => ({
      value: String(values[name]),
      fault: isTried ? faults[name] : undefined,
      onChange: (event) => put(name, event.target.value),
    }),
    choice: (name, choices) => ({
      value: String(values[name]),
      onChange: (event) => {
        const chosen = choices.find((one) => one === event.target.value);
        if (chosen !== undefined) put(name, chosen);
      },
    }),
    check: (name) => ({ checked: values[name] === true, onChange: (event) => put(name, event.target.checked) }),
  };
}
