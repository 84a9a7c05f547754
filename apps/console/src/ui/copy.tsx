import { useEffect, useState } from 'react';
import { TEXT } from '../text/ui.ts';
import { Button } from './button.tsx';
import styles from './ui.module.css';

const SHOWN_MS = 2_000;

/** This is an image, because not every font has such a character. */
function CopyIcon() {
  return (
    <svg
      viewBox="0 0 16 16"
      width="13"
      height="13"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
    >
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 3.2A1.5 1.5 0 0 0 9.2 2.5H4A1.5 1.5 0 0 0 2.5 4v5.2a1.5 1.5 0 0 0 .8 1.3" />
    </svg>
  );
}

/** A button that copies a text and confirms it briefly, also to screen readers. */
export function Copy({
  text,
  label,
  name = TEXT.copy,
  small = true,
}: {
  text: string;
  label?: string;
  /** The name of the button without a label. */
  name?: string;
  small?: boolean;
}) {
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
        <button type="button" className={styles.copy} onClick={copy} aria-label={name} title={name}>
          {outcome === null ? <CopyIcon /> : said}
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

/** A request to the API. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
}

/** Returns a call as a curl command for a shell with `$TOKEN`. */
export function curlOf({ method, path, query, body }: Call): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  }
  const search = parameters.size === 0 ? '' : `?${parameters}`;
  return [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(location.origin + path + search)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** Quotes a text for POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function CopyCurl({ call }: { call: Call }) {
  return <Copy text={curlOf(call)} label={TEXT.copyCurl} />;
}

/** Shows the beginning of a hash or an id, and copies the whole. */
export function Hash({ value, length = 12 }: { value: string; length?: number }) {
  const digits = value.replace(/^sha256:/, '');
  return (
    <span className={styles.hash}>
      <span title={value}>{digits.length > length ? `${digits.slice(0, length)}…` : digits}</span>
      <Copy text={value} />
    </span>
  );
}
