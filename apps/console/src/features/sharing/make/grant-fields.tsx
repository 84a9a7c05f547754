import { type ComponentProps, type ReactNode, useId } from 'react';
import { GRANT, SCOPE_TEXTS } from '../../../entities/grant.tsx';
import { type Scope, SCOPES } from '@iss/domain/pure';
import { SCOPE_TITLES } from '../../../entities/scope-names.ts';
import { localOf, MomentField } from '../../../forms/form.tsx';
import { Button } from '../../../ui/button.tsx';
import { TEXT } from '../words.ts';
import ui from '../../../ui/ui.module.css';
import styles from '../styles.module.css';

const DAY_MS = 86_400_000;
const DAYS = [7, 30, 90, 365] as const;

interface EitherProps {
  legend: string;
  /** The choice for false, and that for true. */
  labels: readonly [string, string];
  value: boolean;
  onChange: (value: boolean) => void;
  children?: ReactNode;
}

/** Chooses one of two. */
export function Either({ legend, labels, value, onChange, children }: EitherProps) {
  const name = useId();
  return (
    <fieldset className={styles.fieldset}>
      <legend>{legend}</legend>
      {labels.map((label, index) => (
        <label key={label} className={styles.choice}>
          <input type="radio" name={name} checked={value === (index === 1)} onChange={() => onChange(index === 1)} />
          <span>{label}</span>
        </label>
      ))}
      {children}
    </fieldset>
  );
}

interface ScopeFieldsProps {
  value: readonly Scope[];
  onChange: (value: readonly Scope[]) => void;
}

/** Chooses the scopes of a grant. */
export function ScopeFields({ value, onChange }: ScopeFieldsProps) {
  const toggle = (scope: Scope): void =>
    onChange(SCOPES.filter((one) => (one === scope ? !value.includes(one) : value.includes(one))));
  return (
    <fieldset className={styles.fieldset}>
      <legend>{TEXT.make.scopes}</legend>
      {SCOPES.map((scope) => (
        <label key={scope} className={styles.choice}>
          <input type="checkbox" checked={value.includes(scope)} onChange={() => toggle(scope)} />
          <span>
            {SCOPE_TITLES[scope]} <code className={ui.quiet}>{scope}</code>
          </span>
          <span className={ui.quiet}>{SCOPE_TEXTS[scope]}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface UntilFieldProps {
  /** A `datetime-local` value; empty for none. */
  value: string;
  onChange: (value: string) => void;
  fault: string | undefined;
}

/** Chooses the start of a grant. */
export function StartField(field: Pick<ComponentProps<typeof MomentField>, 'value' | 'onChange' | 'fault'>) {
  return <MomentField label={TEXT.make.start} hint={TEXT.make.startHint} step={1} {...field} />;
}

/** Chooses the end of a grant. */
export function UntilField({ value, onChange, fault }: UntilFieldProps) {
  return (
    <div className={styles.fieldset}>
      <MomentField
        label={TEXT.make.until}
        hint={TEXT.make.untilHint}
        fault={fault}
        step={1}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <div className={ui.row}>
        {DAYS.map((days) => (
          <Button
            key={days}
            small
            onClick={() => onChange(localOf(new Date(Date.now() + days * DAY_MS).toISOString()))}
          >
            {TEXT.make.inDays(days)}
          </Button>
        ))}
        <Button small onClick={() => onChange('')}>
          {GRANT.noEnd}
        </Button>
      </div>
    </div>
  );
}
