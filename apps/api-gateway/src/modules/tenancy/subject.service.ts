import { requireAccess } from '@iss/domain';
import {
  type OwnedSubject,
  type OwnershipRecord,
  type Page,
  type PageRequest,
  type SubjectFilter,
  type SubjectRef,
  SubjectStore,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { RULES } from '../../access/rules';
import type { Principal } from '../../auth/principal';

/** What a tenant owns, and who owns a subject. */
@Injectable()
export class SubjectService {
  constructor(private readonly subjects: SubjectStore) {}

  /** Throws `forbidden` unless the caller is an active member. */
  async owned(
    { principalId }: Principal,
    tenantId: string,
    filter: SubjectFilter,
    request: PageRequest,
  ): Promise<Page<OwnedSubject>> {
    const { facts, page } = await this.subjects.owned(tenantId, principalId, filter, request);
    requireAccess(facts, RULES.readSubjects);
    return page;
  }

  /** Throws `forbidden` unless the tenant owns the subject or reads it by a grant, alike where there is none. */
  async owner({ principalId }: Principal, tenantId: string, subject: SubjectRef): Promise<OwnershipRecord> {
    const { facts, ownership } = await this.subjects.owner(tenantId, principalId, subject);
    requireAccess(facts, RULES.readOwners);
    if (ownership === null) throw new Error('access was given to no subject');
    return ownership;
  }
}
