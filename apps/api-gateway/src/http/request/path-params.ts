import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import {
  DomainError,
  type ErrorDetail,
  isUuid,
  MAX_SNAPSHOT_VERSION,
  subjectProblems,
  type SubjectRef,
} from '@iss/domain';
import type { Request } from 'express';
import { ISSUER, KID, PRINCIPAL_ID, TENANT_ID } from '@iss/contract';

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

/** Reads a tenant id from a path. Throws `validation_error`. */
export function tenantIdOf(text: unknown): string {
  if (typeof text === 'string' && TENANT_ID.test(text)) return text;
  throw invalidPath(
    problem('tenant_id', 'must be 1-128 characters of [A-Za-z0-9._-] and start with a letter or digit'),
  );
}

/** Reads a subject from a path. Throws `validation_error`. */
export function subjectOfPath(subjectType: string, subjectId: string): SubjectRef {
  requireParameter(subjectProblems(subjectType, subjectId, '/path'));
  return { subjectType, subjectId };
}

/** Reads a UUID from a path, with or without `prefix`, and returns it in lower case. Throws `validation_error`. */
export function uuidOf(text: string, { name, prefix = '' }: { name: string; prefix?: string }): string {
  const uuid = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  requireParameter(isUuid(uuid) ? [] : problem(name, `must be ${prefix === '' ? '' : `${prefix} and `}a UUID`));
  return uuid.toLowerCase();
}

/** Reads a snapshot version from a path. Throws `validation_error`. */
export function versionOfPath(text: string): number {
  const version = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  requireParameter(
    version >= 1 && version <= MAX_SNAPSHOT_VERSION ? [] : problem('snapshot_version', 'must be an integer >= 1'),
  );
  return version;
}

/** Injects `tenant_id` from the path. */
export const TenantIdParam = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  tenantIdOf(parameter(context, 'tenant_id')),
);

/** Injects the subject that the path names. */
export const SubjectParam = createParamDecorator((_: unknown, context: ExecutionContext): SubjectRef =>
  subjectOfPath(parameter(context, 'subject_type'), parameter(context, 'subject_id')),
);

/** Injects the subject that the path names, or null if it names none. */
export const NamedSubjectParam = createParamDecorator((_: unknown, context: ExecutionContext): SubjectRef | null => {
  const { subject_type, subject_id } = context.switchToHttp().getRequest<Request>().params;
  return subject_type === undefined ? null : subjectOfPath(String(subject_type), String(subject_id));
});

/** Injects a UUID from the path in lower case. `prefix` may precede it. */
export const UuidParam = createParamDecorator(
  (options: { name: string; prefix?: string }, context: ExecutionContext): string =>
    uuidOf(parameter(context, options.name), options),
);

/** Injects `snapshot_version` from the path. */
export const VersionParam = createParamDecorator((_: unknown, context: ExecutionContext): number =>
  versionOfPath(parameter(context, 'snapshot_version')),
);

/** Injects `log_index` from the path. */
export const LogIndexParam = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const text = parameter(context, 'log_index');
  requireParameter(/^(?:0|[1-9][0-9]{0,14})$/.test(text) ? [] : problem('log_index', 'must be an integer >= 0'));
  return Number(text);
});

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

/** Injects `issuer` from the path, decoded. */
export const IssuerParam = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const issuer = parameter(context, 'issuer');
  const isIssuer = ISSUER.test(issuer) && URL.canParse(issuer);
  const message = 'must be an https URL without query and fragment, percent-encoded (":" as %3A, "/" as %2F)';
  requireParameter(isIssuer ? [] : problem('issuer', message));
  return issuer;
});

/** Injects `response_id` from the path, as it was sent. */
export const ResponseIdParam = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  parameter(context, 'response_id'),
);

/** Injects `kid` from the path. */
export const KidParam = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const kid = parameter(context, 'kid');
  requireParameter(KID.test(kid) ? [] : problem('kid', 'must be a JWK thumbprint: 43 characters of base64url'));
  return kid;
});
