import { ProtocolError } from '../errors.ts';
import { decode } from './answer.ts';
import type { CallOptions, Query, Transport } from './transport.ts';

/** A page as every list of the API has it. */
export interface Page<Item> {
  items: Item[];
  next_cursor?: string | null | undefined;
  page?: { next_cursor?: string | null | undefined } | undefined;
}

/** The items of a list, page after page as they are taken. `read` makes a page of an answer's text. */
export async function* pagesOf<Item>(
  transport: Transport,
  path: string,
  query: Query,
  options: CallOptions,
  read: (text: string) => Page<Item> = decode,
): AsyncGenerator<Page<Item>, void, undefined> {
  let cursor: string | null = null;
  do {
    const page: Page<Item> = read(await transport.text({ method: 'GET', path, query: { ...query, cursor } }, options));
    yield page;
    const next: string | null = page.next_cursor ?? page.page?.next_cursor ?? null;
    if (next !== null && next === cursor) throw new ProtocolError(`${path}: a page leads to itself.`);
    cursor = next;
  } while (cursor !== null);
}

/** The items of a list. */
export async function* itemsOf<Item>(
  transport: Transport,
  path: string,
  query: Query,
  options: CallOptions,
): AsyncGenerator<Item, void, undefined> {
  for await (const { items } of pagesOf<Item>(transport, path, query, options)) yield* items;
}
