import { type FormEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { TEXT } from '../../text/ui.ts';
import { Button } from '../button.tsx';
import { Select, TextArea, TextField } from '../field.tsx';
import { type Parts, partsOf, placeIn } from './parts.ts';
import styles from '../ui.module.css';

interface LargeTextProps {
  label: string;
  hint: string;
  fault: string | undefined;
  rows: number;
  value: string;
  onChange: (value: string) => void;
}

/** Edits a text of any length in parts. The page contains one part, and the search covers the whole text. */
export function LargeText({ value, onChange, ...rest }: LargeTextProps) {
  const place = useRef<HTMLDivElement>(null);
  const [parts, setParts] = useState<Parts>(() => partsOf(value));
  const [index, setIndex] = useState(0);
  const [wanted, setWanted] = useState('');
  const [isMissing, setMissing] = useState(false);
  // A text from elsewhere is split again.
  if (parts.whole !== value) setParts(partsOf(value));
  const shown = Math.min(index, parts.texts.length - 1);
  const type = (text: string): void => {
    const texts = parts.texts.with(shown, text);
    const whole = texts.join('');
    setParts(parts.isLong(text) ? partsOf(whole) : { ...parts, texts, whole });
    onChange(whole);
  };
  const find = (event: FormEvent): void => {
    event.preventDefault();
    const area = place.current?.querySelector('textarea');
    const from = parts.texts.slice(0, shown).join('').length + (area?.selectionEnd ?? 0);
    const at = value.includes(wanted, from) ? value.indexOf(wanted, from) : value.indexOf(wanted);
    setMissing(at === -1);
    if (at === -1) return;
    const found = placeIn(parts, at);
    flushSync(() => setIndex(found.index));
    area?.focus();
    area?.setSelectionRange(found.offset, found.offset + wanted.length);
  };
  return (
    <div ref={place} className={styles.form}>
      <div className={styles.filters}>
        <Select
          label={TEXT.part}
          value={String(shown)}
          options={parts.texts.map((_, part) => ({
            value: String(part),
            label: TEXT.partOf(part + 1, parts.texts.length),
          }))}
          onChange={(event) => setIndex(Number(event.target.value))}
        />
        <Button disabled={shown === 0} onClick={() => setIndex(shown - 1)}>
          {TEXT.previousPart}
        </Button>
        <Button disabled={shown === parts.texts.length - 1} onClick={() => setIndex(shown + 1)}>
          {TEXT.nextPart}
        </Button>
        <form className={styles.filters} onSubmit={find}>
          <TextField
            label={TEXT.findInText}
            type="search"
            required
            fault={isMissing ? TEXT.notInText : undefined}
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
          />
          <Button type="submit">{TEXT.findNext}</Button>
        </form>
      </div>
      <TextArea {...rest} wrap="off" value={parts.texts[shown] ?? ''} onChange={(event) => type(event.target.value)} />
    </div>
  );
}
