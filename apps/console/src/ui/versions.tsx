import type { api } from '@identity-state/client';
import { type SubjectAddress } from '../app/address.ts';
import { useList } from '../app/api.ts';
import { TEXT } from '../text/proof.ts';
import { Button } from './button.tsx';
import { Select } from './field.tsx';
import { dayText, momentText } from './time.tsx';
import styles from './ui.module.css';

/** Versions that a choice lists; an older one is named by the address, or gone to step by step. */
const LISTED = 200;

/** The newest versions of a subject, newest first; null before they were answered. */
export function useVersions(subject: SubjectAddress) {
  const list = useList<api.SnapshotHeader>(`${subject.path}/history`, { view: 'header', order: 'desc', limit: LISTED });
  return { list, latest: list.items[0]?.snapshot_version ?? null };
}

/** Which version: by its number, or the one before or after it. */
export function VersionChoice({
  label,
  versions,
  value,
  onChange,
}: {
  label: string;
  versions: readonly api.SnapshotHeader[];
  value: number;
  onChange: (version: number) => void;
}) {
  const latest = versions[0]?.snapshot_version ?? value;
  const isListed = versions.some((one) => one.snapshot_version === value);
  return (
    <div className={styles.versionChoice}>
      <Select
        label={label}
        value={String(value)}
        onChange={(event) => onChange(Number(event.target.value))}
        options={[
          ...versions.map(({ snapshot_version: version, created_at: at, generated_at: effective }) => ({
            value: String(version),
            label: TEXT.versionOption(version, dayText(effective), momentText(at)),
          })),
          ...(isListed ? [] : [{ value: String(value), label: TEXT.older(value) }]),
        ]}
      />
      <Button aria-label={`${label}: ${TEXT.before}`} disabled={value <= 1} onClick={() => onChange(value - 1)}>
        ‹
      </Button>
      <Button aria-label={`${label}: ${TEXT.after}`} disabled={value >= latest} onClick={() => onChange(value + 1)}>
        ›
      </Button>
    </div>
  );
}

/** A version in an address; null for what is none. */
export function versionOf(text: string | undefined): number | null {
  return text !== undefined && /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : null;
}
