import { type AccessRule, ERROR_CODES, type ErrorCode, SUBJECT_TYPES } from '@iss/domain';
import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import { ERROR_HELP, ERROR_STATUSES } from '../errors/error-statuses';
import { TENANT_ID } from '../request/path-params';

/** A schema of the OpenAPI document. Written as data, since @nestjs/swagger's own type takes class references only. */
export type Schema = Record<string, unknown>;

export const TIMESTAMP: Schema = { type: 'string', format: 'date-time' };
export const UUID: Schema = { type: 'string', format: 'uuid' };
export const HASH: Schema = { type: ['string', 'null'], pattern: '^[0-9a-f]{64}$' };
export const SUBJECT_TYPE: Schema = { type: 'string', enum: SUBJECT_TYPES };
export const TENANT_ID_SCHEMA: Schema = { type: 'string', maxLength: 128, pattern: TENANT_ID.source };
export const SUBJECT_ID: Schema = { type: 'string', minLength: 1, maxLength: 512, pattern: '^\\P{Cc}*$' };

/** An object schema in which every property is required, unless it is named in `optional`. */
export function object(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  };
}

/** A schema with a name: it stands once, in the document's components, and is referred to from everywhere else. */
export function named(name: string, schema: Schema): Schema {
  return { title: name, ...schema };
}

export const SUBJECT_REF: Schema = named(
  'SubjectRef',
  object({ subject_type: SUBJECT_TYPE, subject_id: { type: 'string' } }),
);

/** The three ways in which an operation may decide who calls it. */
export type WhoMayCall = AccessRule | 'anyone' | 'any_principal';

/**
 * Documents an operation: what it does in one line, who may call it (from the same rule that decides it), and what else
 * there is to know. `deprecated` marks the secondary one of two forms.
 */
export function ApiRoute(
  summary: string,
  who: WhoMayCall,
  more: { description?: string; deprecated?: boolean } = {},
): MethodDecorator {
  const description = [whoMayCall(who), more.description].filter((part) => part !== undefined).join('\n\n');
  return ApiOperation({ summary, description, deprecated: more.deprecated ?? false });
}

function whoMayCall(who: WhoMayCall): string {
  if (who === 'anyone') return '**Access:** no token needed.';
  if (who === 'any_principal') return '**Access:** any caller with a valid token.';
  const role = `**Role:** at least \`${who.role}\` in the tenant`;
  if (who.subject === undefined) return `${role}.`;
  if (who.subject === 'owner') return `${role}, which must own the subject.`;
  if (who.subject === 'owner_or_grantee') return `${role}, which must own the subject or hold a live grant on it.`;
  const scopes = who.subject.map((scope) => `\`${scope}\``).join(' or ');
  return `${role}, which must own the subject or hold a live grant with ${scopes} (then \`allow_counterparty_access\` too).`;
}

export const ERROR_SCHEMA: Schema = named(
  'Error',
  object({
    error: object(
      {
        code: { type: 'string', enum: ERROR_CODES },
        message: { type: 'string', description: 'What to do.' },
        details: {
          type: 'array',
          items: named(
            'ErrorDetail',
            object(
              {
                path: {
                  type: 'string',
                  description: 'RFC 6901 JSON Pointer into the body, or `/query/…`, `/path/…`, `/headers/…`.',
                },
                message: { type: 'string' },
                code: { type: 'string' },
              },
              ['code'],
            ),
          ),
        },
        request_id: { type: 'string', description: 'Also in the header `X-Request-Id`.' },
      },
      ['details'],
    ),
  }),
);

const DETAILS_EXAMPLE = [{ path: '/query/limit', message: 'must be an integer from 1 to 200', code: 'out_of_range' }];

/** An error in the error envelope, with its example. */
export function errorAnswer(code: ErrorCode): { description: string; content: Record<string, Schema> } {
  const details = code === 'validation_error' ? { details: DETAILS_EXAMPLE } : {};
  const error = { code, message: ERROR_HELP[code], ...details, request_id: '4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001' };
  return {
    description: ERROR_HELP[code],
    content: { 'application/json': { schema: ERROR_SCHEMA, example: { error } } },
  };
}

/** The errors of an operation; 401 stands for every operation that takes a token. */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return applyDecorators(...codes.map((code) => ApiResponse({ status: ERROR_STATUSES[code], ...errorAnswer(code) })));
}

/** A success with its schema and a real example. */
export function ApiAnswer(status: number, description: string, schema: Schema, example: unknown): MethodDecorator {
  return ApiResponse({ status, description, content: { 'application/json': { schema, example } } });
}

/** Documents that `If-None-Match` with the answer's `ETag`, for example this one, saves the answer. */
export function ApiConditional(etag: string): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'The `ETag` of an earlier answer: if it still holds, the answer is 304 without a body.',
      schema: { type: 'string', example: etag },
    }),
    ApiResponse({ status: 304, description: 'Unchanged: `If-None-Match` names the current `ETag`.' }),
  );
}

/** A parameter of the path. */
export function ApiPathParam(name: string, description: string, schema: Schema, example: unknown): MethodDecorator {
  // Beside a schema @nestjs/swagger drops the example.
  return ApiParam({ name, description, schema: { ...schema, example } });
}

export const ApiTenantParam = (example = 'acme'): MethodDecorator =>
  ApiPathParam('tenant_id', 'The tenant that is acted for.', TENANT_ID_SCHEMA, example);

export const ApiSubjectParams = (): MethodDecorator =>
  applyDecorators(
    ApiPathParam('subject_type', 'The namespace of the subject’s id.', SUBJECT_TYPE, 'organization'),
    ApiPathParam('subject_id', 'The subject, byte for byte; percent-encoded.', SUBJECT_ID, 'acme-corp'),
  );

export const ApiSnapshotParam = (example: string, name = 'snapshot_id'): MethodDecorator =>
  ApiPathParam(name, 'A snapshot.', UUID, example);

/** A parameter decorator that documents what it reads. */
export function documented(read: ParameterDecorator, ...documentation: MethodDecorator[]): ParameterDecorator {
  return (target, key, index) => {
    read(target, key, index);
    const method = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key === undefined || method === undefined) return;
    for (const document of documentation) document(target, key, method);
  };
}
