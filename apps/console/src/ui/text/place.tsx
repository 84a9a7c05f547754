import { parsePointer } from '@iss/domain/pure';
import { TEXT } from '../../text/ui.ts';
import styles from '../ui.module.css';

/** Returns a name in words: `legal_name` is `Legal name`. */
function wordsOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the names in a pointer. A text that is not a pointer is one name. */
function tokensOf(pointer: string): string[] {
  try {
    return [...parsePointer(pointer)];
  } catch {
    return [pointer];
  }
}

/** Returns the name of a place of an envelope in words, and the group that contains it. */
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
    const words = wordsOf(token);
    if (/^\d+$/.test(token) && last !== undefined) names[names.length - 1] = `${last} ${Number(token) + 1}`;
    // The end of an array, `-`, has no words.
    else if (words !== '') names.push(words);
  }
  return { name: names.at(-1) ?? TEXT.attributes, group: names.slice(0, -1).join(' / ') };
}

/** Returns the name of a place in one line. */
export function wholeName(pointer: string): string {
  const { name, group } = placeOf(pointer);
  return group === '' ? name : `${group} / ${name}`;
}

/** Returns a text as it is, and any other value as JSON. */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Shows a place in words. The tooltip contains the JSON Pointer. */
export function Place({ pointer }: { pointer: string }) {
  const { name, group } = placeOf(pointer);
  return (
    <span title={pointer} className={styles.place}>
      <strong>{name}</strong> {group !== '' && <small>{group}</small>}
    </span>
  );
}
