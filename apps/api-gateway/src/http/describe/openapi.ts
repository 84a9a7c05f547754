import { type AccessRule, ERROR_CODES, type ErrorCode, type Schema } from '@iss/domain';
import { applyDecorators, HttpCode, SetMetadata } from '@nestjs/common';
import { ApiExtension, ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { anyObject, EXAMPLE_IDS, hash, listOf, oneOf, part, text, time, uuid, version, view } from '@iss/contract';
import { ERROR_HELP } from '../errors/error-statuses';

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
/** Metadata key: the rule that decides who may get a stored response again (`Idempotency-Key`). */
export const REPLAY_RULE = 'iss:replay_rule';
/** Metadata key: the operation takes no `Idempotency-Key`. */
export const TAKES_NO_KEY = 'iss:takes_no_key';

/** A response without its headers. */
export interface Answer {
  description: string;
  content?: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>;
}

export interface Route {
  /** Text after the summary. */
  description?: string;
  /** Marks the secondary one of two forms. */
  deprecated?: boolean;
  /** By status. If one of them is a success, it is the status of the route. */
  answers: Readonly<Record<number, Answer>>;
  /** Errors that do not follow from path, caller and body. */
  errors?: readonly ErrorCode[];
  /** The `ETag` of the example, if the route honours `If-None-Match`. */
  etag?: string;
  /** Decides who gets a stored response again, if not only callers under the route's rule may call the operation. */
  replayFor?: AccessRule;
  /** Set if a POST takes no `Idempotency-Key`, because the request cannot be stored as a whole. */
  takesNoKey?: true;
  /** Examples of path parameters that differ from the usual ones. */
  examples?: Readonly<Record<string, unknown>>;
}

/** Extension with the facts of a route from which the document is completed. */
export const ROUTE = 'x-route';
export interface RouteFacts extends Pick<Route, 'errors' | 'examples' | 'takesNoKey'> {
  mayBeForbidden: boolean;
}

/**
 * Documents an operation: its effect in one line, who may call it (from the rule that decides it), its responses and
 * its own errors. The other errors follow: 400 from path, query and body, 401 from the token, 403 from the rule, 413
 * and 415 from the body.
 */
export function ApiRoute(summary: string, who: WhoMayCall, route: Route): MethodDecorator {
  const { answers, errors = [], examples = {}, deprecated = false, etag } = route;
  const description = [whoMayCall(who), route.description].filter((one) => one !== undefined).join('\n\n');
  const successes = Object.keys(answers).filter((status) => status.startsWith('2'));
  const mayBeForbidden = typeof who === 'object' && 'role' in who;
  const { takesNoKey } = route;
  const facts: RouteFacts = { errors, examples, mayBeForbidden, ...(takesNoKey === undefined ? {} : { takesNoKey }) };
  return applyDecorators(
    ApiOperation({ summary, description, deprecated }),
    ApiExtension(ROUTE, facts),
    SetMetadata(REPLAY_RULE, route.replayFor ?? who),
    SetMetadata(TAKES_NO_KEY, route.takesNoKey),
    ...Object.entries(answers).map(([status, answer]) => ApiResponse({ status: Number(status), ...answer })),
    ...(etag === undefined ? [] : [ApiConditional(etag)]),
    ...(successes.length === 1 ? [HttpCode(Number(successes[0]))] : []),
  );
}

/** Returns a response with its schema and a real example. */
export function answer<Shown>(
  description: string,
  { facts }: { facts: { shown: Schema }; types: { shown: Shown } },
  example: NoInfer<Shown>,
): Answer {
  return { description, content: { 'application/json': { schema: facts.shown, example } } };
}

function whoMayCall(who: WhoMayCall): string {
  if (who === 'anyone' || (typeof who === 'object' && 'legacyTenant' in who)) return '**Access:** no token needed.';
  if (who === 'any_principal') return '**Access:** any caller with a valid token.';
  const rule = 'anyTenant' in who ? who.anyTenant : who;
  const role = `**Role:** at least \`${rule.role}\` in the tenant`;
  if (rule.subject === undefined) return `${role}.`;
  if (rule.subject === 'owner') return `${role}. The tenant must own the subject.`;
  if (rule.subject === 'owner_or_grantee')
    return `${role}. The tenant must own the subject or hold a live grant on it.`;
  const scopes = rule.subject.map((scope) => `\`${scope}\``).join(' or ');
  return (
    `${role}. The tenant must own the subject or hold a live grant with ${scopes}. To use a grant, the caller ` +
    'also needs `allow_counterparty_access`.'
  );
}

const ErrorDetail = view('ErrorDetail', {
  path: text.described(
    'The place in the request: a JSON Pointer (RFC 6901) into the body, or `/query/…`, `/path/…` or `/headers/…`.',
  ),
  message: text.described('The problem at this place.'),
  code: text.optional().described('The kind of problem, for programs.'),
});

/** Specification, "Errors". */
export const ErrorEnvelope = view('Error', {
  error: part({
    code: oneOf(ERROR_CODES).described(
      'The kind of error, for programs. [/docs/errors](/docs/errors) explains each code.',
    ),
    message: text.described('The problem and how to fix it.'),
    details: listOf(ErrorDetail).optional().described('The problems, one for each place in the request.'),
    request_id: text.described('The same id as in the header `X-Request-Id`.'),
    erased: part({
      erasure_id: uuid.described('The erasure.'),
      erased_at: time.described('When the content was destroyed.'),
      snapshot_id: uuid.described('The id of the version.'),
      snapshot_version: version,
      envelope_hash: hash.nullable().described('The envelope hash of the erased content.'),
      prev_hash: hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
      proof: anyObject
        .optional()
        .described(
          'Present if the request asked for a proof. `log_index`, `leaf_hash` and `inclusion` prove the version; ' +
            '`erasure` proves that the log records the erasure.',
        ),
    })
      .optional()
      .described('The remains of an erased version. Present only with the code `erased`.'),
  }).described('The error and how to fix it.'),
});
export const ERROR_SCHEMA = ErrorEnvelope.facts.shown;

const DETAILS_EXAMPLE = [{ path: '/query/limit', message: 'must be an integer from 1 to 200', code: 'out_of_range' }];

/** Returns the response for all errors of one status, with an example of each. */
export function errorAnswer(codes: readonly ErrorCode[]): Answer {
  const examples = codes.map((code) => [code, { value: errorExample(code) }] as const);
  const [first] = examples;
  return {
    description: codes.map((code) => ERROR_HELP[code]).join(' Or: '),
    content: {
      'application/json': {
        schema: ERROR_SCHEMA,
        ...(codes.length === 1 ? { example: first?.[1].value } : { examples: Object.fromEntries(examples) }),
      },
    },
  };
}

function errorExample(code: ErrorCode): object {
  const details = code === 'validation_error' ? { details: DETAILS_EXAMPLE } : {};
  return {
    error: { code, message: ERROR_HELP[code], ...details, request_id: EXAMPLE_IDS.request_id },
  };
}

const IF_NONE_MATCH = 'The `ETag` of an earlier response. If it is still current, the response is 304 without a body.';
const UNCHANGED = 'Not modified: `If-None-Match` names the current `ETag`.';

/** Documents that `If-None-Match` with the response's `ETag` (for example this one) yields 304. */
function ApiConditional(etag: string): MethodDecorator {
  const schema = { type: 'string', example: etag } as const;
  return applyDecorators(
    ApiHeader({ name: 'If-None-Match', required: false, description: IF_NONE_MATCH, schema }),
    ApiResponse({ status: 304, description: UNCHANGED }),
  );
}

/** Returns a parameter decorator that also documents what it reads. */
export function documented(read: ParameterDecorator, ...documentation: MethodDecorator[]): ParameterDecorator {
  return (target, key, index) => {
    read(target, key, index);
    const method = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key === undefined || method === undefined) return;
    for (const document of documentation) document(target, key, method);
  };
}
