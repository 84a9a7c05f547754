import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { DomainError, type ErrorDetail, isUuid, subjectProblems, type SubjectRef } from '@iss/domain';
import type { Request } from 'express';

/** 1-128 characters, starting alphanumeric (contract, "`tenant_id`, `slug`"). */
export const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** `oidc:{project_id}#{user_id}` without control characters (specification, "Principal access record"). */
export const PRINCIPAL_ID = /^oidc:[^#\p{Cc}]{1,255}#[^\p{Cc}]{1,255}$/u;
const MAX_VERSION = 2_147_483_647;

function parameter(context: ExecutionContext, name: string): string {
  const value = context.switchToHttp().getRequest<Request>().params[name];
  return typeof value === 'string' ? value : '';
}

function invalidPath(problems: readonly ErrorDetail[]): DomainError {
  return new DomainError('validation_error', 'The path is not valid. See details for each place.', problems);
}

function requireParameter(problems: readonly ErrorDetail[]): void {
  if (problems.length > 0) throw invalidPath(problems);
}

const problem = (name: string, message: string): ErrorDetail[] => [
  { path: `/path/${name}`, message, code: 'invalid_format' },
];

/** A tenant id of a path. Throws `validation_error`. */
export function tenantIdOf(text: unknown): string {
  if (typeof text === 'string' && TENANT_ID.test(text)) return text;
  throw invalidPath(problem('tenant_id', 'must be 1-128 characters of [A-Za-z0-9._-], starting alphanumeric'));
}

/** A subject of a path. Throws `validation_error`. */
export function subjectOf(subjectType: string, subjectId: string): SubjectRef {
  requireParameter(subjectProblems(subjectType, subjectId, '/path'));
  return { subjectType, subjectId };
}

/** A UUID of a path, in lower case; `prefix` may stand before it. Throws `validation_error`. */
export function uuidOf(text: string, { name, prefix = '' }: { name: string; prefix?: string }): string {
  const uuid = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  requireParameter(isUuid(uuid) ? [] : problem(name, `must be ${prefix === '' ? '' : `${prefix} and `}a UUID`));
  return uuid.toLowerCase();
}

/** A snapshot version of a path. Throws `validation_error`. */
export function versionOf(text: string): number {
  const version = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  requireParameter(
    version >= 1 && version <= MAX_VERSION ? [] : problem('snapshot_version', 'must be an integer >= 1'),
  );
  return version;
}

/** Injects `tenant_id` from the path. */
export const TenantIdParam = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  tenantIdOf(parameter(context, 'tenant_id')),
);

/** Injects the subject that the path names. */
export const SubjectParam = createParamDecorator((_: unknown, context: ExecutionContext): SubjectRef =>
  subjectOf(parameter(context, 'subject_type'), parameter(context, 'subject_id')),
);

/** Injects a UUID of the path, in lower case. `prefix` may stand before it. */
export const UuidParam = createParamDecorator(
  (options: { name: string; prefix?: string }, context: ExecutionContext): string =>
    uuidOf(parameter(context, options.name), options),
);

/** Injects `snapshot_version` from the path. */
export const VersionParam = createParamDecorator((_: unknown, context: ExecutionContext): number =>
  versionOf(parameter(context, 'snapshot_version')),
);

/** Injects `principal_id` from the path, decoded: 1-512 characters without control characters. */
export const PrincipalIdParam = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const principalId = parameter(context, 'principal_id');
  requireParameter(
    PRINCIPAL_ID.test(principalId)
      ? []
      : problem('principal_id', 'must be oidc:{project_id}#{user_id}, percent-encoded (":" as %3A, "#" as %23)'),
  );
  return principalId;
});
