import { DomainError } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PAGE, pageBounds, type PageLimits, type PageView } from '@iss/contract';
import { jsonStream, JsonText, type TextBatches, type TextStream } from '../answer/json-text';
import { chargeWork } from '../limits/charge-work';
import { sentQuery } from './query';
import { operationOf } from '../describe/operation.decorator';

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
    const items = chargeWork(this.request, () => page.items.map(view));
    return { items, ...this.members(page.next) };
  }

  /** Returns the same for items that are already JSON text. */
  answerText<Item>(
    page: { items: readonly Item[]; next: PagePosition | null },
    text: (item: Item) => string,
  ): JsonText {
    const members = JSON.stringify(this.members(page.next));
    const items = chargeWork(this.request, () => page.items.map(text).join(','));
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

/** Injects the {@link Paging} of the current request, whose operation must be a list. */
export const PageOf = createParamDecorator((_: unknown, context: ExecutionContext): Paging => {
  const request = context.switchToHttp().getRequest<Request>();
  const { query, page } = operationOf(context) ?? {};
  if (query === undefined || page === undefined) throw new Error(`${context.getHandler().name} is not a list`);
  return new Paging(request, page, sentQuery(request, query));
});
