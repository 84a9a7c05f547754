import type { AccessRule, ErrorCode } from '@iss/domain';
import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import { ERROR_HELP, ERROR_STATUSES } from './error-statuses';

/** A schema of the OpenAPI document. Written as data, since @nestjs/swagger's own type takes class references only. */
export type Schema = Record<string, unknown>;

export const TIMESTAMP: Schema = { type: 'string', format: 'date-time' };
export const UUID: Schema = { type: 'string', format: 'uuid' };
export const HASH: Schema = { type: ['string', 'null'], pattern: '^[0-9a-f]{64}$' };
export const SUBJECT_TYPE: Schema = { type: 'string', enum: ['individual', 'organization', 'entity'] };

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
        code: { type: 'string' },
        message: { type: 'string' },
        details: {
          type: 'array',
          items: object(
            {
              path: { type: 'string', description: 'RFC 6901 JSON Pointer' },
              message: { type: 'string' },
              code: { type: 'string' },
            },
            ['code'],
          ),
        },
        request_id: { type: 'string' },
      },
      ['details'],
    ),
  }),
);

/** An error in the error envelope, with its example. */
export function errorAnswer(code: ErrorCode): { description: string; content: Record<string, Schema> } {
  const example = { error: { code, message: ERROR_HELP[code], request_id: '4f6c0f0e-6a55-4a3c-9e67-0f8f6cf5a001' } };
  return { description: ERROR_HELP[code], content: { 'application/json': { schema: ERROR_SCHEMA, example } } };
}

/** The errors of an operation; 401 stands for every operation that takes a token. */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return applyDecorators(...codes.map((code) => ApiResponse({ status: ERROR_STATUSES[code], ...errorAnswer(code) })));
}

/** A success with its schema and a real example. */
export function ApiAnswer(status: number, description: string, schema: Schema, example: unknown): MethodDecorator {
  return ApiResponse({ status, description, content: { 'application/json': { schema, example } } });
}

export const ApiTenantParam = (): MethodDecorator =>
  ApiParam({ name: 'tenant_id', schema: { type: 'string', maxLength: 128 }, example: 'acme' });

export const ApiSubjectParams = (): MethodDecorator =>
  applyDecorators(
    ApiParam({
      name: 'subject_type',
      schema: { type: 'string', enum: ['individual', 'organization', 'entity'] },
      example: 'organization',
    }),
    ApiParam({ name: 'subject_id', schema: { type: 'string', minLength: 1, maxLength: 512 }, example: 'acme-corp' }),
  );
