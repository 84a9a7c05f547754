import type { InputHTMLAttributes } from 'react';
import { TextField } from '../ui/field.tsx';

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

/** Returns whether a `datetime-local` value is a moment that has passed, or none at all. An empty value is neither. */
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
