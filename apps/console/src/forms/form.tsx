import { type ChangeEvent, type FormEvent, type InputHTMLAttributes, type ReactNode, useState } from 'react';
import { type ApiCall, useAction } from '../app/api.ts';
import { TEXT } from '../text/ui.ts';
import { Button, type ButtonKind } from '../ui/button.tsx';
import { CopyCurl } from '../ui/copy.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Problem } from '../ui/page.tsx';
import ui from '../ui/ui.module.css';

type Values = Readonly<Record<string, string | boolean | readonly string[]>>;
type Change = ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>;

type Faults<V> = { readonly [Name in keyof V]?: string | undefined };

/** Sends the call of a form. It is a mutation of `useAction`, or an object with the same members. */
export interface Action<T> {
  readonly isPending: boolean;
  readonly error: Error | null;
  mutate(call: ApiCall<T>, options: { onSuccess: (answer: T) => void }): void;
}

/** Returns the members of `after` that differ from `before`: the body of a change. */
export function changedMembers<T extends object>(before: T, after: T): Partial<T> {
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

/** Returns a moment as a `datetime-local` value in the reader's time zone, to the second; empty for no moment. */
export function localOf(at: string | null | undefined): string {
  const date = new Date(at ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Returns the moment of a `datetime-local` value in the reader's time zone; null if it is empty. */
export function instantOf(local: string): string | null {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Returns whether a `datetime-local` value is invalid or in the past. An empty value is neither. */
export function isPast(local: string): boolean {
  return local !== '' && !(Date.parse(local) > Date.now());
}

interface MomentFieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  hint?: string;
  fault?: string | undefined;
}

/** Chooses a moment in the reader's time zone. Its value is that of `localOf` and `instantOf`. */
export function MomentField(props: MomentFieldProps) {
  return <TextField {...props} type="datetime-local" />;
}

interface FormProps {
  form: FormState;
  /** The label of the button that sends the form. */
  submit: string;
  children: ReactNode;
  /** Further buttons. */
  buttons?: ReactNode;
  /** The form offers its call as a curl command. */
  hasCurl?: boolean;
  /** The form shows its own errors instead of the browser's. */
  noValidate?: boolean;
  /** The button that sends comes last, at the end of a dialog. */
  isInDialog?: boolean;
}

/** Shows the fields of a form, the error of its call, and the button that sends it. */
export function Form({ form, submit, children, buttons, ...rest }: FormProps) {
  const { hasCurl = true, noValidate = false, isInDialog = false } = rest;
  const send = (
    <Button type="submit" kind="primary" isPending={form.isPending} disabled={form.isDisabled}>
      {submit}
    </Button>
  );
  return (
    <form className={ui.form} onSubmit={form.submit} noValidate={noValidate}>
      {children}
      {form.error !== null && <Problem error={form.error} />}
      <div className={isInDialog ? ui.dialogFoot : ui.actions}>
        {!isInDialog && send}
        {hasCurl && form.call !== null && <CopyCurl call={form.call} />}
        {buttons}
        {isInDialog && send}
      </div>
    </form>
  );
}

interface FormDialogProps extends Omit<FormProps, 'isInDialog'> {
  title: string;
  /** A sentence above the fields. */
  note?: string;
  /** The label of the button that closes the dialog. */
  cancel?: string;
  onClose: () => void;
}

/** A form in a dialog. */
export function FormDialog({ title, note, cancel = TEXT.cancel, buttons, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      {note !== undefined && <p>{note}</p>}
      <Form
        {...form}
        isInDialog
        buttons={
          <>
            <Button onClick={onClose}>{cancel}</Button>
            {buttons}
          </>
        }
      />
    </Dialog>
  );
}

interface ConfirmCallProps {
  title: string;
  /** The label of the button that sends the call. */
  confirm: string;
  kind?: ButtonKind;
  /** Null while there is nothing to send. */
  call: ApiCall | null;
  /** The paths whose queries are reloaded. */
  changes: readonly string[];
  /** Runs instead of `onClose` after the call. */
  onDone?: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks for confirmation, sends a call, and closes after it. A failure keeps the dialog open. */
export function ConfirmCall({ call, changes, onClose, onDone = onClose, ...rest }: ConfirmCallProps) {
  const { mutate, isPending, error } = useAction(...changes);
  return (
    <Confirm
      {...rest}
      isPending={isPending}
      error={error}
      onConfirm={() => call !== null && mutate(call, { onSuccess: onDone })}
      onClose={onClose}
    />
  );
}
