import type { api } from '@identity-state/client';
import { type Command, requiredText, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { momentToCome } from '../service/moments';
import { scopesOf } from '../service/scopes';
import { subjectOf } from '../service/subject-name';
import { visible } from '../visible';

export const share: Command = {
  about:
    'The scopes are latest (the latest version), lineage (every version and the history), snapshot_by_id (single versions) and diff (changes between two versions). Only principals of the reader with allow_counterparty_access can use the grant.',
  usage: 'SUBJECT READER --scopes LIST [--until TIME] [--purpose TEXT]',
  arguments: [
    { name: 'subject', about: 'Subject, or "*" for all current and future subjects of your tenant.' },
    { name: 'reader', about: 'Tenant id of the reader.' },
  ],
  options: {
    scopes: { value: 'LIST', about: 'all, or a list such as latest,lineage.' },
    until: { value: 'TIME', about: 'End of the grant, such as 2026-12-31 or 90d (default: none).' },
    purpose: { value: 'TEXT', about: 'Purpose. Events and log entries do not contain it.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const named = textOf(options, 'subject') ?? '';
    const until = textOf(options, 'until');
    const purpose = textOf(options, 'purpose');
    const { type, id } = subjectOf(named);
    const grant = {
      grantee_tenant_id: textOf(options, 'reader') ?? '',
      scopes: scopesOf(requiredText(options, 'scopes', 'all, or a list such as latest,lineage')),
      ...(until === undefined ? {} : { expires_at: momentToCome('until', until) }),
      ...(purpose === undefined ? {} : { purpose }),
    };
    await asCaller(options, context, async ({ tenant }) => {
      const created =
        named === '*'
          ? await tenant.grants.create({ ...grant, subject_type: '*' })
          : await tenant.subject(type, id).share(grant);
      showOne(options, context, created, asText);
    });
  },
};

function asText(grant: api.CreatedGrant | api.PendingGrant): string {
  const { grant_id: grantId } = grant;
  if (grant.status === 'pending') {
    return [
      visible(`Another human must confirm by ${grant.confirm_by}: ${grantText(grant)}`),
      visible(`They can confirm with their own profile: iss pending confirm ${grantId}`),
    ].join('\n');
  }
  return [visible(grantText(grant)), visible(`To revoke it: iss revoke ${grantId}`)].join('\n');
}

/** Describes a grant in one line. */
export function grantText(grant: api.Grant | api.PendingGrant): string {
  const { grantee_tenant_id: reader, scopes, expires_at: until } = grant;
  return `${reader} may read ${grantedText(grant)}: ${scopes.join(', ')}, ${until === null ? 'without end' : `until ${until}`}`;
}

/** Names the subject of a grant. */
export function grantedText({
  subject_type: type,
  subject_id: id,
}: Pick<api.Grant, 'subject_type' | 'subject_id'>): string {
  return type === '*' ? 'every subject' : visible(`${type}/${id}`);
}
