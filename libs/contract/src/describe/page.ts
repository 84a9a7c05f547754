import { query } from './shape';
import { flag, oneOf, PAGE } from './fields';
import { Field, listOf, shown, type ShownBy } from './field';
import { part, view } from './view';
import { LIST_LIMITS, type PageLimits } from './page-limits';
import type { ResponseFacts } from './operation';

/** The query of a list without filters. */
export const PAGE_QUERY = query(PAGE);

/** A sentence for the descriptions of filtered lists. */
export const SHORT_PAGES = 'A page of a filtered list may be short or empty and still have a `next_cursor`.';

const cursor = shown<string | null>({ type: ['string', 'null'] }).described('Null on the last page.');
const place = {
  limit: shown<number>({ type: 'integer', minimum: 1 }).described('The maximum number of items on the page.'),
  next_cursor: cursor.described('Alias of the outer next_cursor.').deprecated(),
};
const members = { next_cursor: cursor, has_more: flag.described('True if there is another page.') };

/** The members of every list's response beside `items`: the union of the specification's variants. */
export type PageView = ShownBy<typeof members> & { page: ShownBy<typeof place> & { order?: string } };

/** The response of a list. */
export type ItemPage<Item> = { items: Item[] } & PageView;

/** Returns the fields of a list's response. */
export function pageFields<Shown, Stored>(item: Field<Shown, Stored>, orders?: readonly string[]) {
  const page =
    orders === undefined ? part(place) : part({ order: oneOf(orders).described('The order of the items.'), ...place });
  return {
    items: listOf(item).described('The items of the page.'),
    ...members,
    page: shown<PageView['page']>(page.facts.shown).described('The same page, wrapped.'),
  };
}

/**
 * Documents the response of a list: the schema `GrantPage` for items of type `Grant`, with one last page as example.
 */
export function pageAnswer<Shown, Stored>(
  description: string,
  item: Field<Shown, Stored>,
  items: readonly NoInfer<Shown>[],
  limits: PageLimits = LIST_LIMITS,
  orders?: readonly [string, ...string[]],
): ResponseFacts {
  const page = view(`${String(item.facts.shown['title'])}Page`, pageFields(item, orders));
  const example = lastPage(items, limits, orders?.at(-1));
  return { description, content: { 'application/json': { schema: page.facts.shown, example } } };
}

/** Returns what makes an operation a list, with one last page as example. Its query may be replaced. */
export function paged<Shown, Stored>(
  description: string,
  item: Field<Shown, Stored>,
  items: readonly NoInfer<Shown>[],
  page: PageLimits = LIST_LIMITS,
) {
  return { query: PAGE_QUERY, page, answers: { 200: pageAnswer(description, item, items, page) } };
}

/** Returns the last page of a list that has only one. */
export function lastPage<Item>(
  items: readonly Item[],
  { default: limit }: PageLimits = LIST_LIMITS,
  order?: string,
): { items: readonly Item[] } & PageView {
  return {
    items,
    next_cursor: null,
    has_more: false,
    page: { ...(order === undefined ? {} : { order }), limit, next_cursor: null },
  };
}
