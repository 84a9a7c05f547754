import type { ButtonHTMLAttributes } from 'react';
import styles from './ui.module.css';

export type ButtonKind = 'normal' | 'primary' | 'danger' | 'plain';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: ButtonKind;
  small?: boolean;
  /** True while the action of the button runs. A pending button ignores clicks and keeps the focus. */
  isPending?: boolean;
}

export function buttonClass(kind: ButtonKind = 'normal', small = false): string {
  return [styles.button, kind === 'normal' ? '' : styles[kind], small ? styles.small : ''].filter(Boolean).join(' ');
}

export function Button({ kind, small, isPending = false, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass(kind, small)}
      aria-disabled={isPending || undefined}
      aria-busy={isPending || undefined}
      onClick={(event) => (isPending ? event.preventDefault() : onClick?.(event))}
    />
  );
}
