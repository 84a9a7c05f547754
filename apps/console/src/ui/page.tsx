import { ApiError, ErasedError, VerificationError } from '@identity-state/client';
import { Fragment, type ReactNode, useEffect } from 'react';
import { TEXT } from '../text/ui.ts';
import { Button } from './button.tsx';
import { type Call, CopyCurl } from './copy.tsx';
import { visible } from './jsx-runtime.ts';
import styles from './ui.module.css';

/** Shows an error, the next step, and the request id for the operator. An erasure is not an error. */
export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  if (error instanceof ErasedError) {
    return (
      <div role="status" className={styles.notice} data-tone="warn">
        {TEXT.erased(error.receipt?.snapshot_version)}
      </div>
    );
  }
  const api = error instanceof ApiError ? error : null;
  return (
    <div role="alert" className={styles.problem} data-problem={api?.code ?? error.name}>
      <p>
        <strong>{error instanceof VerificationError ? TEXT.notVerified : TEXT.failed}</strong> {error.message}
      </p>
      {api !== null && api.details.length > 0 && (
        <ul>
          {api.details.map(({ path, message }, index) => (
            <li key={index}>
              {path !== null && path !== undefined && path !== '' && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {api !== null && (
        <p>
          {api.code !== null && (
            <>
              <a href={`/docs/errors#${api.code}`} target="_blank" rel="noreferrer">
                {TEXT.about(api.code)}
              </a>{' '}
            </>
          )}
          {api.requestId !== null && (
            <>
              {TEXT.requestId} <code>{api.requestId}</code>
            </>
          )}
        </p>
      )}
      {retry !== undefined && (
        <Button small onClick={retry}>
          {TEXT.retry}
        </Button>
      )}
    </div>
  );
}

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
export function Loaded<T>({ query, children }: { query: Answered<T>; children: (data: T) => ReactNode }) {
  const { error } = query;
  const data = error instanceof ErasedError ? undefined : query.data;
  return (
    <>
      {error !== null && <Problem error={error} retry={() => void query.refetch()} />}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </>
  );
}

interface PageProps {
  title: string;
  /** A sentence below the title. */
  note?: ReactNode;
  actions?: ReactNode;
  /** The call that returns the data of the page. */
  call?: Call;
  children: ReactNode;
}

/** A view. Its title is also the title of the document. */
export function Page({ title, note, actions, call, children }: PageProps) {
  useTitle(title);
  return (
    <div className={styles.page}>
      <div className={styles.pageHead}>
        <div className={styles.pageTitle}>
          <h1 tabIndex={-1}>{title}</h1>
          {note !== undefined && <div className={styles.pageNote}>{note}</div>}
        </div>
        <div className={styles.actions}>
          {actions}
          {call !== undefined && <CopyCurl call={call} />}
        </div>
      </div>
      {children}
    </div>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = visible(`${title} · ${TEXT.product}`);
  }, [title]);
}

/** A part of a page, with a heading of the second level. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.card} aria-label={title}>
      <div className={styles.pageHead}>
        <h2>{title}</h2>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** Lists facts with their names. Facts that are false are left out. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode] | false)[] }) {
  return (
    <dl className={styles.facts}>
      {of.map(
        (fact) =>
          fact !== false && (
            <Fragment key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}
