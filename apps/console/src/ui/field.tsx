import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';
import styles from './ui.module.css';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  /** The error of the value. */
  fault?: string | undefined;
}

export function Field({
  label,
  hint,
  fault,
  children,
}: FieldProps & {
  children: (control: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean | undefined;
  }) => ReactNode;
}) {
  const id = useId();
  const hintId = hint === undefined ? [] : [`${id}-hint`];
  const faultId = fault === undefined ? [] : [`${id}-fault`];
  const describedBy = [...hintId, ...faultId].join(' ');
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': describedBy === '' ? undefined : describedBy,
        'aria-invalid': fault === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <span id={`${id}-hint`} className={styles.hint}>
          {hint}
        </span>
      )}
      {fault !== undefined && (
        <span id={`${id}-fault`} className={styles.fault}>
          {fault}
        </span>
      )}
    </div>
  );
}

export function TextField({ label, hint, fault, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => <input autoComplete="off" {...rest} {...control} className={styles.input} />}
    </Field>
  );
}

export function TextArea({ label, hint, fault, ...rest }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => <textarea spellCheck={false} {...rest} {...control} className={styles.input} />}
    </Field>
  );
}

export function Select({
  label,
  hint,
  fault,
  options,
  ...rest
}: FieldProps &
  SelectHTMLAttributes<HTMLSelectElement> & {
    options: readonly { readonly value: string; readonly label: string }[];
  }) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <select {...rest} {...control} className={styles.input}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  hint,
  ...rest
}: Pick<FieldProps, 'hint'> & { label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const box = (
    <label className={styles.choice}>
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
  if (hint === undefined) return box;
  return (
    <div>
      {box}
      <p className={styles.quiet}>{hint}</p>
    </div>
  );
}
