import { DomainError } from '@iss/domain';
import type { Limits } from '@iss/platform';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiExtension, ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import type { Request } from 'express';
import { jsonStream, JsonText, type TextStream } from '../answer/json-text';
import { documented, named, object, type Schema } from '../describe/openapi';

/** The query parameters of every paged list; extend it with the list's filters. */
export class PageQuery {
  /** Its default and its maximum are the list's: {@link PageOf}. */
  @ApiProperty({ type: 'integer', minimum: 1, required: false, description: 'Items of a page.' })
  @IsOptional()
  @IsString()
  limit?: string;

  @ApiProperty({
    required: false,
    maxLength: 4096,
    description: '`next_cursor` of the page before, with the same order and filters.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(4096)
  cursor?: string;
}

export interface PageLimits {
  default: number;
  /** A larger `limit` is refused, never clamped. */
  max: number | ((limits: Limits) => number);
}

/** The page limits under the limits of the deployment. */
export function pageBounds({ default: preferred, max }: PageLimits, limits: Limits): { default: number; max: number } {
  const bound = typeof max === 'number' ? max : max(limits);
  return { default: Math.min(preferred, bound), max: bound };
}

/** The members that every list answers, beside its `items`: the union of the specification's variants. */
export interface PageView {
  next_cursor: string | null;
  has_more: boolean;
  page: { order?: string; limit: number; next_cursor: string | null };
}

type Position = readonly (string | number)[];

/** One request for a page: reads `limit` and `cursor`, and makes the answer's paging members and `Link: rel="next"`. */
export class Paging {
  private place = '';
  private order: string | undefined;
  readonly limit: number;

  constructor(
    private readonly request: Request,
    limits: PageLimits,
  ) {
    const bounds = pageBounds(limits, request.settings.limits);
    const text = request.query['limit'];
    this.limit = text === undefined ? bounds.default : requireLimit(text, bounds.max);
  }

  /** Where to read from. `bound` holds the order and the filters, by name: the cursor is good for these alone. */
  at(bound: { order?: string } & Readonly<Record<string, string | undefined>> = {}): {
    limit: number;
    after: Position | null;
  } {
    const { cursors } = this.request.settings;
    const route: unknown = this.request.route;
    const pattern = typeof route === 'object' && route !== null && 'path' in route ? route.path : '';
    this.order = bound.order;
    this.place = JSON.stringify([pattern, this.request.params, Object.entries(bound).sort()]);
    const cursor = this.request.query['cursor'];
    return { limit: this.limit, after: typeof cursor === 'string' ? cursors.read(cursor, this.place) : null };
  }

  /** The answer: the page's items as `view` shows them, and the paging members. */
  answer<Item, View>(
    page: { items: readonly Item[]; next: Position | null },
    view: (item: Item) => View,
  ): { items: View[] } & PageView {
    return { items: page.items.map(view), ...this.members(page.next) };
  }

  /** The same for items that are JSON text already. */
  answerText<Item>(page: { items: readonly Item[]; next: Position | null }, text: (item: Item) => string): JsonText {
    const members = JSON.stringify(this.members(page.next));
    return new JsonText(`{"items":[${page.items.map(text).join(',')}],${members.slice(1)}`);
  }

  /** The same for items that are read while they are sent. */
  answerStream(page: { items: AsyncIterable<string>; next: Position | null }): TextStream {
    const members = JSON.stringify(this.members(page.next));
    return jsonStream('{"items":', page.items, `,${members.slice(1)}`);
  }

  private members(next: Position | null): PageView {
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

const readPaging = createParamDecorator(
  (limits: PageLimits, context: ExecutionContext): Paging =>
    new Paging(context.switchToHttp().getRequest<Request>(), limits),
);

/** Holds the {@link PageLimits} of a list, until the document shows them at its parameter `limit`. */
export const PAGE_LIMITS = 'x-page-limits';

/** Injects the {@link Paging} of the current request. The query's class must extend {@link PageQuery}. */
export function PageOf(limits: PageLimits): ParameterDecorator {
  return documented(readPaging(limits), ApiExtension(PAGE_LIMITS, limits));
}

/** The members of a list's answer. */
export function listFields(item: Schema, order?: readonly string[]): Record<string, Schema> {
  const cursor: Schema = { type: ['string', 'null'], description: 'Null on the last page.' };
  return {
    items: { type: 'array', items: item },
    next_cursor: cursor,
    has_more: { type: 'boolean' },
    page: object({
      ...(order === undefined ? {} : { order: { type: 'string', enum: order } }),
      limit: { type: 'integer', minimum: 1 },
      next_cursor: { ...cursor, deprecated: true, description: 'Alias of the outer next_cursor.' },
    }),
  };
}

/** The schema of a list's answer; `GrantPage` for items that are named `Grant`. */
export function listSchema(item: Schema, order?: readonly string[]): Schema {
  return named(`${String(item['title'])}Page`, object(listFields(item, order)));
}

/** The example of a list's answer: one last page. */
export function listExample(items: readonly unknown[], limit: number, order?: string): Record<string, unknown> {
  return {
    items,
    next_cursor: null,
    has_more: false,
    page: { ...(order === undefined ? {} : { order }), limit, next_cursor: null },
  };
}
