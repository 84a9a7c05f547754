import { type ChangeEvent, type DragEvent, type FormEvent, lazy, Suspense, useState } from 'react';
import { TrustPanel } from '../../entities/trust.tsx';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import type { NamedFile } from './job.ts';
import { useVerification } from './verification.ts';
import { TEXT } from './words.ts';
import styles from './verify.module.css';

const Outcome = lazy(async () => ({ default: (await import('./outcome.tsx')).VerificationOutcome }));

/** Verifies downloaded bundles and proofs. It needs nothing of the service but this page. */
export function VerifyView() {
  const { keys, served } = useTrustedKeys();
  const { verification, begin, stop, read } = useVerification(keys);
  const [file, setFile] = useState<{ readonly name: string; readonly blob: Blob } | null>(null);
  const [entry, setEntry] = useState('');
  const [since, setSince] = useState('');
  const take = (blob: Blob, name: string): void => {
    setFile({ name, blob });
    const beside: Pick<NamedFile, 'entry' | 'since'> = {
      entry: entry === '' ? null : entry,
      ...(since.trim() === '' ? {} : { since }),
    };
    begin({ name, blob, ...beside });
  };
  // A change of the input discards the outcome.
  const change =
    (set: (text: string) => void) =>
    ({ target: { value } }: ChangeEvent<HTMLTextAreaElement>): void => {
      set(value);
      stop();
    };
  // The whole page appears at once, so that nothing moves.
  if (keys === null && served.isPending) {
    return (
      <Page title={TEXT.title} note={TEXT.note}>
        {null}
      </Page>
    );
  }
  return (
    <Page title={TEXT.title} note={TEXT.note}>
      {keys === null ? (
        <Empty title={TEXT.noKeys}>
          <p>{TEXT.noKeysText}</p>
        </Empty>
      ) : (
        <>
          <Drop onFile={(chosen) => take(chosen, chosen.name)} />
          <details>
            <summary>{TEXT.paste}</summary>
            <Paste onChange={stop} onText={(text) => take(new Blob([text]), TEXT.pastedName)} />
          </details>
          <details>
            <summary>{TEXT.entry}</summary>
            <TextArea
              label={TEXT.entryLabel}
              hint={TEXT.entryHint}
              rows={3}
              value={entry}
              onChange={change(setEntry)}
            />
          </details>
          <details>
            <summary>{TEXT.since}</summary>
            <TextArea
              label={TEXT.sinceLabel}
              hint={TEXT.sinceHint}
              rows={5}
              value={since}
              onChange={change(setSince)}
            />
          </details>
        </>
      )}
      {verification !== null && (
        <Suspense>
          <Outcome verification={verification} onStop={stop} read={read} />
        </Suspense>
      )}
      {file !== null && keys !== null && (verification === null || verification.outcome !== null) && (
        <div className={ui.actions}>
          <Button onClick={() => take(file.blob, file.name)}>{TEXT.again}</Button>
        </div>
      )}
      <TrustPanel />
    </Page>
  );
}

function Drop({ onFile }: { onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file !== undefined) onFile(file);
  };
  return (
    <label
      className={styles.drop}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <input
        type="file"
        className={styles.input}
        aria-label={TEXT.file}
        accept=".ndjson,.jsonl,.json,.tlog-proof,application/x-ndjson,application/json,text/plain"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) onFile(file);
          // Allows choosing the same file again after it was changed.
          target.value = '';
        }}
      />
      <span className={ui.button}>{TEXT.choose}</span>
      <span>{TEXT.drop}</span>
      <span className={styles.quiet}>{TEXT.kinds}</span>
    </label>
  );
}

function Paste({ onChange, onText }: { onChange: () => void; onText: (text: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onText(text);
  };
  return (
    <form className={ui.form} onSubmit={submit}>
      <TextArea
        label={TEXT.pasted}
        rows={6}
        required
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onChange();
        }}
      />
      <div className={ui.actions}>
        <Button type="submit">{TEXT.verifyPasted}</Button>
      </div>
    </form>
  );
}
