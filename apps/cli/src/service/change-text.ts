import type { Change, ChangeType } from '@identity-state/client';
import { visible } from '../visible';

/** Describes a change of the feed in one line. */
export function changeText(change: Change): string {
  switch (change.type) {
    case 'snapshot.created':
      return visible(
        `${subjectText(change)}@${change.snapshot_version} of ${change.tenant_id}${kindText(change.change_kind)}${pathsText(change.changed_paths)}`,
      );
    case 'grant.created':
    case 'grant.changed': {
      const parts =
        change.paths === null ? '' : ` of ${change.paths.length} ${change.paths.length === 1 ? 'part' : 'parts'}`;
      const from = change.starts_at === null ? '' : ` from ${change.starts_at}`;
      const until = change.expires_at === null ? '' : ` until ${change.expires_at}`;
      return visible(
        `${change.grantee_tenant_id} reads ${subjectText(change)} of ${change.tenant_id}: ${change.scopes.join(', ')}${parts}${from}${until}`,
      );
    }
    case 'grant.revoked':
      return visible(`${change.grantee_tenant_id} no longer reads ${subjectText(change)} of ${change.tenant_id}`);
    case 'tenant.owner_changed':
      return visible(
        `${change.tenant_id}: from ${change.from_principal_id ?? 'nobody'} to ${change.principal_id ?? 'nobody'}`,
      );
    case 'subject.erased':
      return visible(`${subjectText(change)} of ${change.tenant_id}: ${change.erased_indexes.length} versions`);
  }
}

const TYPES: Readonly<Record<ChangeType, true>> = {
  'snapshot.created': true,
  'grant.created': true,
  'grant.changed': true,
  'grant.revoked': true,
  'subject.erased': true,
  'tenant.owner_changed': true,
};
export const CHANGE_TYPES = Object.keys(TYPES).filter(isChangeType);

function isChangeType(text: string): text is ChangeType {
  return Object.hasOwn(TYPES, text);
}

function subjectText({ subject_type: type, subject_id: id }: { subject_type: string; subject_id: string }): string {
  return type === '*' ? 'every subject' : `${type}/${id}`;
}

/** The most changed paths in a line. */
const SHOWN_PATHS = 2;

function pathsText(paths: readonly string[] | null): string {
  if (paths === null) return '';
  if (paths.length === 0) return ': no value';
  return `: ${paths.slice(0, SHOWN_PATHS).join(', ')}${paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : ''}`;
}

/** Marks a version that corrects an error. */
export function kindText(kind: 'change' | 'correction'): string {
  return kind === 'correction' ? ', correction' : '';
}
