import { type InputHTMLAttributes, useEffect, useRef } from 'react';
import { Field } from '../ui/field.tsx';
import styles from '../ui/ui.module.css';

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
