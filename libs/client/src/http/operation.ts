import type { Operations, PathParameters } from '../generated/types.ts';
import type { CallOptions, Method } from './transport.ts';

/** The paths of the operations with a method, such as `/v1/tenants/{tenant_id}/grants`. Their answers are JSON. */
export type Path<M extends Method> = M extends Method ? keyof Operations[M] & string : never;

/** The answer of an operation. */
export type Answer<M extends Method, P extends Path<M>> = Part<Operations[M][P & keyof Operations[M]], 'answer'>;

/** The body of an operation. */
export type Body<M extends Method, P extends Path<M>> = Part<Operations[M][P & keyof Operations[M]], 'body'>;

/** The query of an operation. */
export type OperationQuery<M extends Method, P extends Path<M>> = Part<Operations[M][P & keyof Operations[M]], 'query'>;

/** The `path`, `query` and `body` of an operation, as far as it has them. A query parameter that is undefined or null is not sent. */
export type OperationParameters<M extends Method, P extends Path<M>> = PathPart<NameIn<P>> &
  RestPart<Operations[M][P & keyof Operations[M]]>;

/** The last argument of `request`. */
export type RequestOptions<M extends Method, P extends Path<M>, Options = CallOptions> =
  object extends OperationParameters<M, P>
    ? [options?: OperationParameters<M, P> & Options]
    : [options: OperationParameters<M, P> & Options];

type Part<Operation, Name> = Name extends keyof Operation ? Exclude<Operation[Name], undefined> : never;

type NameIn<P> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never;
type PathPart<Name> = [Name] extends [never]
  ? unknown
  : { readonly path: Readonly<Pick<PathParameters, Name & keyof PathParameters>> };

type RestPart<Operation> = {
  readonly [Name in keyof Operation as Name extends 'answer' ? never : Name]: Name extends 'query'
    ? Sendable<Operation[Name]>
    : Operation[Name];
};
type Sendable<Query> = {
  readonly [Name in keyof Query]: Query[Name] | (object extends Pick<Query, Name> ? null | undefined : never);
};

/** The paths of the lists. */
export type ListPath = {
  [P in Path<'GET'>]: Answer<'GET', P> extends { items: readonly unknown[] } ? P : never;
}[Path<'GET'>];

/** An item of a list. */
export type Item<P extends ListPath> = Answer<'GET', P> extends { items: readonly (infer T)[] } ? T : never;

/** The filters of a list: its query without the page. Omit a member to select all. */
export type Filter<P extends Path<'GET'>> = Omit<OperationQuery<'GET', P>, 'limit' | 'cursor'>;
