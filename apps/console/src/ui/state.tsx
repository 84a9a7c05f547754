import type { ReactNode } from 'react';
import { ErasedError } from '@identity-state/client';
import { TEXT } from '../text/ui.ts';
import { Problem } from './problem.tsx';
import styles from './ui.module.css';

export function Loading() {
  return (
    <p className={styles.loading} role="status">
      {TEXT.loading}
    </p>
  );
}

/** Shows that there is no data, and the next step. */
export function Empty({ title, text, children }: { title: string; text?: ReactNode; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}

export function Notice({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div className={styles.notice} data-tone={tone}>
      {children}
    </div>
  );
}

interface Answered<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

/** Shows the data of a query or its error. If a reload fails, it shows both, except after an erasure. */
export function Answer<T>({ query, children }: { query: Answered<T>; children: (data: T) => ReactNode }) {
  const { error } = query;
  const data = error instanceof ErasedError ? undefined : query.data;
  return (
    <>
      {error !== null && <Problem error={error} retry={() => void query.refetch()} />}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </>
  );
}
