import type { api, Tenant } from '@identity-state/client';
import { type Command, hasFlag, textOf, UsageError } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { subjectOf } from '../service/subject-name';
import { visible } from '../visible';
import { grantedText } from './share';

/** Lists grants. */
export const grants: Command = {
  about: 'Newest first, those that live; what ended only with --all.',
  arguments: [
    { name: 'subject', about: 'Those on one subject alone: TYPE/ID, or the id of an organization.', isOptional: true },
  ],
  options: {
    all: { about: 'Also those that are over.' },
    held: { about: 'The subjects of others that your tenant may read.' },
    offered: { about: 'Grants of other tenants on all of their subjects that yours has not accepted.' },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const named = textOf(options, 'subject');
    const style = styleOf(context.screen);
    if (hasFlag(options, 'held')) {
      if (named !== undefined || hasFlag(options, 'all'))
        throw new UsageError('--held lists what may be read now: all of it.');
      return asCaller(options, context, ({ tenant }) =>
        showList(options, context, tenant.accessibleSubjects(), {
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
    const isOffered = hasFlag(options, 'offered');
    if (isOffered && (named !== undefined || isAll)) throw new UsageError('--offered lists whole tenants alone.');
    return asCaller(options, context, ({ tenant }) =>
      showList(options, context, isOffered ? offeredTo(tenant) : grantsOf(tenant, named, isAll), {
        none: isOffered
          ? 'No grant waits to be accepted.'
          : isAll
            ? 'There never was a grant.'
            : 'There is no grant: nobody else may read.',
        paint: { grant: style.yellow },
        asRow: (grant) => ({
          grant: grant.grant_id,
          subject: grantedText(grant),
          ...(isOffered ? { of: visible(grant.grantor_tenant_id) } : { reader: visible(grant.grantee_tenant_id) }),
          scopes: grant.scopes.join(', '),
          until: endOf(grant),
        }),
      }),
    );
  },
};

async function* grantsOf(tenant: Tenant, named: string | undefined, isAll: boolean): AsyncGenerator<api.Grant, void> {
  const subject = named === undefined ? null : subjectOf(named);
  const all = subject === null ? tenant.grants.list() : tenant.subject(subject.type, subject.id).grants();
  for await (const grant of all) {
    if (isAll || grant.status === 'active') yield grant;
  }
}

async function* offeredTo(tenant: Tenant): AsyncGenerator<api.Grant, void> {
  for await (const grant of tenant.grants.offered()) if (grant.status === 'active') yield grant;
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
