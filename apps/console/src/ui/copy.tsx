import { useEffect, useState } from 'react';
import { TEXT } from '../text/ui.ts';
import { Button } from './button.tsx';
import styles from './ui.module.css';

const SHOWN_MS = 2_000;

/** Copies a text; says so for a moment, to readers of screens too. */
export function Copy({ text, label, small = true }: { text: string; label?: string; small?: boolean }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('refused'),
    );
  };
  const said = outcome === null ? '' : TEXT[outcome];
  return (
    <>
      {label === undefined ? (
        <button type="button" className={styles.copy} onClick={copy} aria-label={TEXT.copy} title={TEXT.copy}>
          {outcome === null ? '⧉' : said}
        </button>
      ) : (
        <Button small={small} onClick={copy}>
          {outcome === null ? label : said}
        </Button>
      )}
      <span role="status" className="visually-hidden">
        {said}
      </span>
    </>
  );
}
