import type { SubjectType } from '@identity-state/client';
import { type ArgumentSpec, UsageError } from '../command';

/** A subject as it is written on a command line. */
export interface SubjectName {
  type: SubjectType;
  id: string;
}

export const SUBJECT_TYPES: readonly SubjectType[] = ['organization', 'individual', 'entity'];

export const SUBJECT_ARGUMENT: ArgumentSpec = {
  name: 'subject',
  about: 'TYPE/ID, as individual/jane; ID alone is an organization’s.',
};

/** `individual/jane`, or the id of an organization alone. An id that begins with a type is written with its own: `entity/entity/1`. */
export function subjectOf(text: string): SubjectName {
  const type = SUBJECT_TYPES.find((one) => text.startsWith(`${one}/`));
  const id = type === undefined ? text : text.slice(type.length + 1);
  if (id === '') throw new UsageError('Which subject? Name it as TYPE/ID, as organization/acme-corp.');
  return { type: type ?? 'organization', id };
}

/** A subject, and behind the last `@` its version; null for the latest. */
export function versionedSubjectOf(text: string): { subject: SubjectName; version: number | null } {
  const [, name = text, version = ''] = /^(.+)@([1-9]\d{0,9})$/.exec(text) ?? [];
  return { subject: subjectOf(name), version: version === '' ? null : Number(version) };
}
