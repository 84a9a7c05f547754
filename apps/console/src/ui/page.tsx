import { Fragment, type ReactNode, useEffect } from 'react';
import { TEXT } from '../text/ui.ts';
import { type Call, CopyCurl } from './copy/curl.tsx';
import styles from './ui.module.css';

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
          {note !== undefined && <p className={styles.pageNote}>{note}</p>}
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
    document.title = `${title} · ${TEXT.product}`;
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
