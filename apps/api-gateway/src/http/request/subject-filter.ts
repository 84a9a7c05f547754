import { ALL_SUBJECTS, DomainError, type SubjectRef } from '@iss/domain';

/** The subject in the filters of a list, if any. */
interface SubjectSent {
  subject_type?: string | undefined;
  subject_id?: string | undefined;
}

/**
 * Returns the subject that a query names, or null. The type `*` without an id names all subjects. Throws
 * `validation_error` for an id without its type, and for a type without an id unless the list can be filtered by type
 * alone.
 */
export function subjectSent(sent: SubjectSent, { isTypeEnough = false } = {}): SubjectRef | null {
  const { subject_type: subjectType } = sent;
  const subjectId = sent.subject_id ?? (subjectType === ALL_SUBJECTS.subjectType ? ALL_SUBJECTS.subjectId : undefined);
  if (subjectId !== undefined && subjectType === undefined)
    throw invalidQuery('subject_type', 'is required with subject_id', 'required');
  if (subjectId === undefined && subjectType !== undefined && !isTypeEnough)
    throw invalidQuery('subject_id', 'is required with subject_type', 'required');
  if (subjectType === ALL_SUBJECTS.subjectType && subjectId !== ALL_SUBJECTS.subjectId)
    throw invalidQuery('subject_id', 'must be left out, or be *, if subject_type is *', 'mismatch');
  return subjectType === undefined || subjectId === undefined ? null : { subjectType, subjectId };
}

/** Creates the `validation_error` about one query parameter. */
export function invalidQuery(name: string, message: string, code: string): DomainError {
  return new DomainError('validation_error', `${name} ${message}.`, [{ path: `/query/${name}`, message, code }]);
}
