import { useMemo, useState } from 'react';
import { TEXT } from './words.ts';
import { Json } from '../../ui/text/json.tsx';
import { Place } from '../../ui/text/place.tsx';
import ui from '../../ui/ui.module.css';
import { shortText } from './attribute-leaf.tsx';
import { textMember } from './draft/backing.ts';
import {
  isAtOrBelow,
  type JsonObject,
  type JsonValue,
  type draftPatch,
  type DraftStep,
  stepsOf,
} from './draft/content.ts';
import styles from './proposals.module.css';

const SHOWN = 100;

/** Shows the changes of a draft with the messages of the service, then the operations. */
export function PatchPanel({
  patch,
  base,
  content,
  version,
  faults,
}: {
  patch: ReturnType<typeof draftPatch>;
  base: JsonObject;
  content: JsonObject;
  version: number;
  faults: ReadonlyMap<number, readonly string[]>;
}) {
  const { steps, more } = useMemo(() => stepsOf(base, content, SHOWN), [base, content]);
  const [isShown, setShown] = useState(false);
  return (
    <section className={ui.card} aria-label={TEXT.patch}>
      <h2>{TEXT.patch}</h2>
      <p className={styles.quiet} role="status">
        {TEXT.patchNote(patch.length, version)}
      </p>
      <ol className={styles.patch}>
        {steps.map((step, index) => (
          <li key={index} data-op={step.op}>
            <Place pointer={step.path} /> <FromTo step={step} />
            {(faults.get(index) ?? []).map((fault) => (
              <span key={fault} className={ui.fault}>
                {fault}
              </span>
            ))}
          </li>
        ))}
      </ol>
      {more > 0 && <p className={styles.quiet}>{TEXT.moreOps(more)}</p>}
      {patch.length > 0 && (
        <details open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
          <summary>{TEXT.asPatch}</summary>
          {isShown && <Json value={patch} label={TEXT.asPatch} />}
        </details>
      )}
    </section>
  );
}

/** Shows a change of a value as `A → B`. For evidence, shows only that it changes. */
function FromTo({ step: { op, path, before, after } }: { step: DraftStep }) {
  if (isAtOrBelow(path, '/attribute_paths')) return <span className={styles.quiet}>{TEXT.kindsOfChange[op]}</span>;
  return (
    <span className={styles.value}>
      {before === undefined ? <ins>{TEXT.kindsOfChange.add}</ins> : <del>{shortOf(before)}</del>}{' '}
      <span role="img" aria-label={TEXT.arrow}>
        →
      </span>{' '}
      {after === undefined ? <span className={styles.quiet}>{TEXT.removed}</span> : shortOf(after)}
    </span>
  );
}

/** Returns a value in a few words; an item of evidence by its type and source. */
function shortOf(value: JsonValue): string {
  const item = ['evidence_id', 'evidence_type', 'source'].map((name) => textMember(value, name));
  return item[0] === '' ? shortText(value) : item.filter((text) => text !== '').join(' · ');
}
