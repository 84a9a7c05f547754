/** An individual, an organization or an entity, named by its type and its id within that type (specification, "Subject"). */
export interface SubjectRef {
  subjectType: string;
  subjectId: string;
}

/** How a grant names all subjects that its grantor owns, now or later: by this type and this id. */
export const ALL_SUBJECTS = { subjectType: '*', subjectId: '*' } as const satisfies SubjectRef;
