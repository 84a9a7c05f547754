import type { ErasureReceipt } from '@identity-state/client';
import { Hash } from '../../ui/copy.tsx';
import { Notice } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { TEXT } from './words.ts';
import styles from './subject.module.css';

/** Shows the receipt of an erased version. */
export function ErasedNotice({ receipt }: { receipt: ErasureReceipt }) {
  const rows = [
    [TEXT.erasedAt, <Time key="at" at={receipt.erased_at} />],
    [TEXT.erasure, <Hash key="id" value={receipt.erasure_id} length={36} />],
    [TEXT.snapshot, <Hash key="snapshot" value={receipt.snapshot_id} length={36} />],
    ...(receipt.envelope_hash === null
      ? []
      : [[TEXT.hash, <Hash key="hash" value={receipt.envelope_hash} length={64} />] as const]),
    ...(receipt.prev_hash === null
      ? []
      : [[TEXT.previousHash, <Hash key="previous" value={receipt.prev_hash} length={64} />] as const]),
  ] as const;
  return (
    <Notice tone="warn">
      <h2>{TEXT.erasedTitle(receipt.snapshot_version)}</h2>
      <p>{TEXT.erasedText}</p>
      <dl className={styles.facts}>
        {rows.map(([term, said]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{said}</dd>
          </div>
        ))}
      </dl>
    </Notice>
  );
}
