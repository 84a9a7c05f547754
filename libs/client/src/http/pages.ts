import { ProtocolError } from '../errors.ts';
import { MAX_EMPTY_PAGES } from '../limits.ts';
import { parseAnswer } from './answer.ts';
import { requireLike, type AnswerShape } from './shape.ts';
import type { CallOptions, Query, Transport } from './transport.ts';

/** A page of a list of the API. */
export interface Page<Item> {
  items: Item[];
  next_cursor?: string | null | undefined;
  page?: { next_cursor?: string | null | undefined } | undefined;
}

/** Fetches pages on demand. `read` parses the text of an answer. @throws ProtocolError for an endless list */
export async function* pagesOf<Item>(
  transport: Transport,
  path: string,
  query: Query | undefined,
  options: CallOptions,
  read: (text: string) => Page<Item>,
): AsyncGenerator<Page<Item>, void, undefined> {
  let cursor: string | null = null;
  // Detects a cycle: the cursor saved at a power of two occurs again in every cycle (Brent).
  let mark: string | null = null;
  for (let count = 1, empty = 0; ; count++) {
    const page: Page<Item> = read(await transport.text({ method: 'GET', path, query: { ...query, cursor } }, options));
    yield page;
    const next: string | null = page.next_cursor ?? page.page?.next_cursor ?? null;
    if (next === null) return;
    empty = page.items.length === 0 ? empty + 1 : 0;
    if (next === cursor || next === mark || empty >= MAX_EMPTY_PAGES) {
      throw new ProtocolError(`${path} leads nowhere.`);
    }
    if ((count & (count - 1)) === 0) mark = next;
    cursor = next;
  }
}

/** Returns a parser of pages whose items have the shape. */
export function pageLike<Item>(shape: AnswerShape<Item>): (text: string) => Page<Item> {
  return (text) => {
    const page: unknown = parseAnswer(text);
    requireLike<Page<Item>>(page, { items: [shape], next_cursor: null });
    return page;
  };
}

/** Yields the items of a list. */
export async function* itemsOf<Item>(
  transport: Transport,
  path: string,
  query: Query | undefined,
  options: CallOptions,
  shape: AnswerShape<Item>,
): AsyncGenerator<Item, void, undefined> {
  for await (const { items } of pagesOf(transport, path, query, options, pageLike(shape))) yield* items;
}
