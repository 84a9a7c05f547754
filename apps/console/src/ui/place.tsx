import { parsePointer } from '@iss/domain/pure';
import { TEXT } from '../text/ui.ts';
import styles from './ui.module.css';

/** A name in words: `legal_name` is `Legal name`. */
function wordsOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The names in a pointer; a text that is no pointer is one name. */
function tokensOf(pointer: string): string[] {
  try {
    return [...parsePointer(pointer)];
  } catch {
    return [pointer];
  }
}

/** Names a place of an envelope as people do: what it is, and what it is part of. */
export function placeOf(pointer: string): { readonly name: string; readonly group: string } {
  const [root = '', ...tokens] = tokensOf(pointer);
  if (root === 'attribute_paths') {
    const [named] = tokens;
    if (named === undefined || !named.startsWith('/')) return { name: TEXT.attribution, group: '' };
    const place = placeOf(named);
    return { ...place, name: TEXT.evidenceFor(place.name) };
  }
  const names: string[] = [];
  for (const token of root === 'attributes' ? tokens : [root, ...tokens]) {
    const last = names.at(-1);
    if (/^\d+$/.test(token) && last !== undefined) names[names.length - 1] = `${last} ${Number(token) + 1}`;
    else names.push(wordsOf(token));
  }
  return { name: names.at(-1) ?? TEXT.attributes, group: names.slice(0, -1).join(' / ') };
}

/** A place in one line. */
export function wholeName(pointer: string): string {
  const { name, group } = placeOf(pointer);
  return group === '' ? name : `${group} / ${name}`;
}

/** Writes a value as text: a text as it is, everything else as JSON. */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A place in words; the pointer where the pointer of the mouse rests on it. */
export function Place({ pointer }: { pointer: string }) {
  const { name, group } = placeOf(pointer);
  return (
    <span title={pointer} className={styles.place}>
      <strong>{name}</strong> {group !== '' && <small>{group}</small>}
    </span>
  );
}
