import { Copy } from './copy.tsx';
import styles from '../ui.module.css';

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
