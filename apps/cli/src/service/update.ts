import type { api, EntityAttributes, Subject } from '@identity-state/client';
import type { ArgumentSpec } from '../command';
import type { Caller } from './caller';

export const UPDATE_ARGUMENT: ArgumentSpec = {
  name: 'update',
  about: 'Proposal id, from iss propose or iss proposals.',
  isShared: true,
};

/** Returns a proposal by its id, with its subject. */
export async function updateOf(
  { tenant }: Caller,
  updateId: string,
): Promise<{ update: api.Update; subject: Subject<EntityAttributes> }> {
  const update = await tenant.update(updateId);
  return { update, subject: tenant.subject(update.subject_type, update.subject_id) };
}
