import { type InputHTMLAttributes, type ReactNode, useEffect, useRef } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Field, Select } from '../ui/field.tsx';
import { TEXT } from '../text/ui.ts';
import styles from '../ui/ui.module.css';

/** The query parameters of all views, as texts. */
type Search = Readonly<Record<string, string | undefined>>;

interface FiltersOfAddress {
  readonly search: Search;
  /** Changes parameters in place. */
  set(change: Search): void;
  /** Changes parameters as a new entry of the browser's history. */
  push(change: Search): void;
}

/** Returns the query parameters of the address, and functions that change some of them. */
export function useFilters(): FiltersOfAddress {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const go = (change: Search, replace: boolean): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...change }), replace, resetScroll: false });
  return { search, set: (change) => go(change, true), push: (change) => go(change, false) };
}

/** Groups the filters of a list. */
export function Filters({ children }: { children: ReactNode }) {
  return <div className={styles.filters}>{children}</div>;
}

interface FilterFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'defaultValue' | 'onChange'> {
  label: string;
  hint?: string;
  /** The value in the address. */
  value: string | undefined;
  onChange: (value: string) => void;
}

/**
 * A filter whose value is part of the address. The address follows the field with a delay; until then the field keeps the
 * typed text.
 */
export function FilterField({ label, hint, value = '', onChange, type = 'search', ...rest }: FilterFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null && input.current !== document.activeElement) input.current.value = value;
  }, [value]);
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(control) => (
        <input
          autoComplete="off"
          {...rest}
          {...control}
          ref={input}
          type={type}
          defaultValue={value}
          className={styles.input}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface NamedProps {
  /** The query parameter. */
  name: string;
  label: string;
}

/** A filter by a text. */
export function TextFilter({ name, ...rest }: NamedProps & Omit<FilterFieldProps, 'value' | 'onChange' | 'name'>) {
  const { search, set } = useFilters();
  return <FilterField {...rest} value={search[name]} onChange={(text) => set({ [name]: text })} />;
}

/** A filter by a day. */
export function DateFilter(props: NamedProps) {
  return <TextFilter {...props} type="date" />;
}

/** A filter by the first and last day of a period: `from` and `to`. */
export function PeriodFilter({ from, to }: { from: string; to: string }) {
  return (
    <>
      <DateFilter name="from" label={from} />
      <DateFilter name="to" label={to} />
    </>
  );
}

/**
 * A filter by one of a few values. The first one applies if the address names none. A value of the address that is not among them is
 * shown as a fault, because the list ignores it.
 */
export function ChoiceFilter({ name, label, options }: NamedProps & { options: Readonly<Record<string, string>> }) {
  const { search, set } = useFilters();
  const [first = ''] = Object.keys(options);
  const given = search[name] ?? first;
  const isUnknown = given !== '' && !isKey(options, given);
  const shown: Readonly<Record<string, string>> = isUnknown ? { ...options, [given]: given } : options;
  return (
    <Select
      label={label}
      value={given}
      fault={isUnknown ? TEXT.unknownFilter(given) : undefined}
      options={Object.entries(shown).map(([value, text]) => ({ value, label: text }))}
      onChange={({ target: { value } }) => set({ [name]: value === first ? '' : value })}
    />
  );
}

/** Returns a text of the address if it is the key of one of these words. */
export function keyIn<T extends object>(words: T, text: string | undefined): (keyof T & string) | undefined {
  return text !== undefined && isKey(words, text) ? text : undefined;
}

function isKey<T extends object>(words: T, text: string): text is keyof T & string {
  return Object.hasOwn(words, text);
}
