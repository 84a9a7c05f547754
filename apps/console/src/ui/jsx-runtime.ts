import { Fragment, type JSX, jsx as react, jsxs as reactList } from 'react/jsx-runtime';

export { Fragment };
export type { JSX };

/** Escapes characters that reverse the direction of the text after them, as `iss` does: a name can look like another one. */
export function visible(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (found) => `\\u${found.charCodeAt(0).toString(16)}`);
}

/** Creates elements of the page for TSX, which imports this module (`jsxImportSource`). Any text can be foreign, so all is escaped. */
export const jsx: typeof react = (type, props, key) => react(type, visibleProps(props), key);
export const jsxs: typeof reactList = (type, props, key) => reactList(type, visibleProps(props), key);

function visibleProps(props: unknown): object {
  const { children }: { children?: unknown } = Object(props);
  return { ...Object(props), children: visibleNode(children) };
}

function visibleNode(node: unknown): unknown {
  if (typeof node === 'string') return visible(node);
  return Array.isArray(node) ? node.map(visibleNode) : node;
}
