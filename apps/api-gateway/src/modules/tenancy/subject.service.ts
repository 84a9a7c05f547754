import { type Actor, requireAccess, RULES, type SubjectRef } from '@iss/domain';
import {
  type OwnedSubject,
  type OwnershipRecord,
  type Page,
  type PageRequest,
  type SubjectFilter,
  SubjectStore,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';

/** Lists the subjects that a tenant owns, and the owner of a subject. */
@Injectable()
export class SubjectService {
  constructor(private readonly subjects: SubjectStore) {}

  /** Throws `forbidden` unless the caller is an active member. */
  async owned(actor: Actor, filter: SubjectFilter, request: PageRequest): Promise<Page<OwnedSubject>> {
    const { facts, page } = await this.subjects.owned(actor, filter, request);
    requireAccess(facts, RULES.readSubjects);
    return page;
  }

  /**
   * Throws `forbidden` unless the tenant owns the subject or reads it by a grant, also if the subject does not exist.
   */
  async owner(actor: Actor, subject: SubjectRef): Promise<OwnershipRecord> {
    const { facts, ownership } = await this.subjects.owner(actor, subject);
    requireAccess(facts, RULES.readOwners);
    if (ownership === null) throw new Error('access was granted without a subject');
    return ownership;
  }
}
