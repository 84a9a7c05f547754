import type { api } from '@identity-state/client';
import { OF_SUBJECT, useSubject } from '../app/address.ts';
import { apiCall, useList } from '../app/api.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { Badge } from '../ui/page.tsx';
import { dayText, momentText } from '../ui/time.tsx';
import styles from '../ui/ui.module.css';
import { receiptIn } from './erased.ts';
import { useSubjectAccess, useSubjectHead } from './subject-access.ts';
import { TEXT } from './words.ts';

/** The number of versions in the list. Older ones are reached by address or step by step. */
const LISTED = 200;

/**
 * Reads the newest versions of the subject that the address names, newest first. A caller that may not read the lineage gets no
 * list. It starts at the latest version, or at version 1 if it may not read the latest one.
 */
export function useVersions() {
  const { ids } = useSubject();
  const access = useSubjectAccess().data;
  const isListed = access?.may('read_lineage') === true;
  const query = { view: 'header', order: 'desc', limit: LISTED } as const;
  const list = useList(isListed ? apiCall('GET', `${OF_SUBJECT}/history`, { path: ids, query }) : null);
  const { items, data, error } = list;
  const head = useSubjectHead(isListed ? undefined : access).data;
  const latest = items[0]?.snapshot_version ?? head?.snapshot_version ?? null;
  const isKnown = access !== undefined && (!isListed || data !== undefined || error !== null);
  return {
    access,
    list,
    latest,
    /** The version to show if the address names none; null while unknown. */
    first: latest ?? (isKnown && !isListed ? 1 : null),
    /** True once `receiptOf` has all its data. */
    isKnown,
    receiptOf: (version: number) =>
      receiptIn([...items, ...(head === undefined ? [] : [head])].find((one) => one.snapshot_version === version)),
  };
}

/** Marks what corrects an error. Shows nothing for a change of the world. */
export function Correction({ of: { change_kind: change } }: { of: Pick<api.SnapshotHeader, 'change_kind'> }) {
  return change === 'correction' && <Badge tone="warn">{TEXT.correction}</Badge>;
}

/** Chooses a version by number, or the previous or next one. */
export function VersionChoice({
  label,
  versions,
  latest,
  value,
  onChange,
}: {
  label: string;
  versions: readonly api.SnapshotHeader[];
  /** Null while unknown. */
  latest: number | null;
  value: number;
  onChange: (version: number) => void;
}) {
  const isListed = versions.some((one) => one.snapshot_version === value);
  return (
    <div className={styles.versionChoice}>
      <Select
        label={label}
        value={String(value)}
        onChange={(event) => onChange(Number(event.target.value))}
        options={[
          ...versions.map(
            ({ snapshot_version: version, created_at: at, generated_at: effective, change_kind: change }) => ({
              value: String(version),
              label: TEXT.versionOption(version, dayText(effective), momentText(at), change === 'correction'),
            }),
          ),
          ...(isListed ? [] : [{ value: String(value), label: TEXT.older(value) }]),
        ]}
      />
      <Button aria-label={`${label}: ${TEXT.before}`} disabled={value <= 1} onClick={() => onChange(value - 1)}>
        ‹
      </Button>
      <Button
        aria-label={`${label}: ${TEXT.after}`}
        disabled={latest !== null && value >= latest}
        onClick={() => onChange(value + 1)}
      >
        ›
      </Button>
    </div>
  );
}

/** Parses a version in an address. Returns null for anything else. */
export function versionOf(text: string | undefined): number | null {
  return text !== undefined && /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : null;
}
