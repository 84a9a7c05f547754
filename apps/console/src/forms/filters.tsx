import { type InputHTMLAttributes, type ReactNode, useEffect, useRef } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Field, Select } from '../ui/field.tsx';
import styles from '../ui/ui.module.css';

/** The query parameters of all views, as texts. */
type Search = Readonly<Record<string, string | undefined>>;

/** Returns the query parameters of the address, and a function that changes some of them. */
export function useFilters(): { search: Search; set: (change: Search) => void } {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const set = (change: Search): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  return { search, set };
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

/** A filter by one of a few values. The first one applies if the address names none. */
export function ChoiceFilter({ name, label, options }: NamedProps & { options: Readonly<Record<string, string>> }) {
  const { search, set } = useFilters();
  const [first = ''] = Object.keys(options);
  return (
    <Select
      label={label}
      value={search[name] ?? first}
      options={Object.entries(options).map(([value, text]) => ({ value, label: text }))}
      onChange={({ target: { value } }) => set({ [name]: value === first ? '' : value })}
    />
  );
}
