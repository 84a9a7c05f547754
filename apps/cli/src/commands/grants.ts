import type { AccessibleFilter, api, SubjectType, Tenant } from '@identity-state/client';
import { type Command, hasFlag, type Options, textOf, UsageError } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { subjectOf } from '../service/subject-name';
import { visible } from '../visible';
import { grantedText } from './share';

/** Lists grants. */
export const grants: Command = {
  about: 'Newest first, those that live. --all adds those that ended.',
  arguments: [
    { name: 'subject', about: 'Those on one subject alone: TYPE/ID, or the id of an organization.', isOptional: true },
  ],
  options: {
    all: { about: 'Also those that are over.' },
    received: { about: 'Those that your tenant was given.' },
    offered: { about: 'Grants of other tenants on all of their subjects that yours has not accepted.' },
    held: { about: 'The subjects of others that your tenant may read.' },
    prefix: { value: 'TEXT', about: 'With --held: those whose ids begin so.' },
    with: { value: 'TENANT', about: 'Those with one other tenant alone.' },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const named = textOf(options, 'subject');
    const style = styleOf(context.screen);
    if (hasFlag(options, 'held')) {
      if (hasFlag(options, 'all')) throw new UsageError('--held lists what may be read now: all of it.');
      return asCaller(options, context, ({ tenant }) =>
        showList(options, context, tenant.accessibleSubjects(heldFilter(options)), {
          none: 'Nobody lets you read anything.',
          paint: { subject: style.yellow },
          asRow: ({ subject_type: type, subject_id: id, granted_by_tenant_id: of, scopes, expires_at: until }) => ({
            subject: visible(`${type}/${id}`),
            of: visible(of),
            scopes: scopes.join(', '),
            until: until ?? '',
          }),
        }),
      );
    }
    const isAll = hasFlag(options, 'all');
    const direction = directionOf(options);
    if (direction === 'offered' && named !== undefined) throw new UsageError('--offered lists whole tenants alone.');
    const asked = { isAll, subject: named === undefined ? null : subjectOf(named), other: textOf(options, 'with') };
    return asCaller(options, context, ({ tenant }) =>
      showList(options, context, grantsOf(tenant, direction, asked), {
        none: direction === 'offered' ? 'No grant waits to be accepted.' : noneText(direction, isAll),
        paint: { grant: style.yellow },
        asRow: (grant) => ({
          grant: grant.grant_id,
          subject: grantedText(grant),
          ...(direction === 'issued'
            ? { reader: visible(grant.grantee_tenant_id) }
            : { of: visible(grant.grantor_tenant_id) }),
          scopes: grant.scopes.join(', '),
          until: endOf(grant),
        }),
      }),
    );
  },
};

function heldFilter(options: Options): AccessibleFilter {
  const named = textOf(options, 'subject');
  const { type, id } = named === undefined ? {} : subjectOf(named);
  const [prefix, other] = [textOf(options, 'prefix'), textOf(options, 'with')];
  return {
    ...(type === undefined ? {} : { subject_type: type }),
    ...(id === undefined ? {} : { subject_id: id }),
    ...(prefix === undefined ? {} : { subject_id_prefix: prefix }),
    ...(other === undefined ? {} : { granted_by_tenant_id: other }),
  };
}

type Direction = 'issued' | 'received' | 'offered';

interface Asked {
  isAll: boolean;
  subject: { type: SubjectType; id: string } | null;
  other: string | undefined;
}

function directionOf(options: Options): Direction {
  const isReceived = hasFlag(options, 'received');
  const isOffered = hasFlag(options, 'offered');
  if (isReceived && isOffered) throw new UsageError('--received and --offered are two lists.');
  return isReceived ? 'received' : isOffered ? 'offered' : 'issued';
}

function noneText(direction: 'issued' | 'received', isAll: boolean): string {
  if (direction === 'received') return isAll ? 'Your tenant never got a grant.' : 'Your tenant holds no grant.';
  return isAll ? 'There never was a grant.' : 'There is no grant: nobody else may read.';
}

async function* grantsOf(
  tenant: Tenant,
  direction: Direction,
  { isAll, subject, other }: Asked,
): AsyncGenerator<api.Grant, void> {
  const status = isAll ? {} : { status: 'active' as const };
  if (direction === 'issued' && subject !== null) {
    // With those on all subjects.
    for await (const grant of tenant.subject(subject.type, subject.id).grants()) {
      if ((isAll || grant.status === 'active') && (other === undefined || grant.grantee_tenant_id === other))
        yield grant;
    }
    return;
  }
  const on = subject === null ? {} : { subject_type: subject.type, subject_id: subject.id };
  switch (direction) {
    case 'issued':
      return yield* tenant.grants.list({ ...status, ...(other === undefined ? {} : { grantee_tenant_id: other }) });
    case 'received':
    case 'offered': {
      const from = other === undefined ? {} : { grantor_tenant_id: other };
      return yield* tenant.grants[direction]({ ...status, ...on, ...from });
    }
  }
}

function endOf({ status, expires_at: until, revoked_at: revokedAt }: api.Grant): string {
  switch (status) {
    case 'active':
      return until ?? '';
    case 'expired':
      return `expired at ${until}`;
    case 'revoked':
      return `revoked at ${revokedAt}`;
  }
}
