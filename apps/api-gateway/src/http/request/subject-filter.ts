import { ALL_SUBJECTS, DomainError, type SubjectRef } from '@iss/domain';

/** A subject, or none, as the filters of a list name it. */
interface SubjectSent {
  subject_type?: string | undefined;
  subject_id?: string | undefined;
}

/**
 * Returns the subject that a query names, null for none. The type `*` names all subjects without an id. Throws `validation_error` for an id
 * without its type, and for a type without an id unless the list is filtered by type alone too.
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

/** Makes the `validation_error` about one parameter of the query. */
export function invalidQuery(name: string, message: string, code: string): DomainError {
  return new DomainError('validation_error', `${name} ${message}.`, [{ path: `/query/${name}`, message, code }]);
}
