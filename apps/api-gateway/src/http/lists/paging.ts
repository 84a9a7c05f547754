import { DomainError } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Request } from 'express';
import {
  type Field,
  type Fields,
  flag,
  LIST_LIMITS,
  listOf,
  oneOf,
  PAGE,
  pageBounds,
  type PageLimits,
  part,
  query,
  type Shape,
  shown,
  type ShownBy,
  view,
} from '@iss/contract';
import { jsonStream, JsonText, type TextBatches, type TextStream } from '../answer/json-text';
import { type Answer, documented } from '../describe/openapi';
import { charged } from '../limits/charged';
import { declareQuery, sentQuery } from './query';

/** The query of a list without filters. */
const PAGE_QUERY = query(PAGE);

/** For the descriptions of filtered lists. */
export const SHORT_PAGES = 'A page of a filtered list may be short or empty and still have a `next_cursor`.';

const cursor = shown<string | null>({ type: ['string', 'null'] }).described('Null on the last page.');
const place = {
  limit: shown<number>({ type: 'integer', minimum: 1 }).described('The maximum number of items on the page.'),
  next_cursor: cursor.described('Alias of the outer next_cursor.').deprecated(),
};
const members = { next_cursor: cursor, has_more: flag.described('True if there is another page.') };

/** The members of every list's response beside `items`: the union of the specification's variants. */
export type PageView = ShownBy<typeof members> & { page: ShownBy<typeof place> & { order?: string } };

type PagePosition = readonly (string | number)[];

/**
 * Handles one request for a page: reads `limit` and `cursor`, and creates the response's paging members and `Link:
 * rel="next"`.
 */
export class Paging<Query extends object = object> {
  private place = '';
  private order: string | undefined;
  readonly limit: number;

  constructor(
    private readonly request: Request,
    limits: PageLimits,
    /** The list's filters and options, as they were sent. */
    readonly query: Query,
  ) {
    const bounds = pageBounds(limits, request.settings.limits);
    const text = request.query['limit'];
    this.limit = text === undefined ? bounds.default : requireLimit(text, bounds.max);
  }

  /**
   * Returns where to start reading. A cursor is valid only for `bound`: the order and the filters by name, which
   * default to those that were sent.
   */
  at(bound?: { order?: string } & Readonly<Record<string, string | undefined>>): {
    limit: number;
    after: PagePosition | null;
  } {
    const { cursors } = this.request.settings;
    const route: unknown = this.request.route;
    const pattern = typeof route === 'object' && route !== null && 'path' in route ? route.path : '';
    this.order = bound?.order;
    const filters = Object.entries(bound ?? this.query).filter(([name]) => !(name in PAGE));
    this.place = JSON.stringify([pattern, this.request.params, filters.sort()]);
    const cursor = this.request.query['cursor'];
    return { limit: this.limit, after: typeof cursor === 'string' ? cursors.read(cursor, this.place) : null };
  }

  /** Returns the response: the page's items as `view` shows them, and the paging members. */
  answer<Item, View>(
    page: { items: readonly Item[]; next: PagePosition | null },
    view: (item: Item) => View,
  ): { items: View[] } & PageView {
    const items = charged(this.request, () => page.items.map(view));
    return { items, ...this.members(page.next) };
  }

  /** Returns the same for items that are already JSON text. */
  answerText<Item>(
    page: { items: readonly Item[]; next: PagePosition | null },
    text: (item: Item) => string,
  ): JsonText {
    const members = JSON.stringify(this.members(page.next));
    const items = charged(this.request, () => page.items.map(text).join(','));
    return new JsonText(`{"items":[${items}],${members.slice(1)}`);
  }

  /** Returns the same for items that are read while they are sent. */
  answerStream(page: { items: TextBatches; next: PagePosition | null }): TextStream {
    const members = JSON.stringify(this.members(page.next));
    return jsonStream('{"items":', page.items, `,${members.slice(1)}`);
  }

  private members(next: PagePosition | null): PageView {
    const cursor = next === null ? null : this.request.settings.cursors.write(next, this.place);
    if (cursor !== null) {
      const [path = '', query = ''] = this.request.originalUrl.split('?');
      const parameters = new URLSearchParams(query);
      parameters.set('cursor', cursor);
      this.request.res?.setHeader('Link', `<${path}?${parameters.toString()}>; rel="next"`);
    }
    const order = this.order === undefined ? {} : { order: this.order };
    return {
      next_cursor: cursor,
      has_more: cursor !== null,
      page: { ...order, limit: this.limit, next_cursor: cursor },
    };
  }
}

function requireLimit(text: unknown, max: number): number {
  const limit = typeof text === 'string' && /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= max) return limit;
  throw new DomainError('validation_error', `limit must be an integer from 1 to ${max}.`, [
    { path: '/query/limit', message: `must be an integer from 1 to ${max}`, code: 'out_of_range' },
  ]);
}

interface List {
  limits: PageLimits;
  query: Shape<Fields>;
}

const readPaging = createParamDecorator(({ limits, query: shape }: List, context: ExecutionContext): Paging => {
  const request = context.switchToHttp().getRequest<Request>();
  return new Paging(request, limits, sentQuery(request, shape));
});

/** Extension with the {@link PageLimits} of a list, until the document shows them at the parameter `limit`. */
export const PAGE_LIMITS = 'x-page-limits';

/** Injects the {@link Paging} of the current request, and documents its query, which must hold `PAGE`. */
export function PageOf(shape: Shape<Fields> = PAGE_QUERY, limits: PageLimits = LIST_LIMITS): ParameterDecorator {
  const read = readPaging({ limits, query: shape });
  return documented(read, ApiExtension(PAGE_LIMITS, limits), declareQuery(shape));
}

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
): Answer {
  const page = view(`${String(item.facts.shown['title'])}Page`, pageFields(item, orders));
  const example = lastPage(items, limits, orders?.at(-1));
  return { description, content: { 'application/json': { schema: page.facts.shown, example } } };
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
