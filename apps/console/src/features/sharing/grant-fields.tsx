import { SCOPES, TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { localOf, SCOPE_NAMES, type Scope } from './grants.ts';
import styles from './sharing.module.css';

const DAY_MS = 86_400_000;
const DAYS = [7, 30, 90, 365] as const;

/** Chooses the scopes of a grant. */
export function ScopeFields({ value, onChange }: { value: readonly Scope[]; onChange: (value: Scope[]) => void }) {
  const toggle = (scope: Scope): void =>
    onChange(SCOPE_NAMES.filter((one) => (one === scope ? !value.includes(one) : value.includes(one))));
  return (
    <fieldset className={styles.fieldset}>
      <legend>{TEXT.make.scopes}</legend>
      {SCOPE_NAMES.map((scope) => (
        <label key={scope} className={styles.choice}>
          <input type="checkbox" checked={value.includes(scope)} onChange={() => toggle(scope)} />
          <span>
            {SCOPES[scope].name} <code className={styles.quiet}>{scope}</code>
          </span>
          <span className={styles.quiet}>{SCOPES[scope].lets}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Chooses the end of a grant as a `datetime-local` value; empty for no end. */
export function UntilField({
  value,
  onChange,
  fault,
}: {
  value: string;
  onChange: (value: string) => void;
  fault?: string | undefined;
}) {
  return (
    <div className={styles.fieldset}>
      <TextField
        label={TEXT.make.until}
        hint={TEXT.make.untilHint}
        fault={fault}
        type="datetime-local"
        step={1}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <div className={styles.row}>
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
          {TEXT.noEnd}
        </Button>
      </div>
    </div>
  );
}
