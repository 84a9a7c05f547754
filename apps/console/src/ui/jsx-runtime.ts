import { Fragment, type JSX, jsx as react, jsxs as reactList } from 'react/jsx-runtime';

export { Fragment };
export type { JSX };

/** Characters that reverse the direction of the text after them, so that a name can look like another one. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;
/** The members of an element that contain text. */
const SHOWN = ['children', 'title', 'alt', 'aria-label', 'data-title'];

/** Escapes characters that change the direction of a text, as `iss` does. */
export function visible(text: string): string {
  return text.replace(DIRECTIONS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

/** Creates elements of the page for TSX, which imports this module (`jsxImportSource`). Any text can be foreign, so all is escaped. */
export const jsx: typeof react = (type, props, key) => react(type, visibleProps(type, props), key);
export const jsxs: typeof reactList = (type, props, key) => reactList(type, visibleProps(type, props), key);

/** Components pass their texts on to elements, where they are escaped. */
function visibleProps(type: unknown, props: unknown): unknown {
  if ((typeof type !== 'string' && type !== Fragment) || typeof props !== 'object' || props === null) return props;
  let escaped = props;
  for (const name of SHOWN) {
    const value: unknown = Reflect.get(props, name);
    const shown = visibleNode(value);
    if (shown !== value) escaped = { ...escaped, [name]: shown };
  }
  return escaped;
}

function visibleNode(node: unknown): unknown {
  if (typeof node === 'string') return visible(node);
  if (!Array.isArray(node)) return node;
  const shown: unknown[] = node.map(visibleNode);
  return shown.some((one, index) => one !== node[index]) ? shown : node;
}
