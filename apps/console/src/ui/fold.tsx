import { type ReactNode, useSyncExternalStore } from 'react';
import { TEXT } from '../text/ui.ts';
import styles from './ui.module.css';

const NARROW = matchMedia('screen and (max-width: 46rem)');

function subscribe(listener: () => void): () => void {
  NARROW.addEventListener('change', listener);
  return () => NARROW.removeEventListener('change', listener);
}

interface FoldProps {
  title: ReactNode;
  /** Starts open on a narrow page too. */
  isOpen?: boolean;
  children: ReactNode;
}

/** Shows content on a wide page, and behind its title on a narrow one. */
export function Fold({ title, isOpen = false, children }: FoldProps) {
  const isNarrow = useSyncExternalStore(subscribe, () => NARROW.matches);
  if (!isNarrow) return children;
  return (
    <details className={styles.fold} open={isOpen}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

/** The sentence about a view whose content would otherwise begin below the first screen of a phone. */
export function FoldedNote({ children }: { children: ReactNode }) {
  return <Fold title={TEXT.aboutView}>{children}</Fold>;
}
