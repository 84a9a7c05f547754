/** An individual, an organization or an entity, named by its type and its id within that type (specification, "Subject"). */
export interface SubjectRef {
  subjectType: string;
  subjectId: string;
}
