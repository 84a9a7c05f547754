import type { SubjectType } from '@identity-state/client';
import { type ArgumentSpec, UsageError } from '../command';

export interface SubjectName {
  type: SubjectType;
  id: string;
}

export const SUBJECT_TYPES: readonly SubjectType[] = ['organization', 'individual', 'entity'];

export const SUBJECT_ARGUMENT = {
  name: 'subject',
  about: 'TYPE/ID, such as individual/jane. An ID alone means an organization.',
  isShared: true,
} as const;
/** The same, with an optional version. */
export const VERSIONED_SUBJECT_ARGUMENT: ArgumentSpec = { ...SUBJECT_ARGUMENT, label: 'SUBJECT[@VERSION]' };

/** Parses `individual/jane`, or the id of an organization alone. An id that starts with a type needs its own type: `entity/entity/1`. */
export function subjectOf(text: string): SubjectName {
  const type = SUBJECT_TYPES.find((one) => text.startsWith(`${one}/`));
  const id = type === undefined ? text : text.slice(type.length + 1);
  if (id === '') throw new UsageError('The subject has no id. Write TYPE/ID, such as organization/acme-corp.');
  return { type: type ?? 'organization', id };
}

/** Parses a subject with an optional version after the last `@`; null means the latest. */
export function versionedSubjectOf(text: string): { subject: SubjectName; version: number | null } {
  const [, name = text, version = ''] = /^(.+)@([1-9]\d{0,9})$/.exec(text) ?? [];
  return { subject: subjectOf(name), version: version === '' ? null : Number(version) };
}
