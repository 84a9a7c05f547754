import { getAt, isJsonObject, parsePointer } from '@iss/domain/pure';
import type { Snapshot } from '@identity-state/client';
import { Notice } from '../ui/page.tsx';

const TEXT = {
  seen: (count: number) => (count === 1 ? 'You see a part of this version:' : 'You see a part of these versions:'),
  hidden: 'Other attributes and evidence may exist. They are hidden, not absent.',
  empty: 'This version has no value at:',
} as const;

/** Returns the paths that a partial version shows; null for a whole version. */
export function shownPaths({ partial, disclosed_paths: paths }: Snapshot): readonly string[] | null {
  return partial === true ? (paths ?? []) : null;
}

/** Says which part of the versions the reader sees. Shows nothing for whole versions. */
export function PartNotice({ of }: { of: readonly Snapshot[] }) {
  const paths = [...new Set(of.flatMap((snapshot) => shownPaths(snapshot) ?? []))];
  if (of.every((snapshot) => shownPaths(snapshot) === null)) return null;
  const [only] = of.length === 1 ? of : [];
  const empty = only === undefined ? [] : paths.filter((path) => !hasValue(only, path));
  return (
    <Notice>
      <p>
        {TEXT.seen(of.length)} <Paths paths={paths} />
      </p>
      {empty.length > 0 && (
        <p>
          {TEXT.empty} <Paths paths={empty} />
        </p>
      )}
      <p>{TEXT.hidden}</p>
    </Notice>
  );
}

function Paths({ paths }: { paths: readonly string[] }) {
  return paths.map((path, index) => (
    <span key={path}>
      {index > 0 && ', '}
      <code>{path}</code>
    </span>
  ));
}

function hasValue({ envelope: { attributes } }: Snapshot, path: string): boolean {
  const shown: unknown = attributes;
  return isJsonObject(shown) && getAt(shown, parsePointer(path).slice(1)) !== undefined;
}
