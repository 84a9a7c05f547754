import type { SubjectType } from '@identity-state/client';
import { UsageError } from '../command';

export interface SubjectName {
  type: SubjectType;
  id: string;
}

export const SUBJECT_TYPES: readonly SubjectType[] = ['organization', 'individual', 'entity'];

const ABOUT = {
  about: 'TYPE/ID, such as individual/jane. An ID alone means an organization.',
  isShared: true,
} as const;
export const SUBJECT_ARGUMENT = { ...ABOUT, read: subjectOf } as const;
export const OPTIONAL_SUBJECT = { ...SUBJECT_ARGUMENT, isOptional: true } as const;
export const VERSIONED_SUBJECT = {
  ...ABOUT,
  label: 'SUBJECT[@VERSION]',
  read: versionedSubjectOf,
} as const;

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

/** Returns the subject as a filter of a list; empty if none is named. */
export function subjectFilter(subject: SubjectName | undefined): { subject_type?: SubjectType; subject_id?: string } {
  return subject === undefined ? {} : { subject_type: subject.type, subject_id: subject.id };
}
