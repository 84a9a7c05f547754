import type { AccessRule, ErrorCode, Schema } from '@iss/domain';
import type { Fields } from './field';
import type { PageLimits } from './page-limits';
import type { Shape } from './shape';

/** A rule that any one of the caller's tenants may satisfy: the global form of a read. */
interface InAnyTenant {
  anyTenant: AccessRule;
}
export const inAnyTenant = (rule: AccessRule): InAnyTenant => ({ anyTenant: rule });

/** A rule of the legacy tenant, if legacy paths require a token. Otherwise they are open to anyone. */
interface InLegacyTenant {
  legacyTenant: AccessRule;
}
export const inLegacyTenant = (rule: AccessRule): InLegacyTenant => ({ legacyTenant: rule });

/** How an operation decides who may call it. */
export type WhoMayCall = AccessRule | InAnyTenant | InLegacyTenant | 'anyone' | 'any_principal';

/** When an operation accepts requests without a token. */
export type PublicWhen = 'always' | 'global_reads_are_public' | 'legacy_paths_are_public';

/** A response without its headers. */
export interface ResponseFacts {
  description: string;
  content?: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>;
}

/** A request body that something other than a {@link Shape} checks. */
interface OtherBody {
  schema: Schema;
  examples: Readonly<Record<string, { summary?: string; value: unknown }>>;
  /** Defaults to JSON. */
  contentType?: string;
}

export interface Responses {
  /** Text after the summary. */
  description?: string;
  /** By status. If one of them is a success, it is the status of the route. */
  answers: Readonly<Record<number, ResponseFacts>>;
  /** Errors that do not follow from path, caller and body. */
  errors?: readonly ErrorCode[];
  /** The `ETag` of the example, if the route honours `If-None-Match`. */
  etag?: string;
}

/** The facts of an operation, in any form. */
interface Facts extends Responses {
  summary: string;
  query?: Shape<Fields>;
  /** The limits of a list; its query must hold `PAGE`. */
  page?: PageLimits;
}

interface OperationFacts extends Facts {
  /** The method and the path below that of the group, with parameters as `{name}`. */
  route: `${'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'} ${string}`;
  who: WhoMayCall;
  /** Set if it does not follow from `who`. */
  public?: PublicWhen;
  /** Marks the secondary one of two forms. */
  deprecated?: boolean;
  body?: Shape<Fields> | OtherBody;
  /** Set if a request without body is an object without fields. */
  isBodyOptional?: true;
  /** A request header that only this operation reads. */
  header?: { name: string; description: string; example: string };
  /** Decides who gets a stored response again, if not only callers under the route's rule may call the operation. */
  replayFor?: AccessRule;
  /** Set if a POST takes no `Idempotency-Key`, because the request cannot be stored as a whole. */
  takesNoKey?: true;
  /** Examples of path parameters that differ from the usual ones. */
  examples?: Readonly<Record<string, unknown>>;
}

/** One operation: all that its route, its checks and its documentation are made of. */
export interface Operation extends Omit<OperationFacts, 'route' | 'public'> {
  /** Generated clients use it as the name of their method. */
  id: string;
  /** The heading under which the documentation lists it. */
  tag: string;
  method: 'get' | 'put' | 'post' | 'patch' | 'delete';
  /** The path, with parameters as `{name}`. */
  path: string;
  public: PublicWhen | 'never';
}

/** Creates the operations of a resource by id, below a common path. */
export function operations<const Id extends string>(
  tag: string,
  base: string,
  all: Readonly<Record<Id, OperationFacts>>,
): Readonly<Record<Id, Operation>> {
  const entries = Object.entries<OperationFacts>(all).map(([id, { route, ...facts }]): [string, Operation] => {
    const [method = '', path = ''] = route.split(' ');
    const operation = { id, tag, method: method.toLowerCase() as Operation['method'], path: base + path };
    return [id, { ...facts, ...operation, public: facts.public ?? publicWhen(facts.who) }];
  });
  return Object.fromEntries(entries) as Record<Id, Operation>;
}

interface ReadFacts extends Facts {
  path: string;
  who: AccessRule;
  /** The summary of the global form. Defaults to the other with an addition. */
  globalSummary?: string;
}
type BothForms<Id extends string> = Id | `${Id}AcrossTenants`;

/** Creates reads by id in two forms each: for the tenant in the path, and through any tenant of the caller that has access. */
export function reads<const Id extends string>(
  tag: string,
  all: Readonly<Record<Id, ReadFacts>>,
): Readonly<Record<BothForms<Id>, Operation>> {
  const entries = Object.entries<ReadFacts>(all).flatMap(([id, { path, globalSummary, ...facts }]) => [
    [id, { ...facts, route: `GET /tenants/{tenant_id}${path}` }] as const,
    [
      `${id}AcrossTenants`,
      {
        ...facts,
        route: `GET ${path}`,
        who: inAnyTenant(facts.who),
        summary: globalSummary ?? `${facts.summary}, through any tenant of the caller that has access`,
      },
    ] as const,
  ]);
  const forms: Record<string, OperationFacts> = Object.fromEntries(entries);
  return operations(tag, '/v1', forms as Record<BothForms<Id>, OperationFacts>);
}

function publicWhen(who: WhoMayCall): PublicWhen | 'never' {
  if (who === 'anyone') return 'always';
  if (who === 'any_principal' || 'role' in who) return 'never';
  return 'anyTenant' in who ? 'global_reads_are_public' : 'legacy_paths_are_public';
}

/** Returns a response with its schema and a real example. */
export function answer<Shown>(
  description: string,
  { facts }: { facts: { shown: Schema }; types: { shown: Shown } },
  example: NoInfer<Shown>,
): ResponseFacts {
  return { description, content: { 'application/json': { schema: facts.shown, example } } };
}
