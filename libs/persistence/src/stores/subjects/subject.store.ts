import {
  type AccessFacts,
  type Actor,
  type EvidenceToMend,
  type Identifier,
  type SoughtIdentifier,
  SUBJECT_TYPES,
  type SubjectRef,
  type SubjectType,
} from '@iss/domain';
import { type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { type SnapshotRow } from '../snapshots/snapshot-record';

/** The owner of a subject and the time of its creation (specification, "Subject"). */
export interface OwnershipRecord extends SubjectRef {
  ownerTenantId: string;
  createdAt: Date;
}

/** A subject in the list of its owner. `latest` has no envelope. */
export interface OwnedSubject extends SubjectRef {
  name: string | null;
  createdAt: Date;
  latest: SnapshotRow;
}

/** A search by the latest version: an identifier, or the start of the name. Both are folded. */
export type ContentSearch = { by: 'identifier'; identifier: SoughtIdentifier } | { by: 'name'; prefix: string };

/**
 * A search by the start of the id, byte for byte (empty for all), and by evidence to mend (null for any); or a search by content.
 */
export type SubjectSearch = { by: 'id'; prefix: string; evidence: EvidenceToMend | null } | ContentSearch;

export interface SubjectFilter {
  /** Null for every type. */
  subjectType: SubjectType | null;
  search: SubjectSearch;
}

type OwnedStatement = Statement<
  Actor & { types: readonly string[]; after: readonly (string | number)[]; prefix: string; rows: number },
  ListRow<AccessFacts, OwnedSubject>
>;

const owned = (name: string): OwnedStatement => statement(name);
const OWNED = owned('subjects_owned');
const TO_MEND: Record<EvidenceToMend, OwnedStatement> = {
  missing: owned('subjects_evidence_missing'),
  carried: owned('subjects_evidence_carried'),
};

interface After {
  types: readonly string[];
  afterType: string | number;
  afterId: string | number;
  rows: number;
}

const BY_IDENTIFIER = statement<Actor & Identifier & After, ListRow<AccessFacts, OwnedSubject>>(
  'subjects_by_identifier',
);

const BY_BARE_IDENTIFIER = statement<Actor & { value: string } & After, ListRow<AccessFacts, OwnedSubject>>(
  'subjects_by_bare_identifier',
);

const BY_NAME = statement<
  Actor & After & { prefix: string; afterName: string | number },
  ListRow<AccessFacts, OwnedSubject>
>('subjects_by_name');

const OWNER = statement<Actor & SubjectRef, { facts: AccessFacts; ownership: OwnershipRecord | null }>('subject_owner');

/** The owners of subjects, and the list of one tenant's subjects. */
export class SubjectStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Returns a page of the subjects that a tenant owns, each with the header of its newest snapshot, and the caller's access
   * facts. The order is by type, and then by id in byte order or by name; with an identifier, newest first. Only an active member
   * gets any (contract, "`GET …/subjects` (tenant)").
   */
  async owned(
    actor: Actor,
    { subjectType, search }: SubjectFilter,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<OwnedSubject> }> {
    const [afterType = '', afterId = '', afterName = ''] = after ?? [];
    const types = SUBJECT_TYPES.filter((type) => (subjectType === null || type === subjectType) && type >= afterType);
    const place = { ...actor, types, afterType, afterId, rows: limit + 1 };
    switch (search.by) {
      case 'id': {
        const { prefix, evidence } = search;
        const afters = types.map((type) => (type === afterType ? afterId : ''));
        const query = evidence === null ? OWNED : TO_MEND[evidence];
        return toList(await this.sql.run(query, { ...place, after: afters, prefix }), limit);
      }
      case 'identifier': {
        const { scheme, value } = search.identifier;
        const rows =
          scheme === null
            ? this.sql.run(BY_BARE_IDENTIFIER, { ...place, value })
            : this.sql.run(BY_IDENTIFIER, { ...place, scheme, value });
        return toList(await rows, limit);
      }
      case 'name':
        return toList(await this.sql.run(BY_NAME, { ...place, prefix: search.prefix, afterName }), limit);
    }
  }

  /** Returns the subject's owner, or null if there is no subject, and the caller's access facts. */
  owner(actor: Actor, subject: SubjectRef): Promise<{ facts: AccessFacts; ownership: OwnershipRecord | null }> {
    return this.sql.one(OWNER, { ...actor, ...subject });
  }
}
