import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import {
  DomainError,
  type ErrorDetail,
  isUuid,
  MAX_SNAPSHOT_VERSION,
  subjectProblems,
  type SubjectRef,
  SUBSCRIPTION_PREFIX,
} from '@iss/domain';
import type { Request } from 'express';
import {
  EXAMPLE_IDS,
  type Field,
  PRINCIPAL_ID,
  principalId,
  shown,
  subjectId,
  subjectType,
  TENANT_ID,
  tenantId,
  uuid,
  version,
} from '@iss/contract';

const subscriptionId = shown<string>({
  type: 'string',
  pattern: `^(${SUBSCRIPTION_PREFIX})?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`,
});

/** Every path parameter, as the document describes it. */
export const PATH_PARAMETERS: Readonly<Record<string, Field<string> | Field<number>>> = {
  tenant_id: tenantId.described('The tenant for which the caller acts.').example('acme'),
  subject_type: subjectType.described('The namespace of the subject’s id.').example('organization'),
  subject_id: subjectId.described('The subject’s id, percent-encoded.').example('acme-corp'),
  snapshot_version: version.described('A version of the subject.').example(1),
  snapshot_id: uuid.described('A snapshot.').example(EXAMPLE_IDS.snapshot_id),
  from_snapshot_id: uuid.described('A snapshot.').example(EXAMPLE_IDS.snapshot_id),
  to_snapshot_id: uuid.described('A snapshot.').example(EXAMPLE_IDS.next_snapshot_id),
  update_id: uuid.described('An update of the tenant.').example(EXAMPLE_IDS.update_id),
  grant_id: uuid.described('A grant of the tenant.').example(EXAMPLE_IDS.grant_id),
  refresh_request_id: uuid.described('A refresh request of the subject.').example(EXAMPLE_IDS.refresh_request_id),
  erasure_id: uuid.described('An erasure of the subject.').example(EXAMPLE_IDS.erasure_id),
  offer_id: uuid.described('A transfer offer.').example(EXAMPLE_IDS.offer_id),
  log_index: shown<number>({ type: 'integer', minimum: 0 })
    .described('The index of an entry in the log, from 0.')
    .example(3),
  principal_id: principalId
    .described('A principal, percent-encoded: `:` as `%3A`, `#` as `%23`.')
    .example('oidc:dev#carol'),
  subscription_id: subscriptionId
    .described(`A webhook subscription. The UUID without \`${SUBSCRIPTION_PREFIX}\` is accepted too.`)
    .example(SUBSCRIPTION_PREFIX + EXAMPLE_IDS.subscription_id),
  delivery_id: uuid.described('A delivery to the subscription.').example(EXAMPLE_IDS.delivery_id),
};

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
export function subjectOf(subjectType: string, subjectId: string): SubjectRef {
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
export function versionOf(text: string): number {
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
  subjectOf(parameter(context, 'subject_type'), parameter(context, 'subject_id')),
);

/** Injects a UUID from the path in lower case. `prefix` may precede it. */
export const UuidParam = createParamDecorator(
  (options: { name: string; prefix?: string }, context: ExecutionContext): string =>
    uuidOf(parameter(context, options.name), options),
);

/** Injects `snapshot_version` from the path. */
export const VersionParam = createParamDecorator((_: unknown, context: ExecutionContext): number =>
  versionOf(parameter(context, 'snapshot_version')),
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
