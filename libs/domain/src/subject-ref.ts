/**
 * An individual, an organization or an entity, identified by its type and its id within that type (specification,
 * "Subject").
 */
export interface SubjectRef {
  subjectType: string;
  subjectId: string;
}

/** The type and id by which a grant names all present and future subjects of its grantor. */
export const ALL_SUBJECTS = { subjectType: '*', subjectId: '*' } as const satisfies SubjectRef;
