import type { AccessibleFilter, api, SubjectType, Tenant } from '@identity-state/client';
import { type Command, hasFlag, type Options, textOf, UsageError } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';
import { grantedText } from './share';

export const grants: Command = {
  about: 'Newest first, active grants only.',
  arguments: [{ ...SUBJECT_ARGUMENT, isOptional: true }],
  options: {
    all: { about: 'Include ended grants.' },
    received: { about: 'Grants that your tenant received.' },
    offered: { about: 'Grants on all subjects of another tenant that yours has not accepted.' },
    held: { about: 'Subjects of other tenants that yours may read.' },
    prefix: { value: 'TEXT', about: 'With --held: start of the subject id.' },
    with: { value: 'TENANT', about: 'Only grants with this tenant.' },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const named = textOf(options, 'subject');
    const style = styleOf(context.screen);
    if (hasFlag(options, 'held')) {
      if (hasFlag(options, 'all'))
        throw new UsageError('--held lists subjects that can be read now, so it excludes --all.');
      return asCaller(options, context, ({ tenant }) =>
        showList(options, context, tenant.accessibleSubjects(heldFilter(options)), {
          none: 'No tenant shares a subject with yours.',
          paint: { subject: style.yellow },
          asRow: ({ subject_type: type, subject_id: id, granted_by_tenant_id: owner, scopes, expires_at: until }) => ({
            subject: visible(`${type}/${id}`),
            owner: visible(owner),
            scopes: scopes.join(', '),
            until: until ?? '',
          }),
        }),
      );
    }
    const isAll = hasFlag(options, 'all');
    const direction = directionOf(options);
    if (direction === 'offered' && named !== undefined)
      throw new UsageError('--offered lists grants on all subjects. Remove SUBJECT.');
    const asked = { isAll, subject: named === undefined ? null : subjectOf(named), other: textOf(options, 'with') };
    return asCaller(options, context, ({ tenant }) =>
      showList(options, context, grantsOf(tenant, direction, asked), {
        none: direction === 'offered' ? 'No grant waits for acceptance.' : noneText(direction, isAll),
        paint: { grant: style.yellow },
        asRow: (grant) => ({
          ...(direction === 'issued' ? { name: visible(grant.name ?? '') } : {}),
          grant: grant.grant_id,
          subject: grantedText(grant),
          ...(direction === 'issued'
            ? { reader: visible(grant.grantee_tenant_id) }
            : { owner: visible(grant.grantor_tenant_id) }),
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
  if (isReceived && isOffered) throw new UsageError('--received and --offered exclude each other. Remove one of them.');
  return isReceived ? 'received' : isOffered ? 'offered' : 'issued';
}

function noneText(direction: 'issued' | 'received', isAll: boolean): string {
  if (direction === 'received')
    return isAll ? 'Your tenant never received a grant.' : 'Your tenant holds no active grant.';
  return isAll ? 'There never was a grant.' : 'There is no active grant. No other tenant may read.';
}

async function* grantsOf(
  tenant: Tenant,
  direction: Direction,
  { isAll, subject, other }: Asked,
): AsyncGenerator<api.Grant, void> {
  const status = isAll ? {} : { status: 'active' as const };
  if (direction === 'issued' && subject !== null) {
    // This list includes the grants on all subjects.
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
