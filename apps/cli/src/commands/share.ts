import type { api } from '@identity-state/client';
import { type Command, requiredText, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { momentToCome } from '../service/moments';
import { scopesOf } from '../service/scopes';
import { subjectOf } from '../service/subject-name';
import { visible } from '../visible';

/** Lets another tenant read a subject. */
export const share: Command = {
  about:
    'The other tenant reads it from now on, until the grant ends or is revoked: read_latest is the latest version, read_lineage every ' +
    'version and the history, read_snapshot_by_id one version, read_diff what changed between two. Of its principals those read ' +
    'it whose allow_counterparty_access is on.',
  usage: 'SUBJECT READER --scopes LIST [--until T] [--purpose TEXT] [--tenant ID] [--profile NAME] [--json]',
  arguments: [
    { name: 'subject', about: 'TYPE/ID, or the id of an organization; "*": all that your tenant owns, now or later.' },
    { name: 'reader', about: 'The tenant that may read it.' },
  ],
  options: {
    scopes: { value: 'LIST', about: 'all, or scopes with commas between, as latest,lineage.' },
    until: { value: 'T', about: 'A moment, a day, or how long, as 90d; without it the grant has no end.' },
    purpose: { value: 'TEXT', about: 'What it is for. It stands in no event and no log.' },
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
      scopes: scopesOf(requiredText(options, 'scopes', 'latest,lineage, or all')),
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
      visible(`Another human has to confirm by ${grant.confirm_by} that ${grantText(grant)}`),
      visible(`With their own profile: iss pending confirm ${grantId}`),
    ].join('\n');
  }
  return [visible(grantText(grant)), visible(`Take it back: iss revoke ${grantId}`)].join('\n');
}

/** Says what a grant gives. */
export function grantText(grant: api.Grant | api.PendingGrant): string {
  const { grantee_tenant_id: reader, scopes, expires_at: until } = grant;
  return `${reader} may read ${grantedText(grant)}: ${scopes.join(', ')}, ${until === null ? 'without an end' : `until ${until}`}`;
}

/** What a grant is on. */
export function grantedText({
  subject_type: type,
  subject_id: id,
}: Pick<api.Grant, 'subject_type' | 'subject_id'>): string {
  return type === '*' ? 'every subject' : visible(`${type}/${id}`);
}
