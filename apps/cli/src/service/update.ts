import type { api, EntityAttributes, Subject } from '@identity-state/client';
import type { ArgumentSpec } from '../command';
import type { Caller } from './caller';

export const UPDATE_ARGUMENT: ArgumentSpec = {
  name: 'update',
  about: 'The id of the proposal, as iss propose printed it.',
};

/** A proposal by its id alone, and the subject that it is of. */
export async function updateOf(
  { iss, tenant }: Caller,
  updateId: string,
): Promise<{ update: api.Update; subject: Subject<EntityAttributes> }> {
  const path = ['', 'v1', 'tenants', tenant.tenantId, 'entity-state-updates', updateId]
    .map(encodeURIComponent)
    .join('/');
  const update: api.Update = await iss.request('GET', path);
  return { update, subject: tenant.subject(update.subject_type, update.subject_id) };
}
