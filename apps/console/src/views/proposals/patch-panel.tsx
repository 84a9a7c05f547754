import { TEXT } from '../../text/proposals.ts';
import ui from '../../ui/ui.module.css';
import { shortText } from './attribute-form.tsx';
import type { patchOf } from './content.ts';
import styles from './proposals.module.css';

const SHOWN = 100;

/** The operations that the changes come to, each with what the service said of it. */
export function PatchPanel({
  patch,
  version,
  faults,
}: {
  patch: ReturnType<typeof patchOf>;
  version: number;
  faults: ReadonlyMap<number, readonly string[]>;
}) {
  return (
    <section className={ui.card} aria-label={TEXT.patch}>
      <h2>{TEXT.patch}</h2>
      <p className={styles.quiet} role="status">
        {TEXT.patchNote(patch.length, version)}
      </p>
      <ol className={styles.patch}>
        {patch.slice(0, SHOWN).map((operation, index) => (
          <li key={index} data-op={operation.op}>
            <span className={styles.op}>{TEXT.ops[operation.op]}</span> <code>{operation.path}</code>
            {operation.op !== 'remove' && <code className={styles.value}>{shortText(operation.value)}</code>}
            {(faults.get(index) ?? []).map((fault) => (
              <span key={fault} className={ui.fault}>
                {fault}
              </span>
            ))}
          </li>
        ))}
      </ol>
      {patch.length > SHOWN && <p className={styles.quiet}>{TEXT.moreOps(patch.length - SHOWN)}</p>}
    </section>
  );
}
