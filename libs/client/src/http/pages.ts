import { ProtocolError } from '../errors.ts';
import { MAX_EMPTY_PAGES } from '../limits.ts';
import { parseAnswer } from './answer.ts';
import { requireLike, type Shape } from './shape.ts';
import type { CallOptions, Query, Transport } from './transport.ts';

/** A page as every list of the API has it. */
export interface Page<Item> {
  items: Item[];
  next_cursor?: string | null | undefined;
  page?: { next_cursor?: string | null | undefined } | undefined;
}

/** The pages of a list as they are taken. `read` makes a page of an answer's text. @throws ProtocolError for a list without an end */
export async function* pagesOf<Item>(
  transport: Transport,
  path: string,
  query: Query,
  options: CallOptions,
  read: (text: string) => Page<Item>,
): AsyncGenerator<Page<Item>, void, undefined> {
  let cursor: string | null = null;
  // Of every list that leads back into itself, the place where a power of two of pages was read is met again.
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

/** Reads a page whose items look like the example. */
export function pageLike<Item>(shape: Shape<Item>): (text: string) => Page<Item> {
  return (text) => {
    const page: unknown = parseAnswer(text);
    requireLike<Page<Item>>(page, { items: [shape], next_cursor: null });
    return page;
  };
}

/** The items of a list. */
export async function* itemsOf<Item>(
  transport: Transport,
  path: string,
  query: Query,
  options: CallOptions,
  shape: Shape<Item>,
): AsyncGenerator<Item, void, undefined> {
  for await (const { items } of pagesOf(transport, path, query, options, pageLike(shape))) yield* items;
}
