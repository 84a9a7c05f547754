import { type AccessFacts, type Actor, type Identifier, MAX_NAME, SUBJECT_TYPES, type SubjectType } from '@iss/domain';
import { type ListRow, type Page, type PagePosition, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type SnapshotRow } from '../snapshots/snapshot-record';
import type { ContentSearch } from '../subjects/subject.store';
import { type GrantRecord } from './grant-record';

/**
 * A subject that a tenant may read by a live grant. If it has two, `grant` is the one on this subject, with the scopes of both.
 * `latest` has no envelope, and is null unless a scope covers it.
 */
export interface AccessibleSubject {
  grant: GrantRecord;
  latest: SnapshotRow | null;
  /** Set for a search by content, which is recorded; else null. */
  name: string | null;
  subjectKey: number;
}

/** Selects accessible subjects; a null member selects all. */
export interface AccessibleFilter {
  subjectType: SubjectType | null;
  /** One subject; requires `subjectType`. */
  subjectId: string | null;
  /** The first characters of the id, compared byte for byte. */
  prefix: string;
  grantorTenantId: string | null;
}

/** The start of a page of accessible subjects. */
interface AfterAccessible {
  /** After this grant on a subject; null at the start. */
  afterGrantId: string | number | null;
  /** After all grants on one subject: from this owner on, after its subject of this type and id. */
  fromOwner: string | number | null;
  afterType: string | number;
  afterId: string | number;
}

const accessible = <Search extends object = object>(name: string) =>
  statement<
    Actor & AfterAccessible & { rows: number } & Search,
    ListRow<AccessFacts, AccessibleSubject> & { ended: PagePosition | null }
  >(name);

const ACCESSIBLE = accessible('subjects_accessible');
const ACCESSIBLE_FILTERED = accessible<
  Omit<AccessibleFilter, 'subjectType'> & { types: readonly string[]; subjectType: string | null }
>('subjects_accessible_filtered');
const ACCESSIBLE_BY_IDENTIFIER = accessible<Identifier>('subjects_accessible_by_identifier');
const ACCESSIBLE_BY_BARE_IDENTIFIER = accessible<{ value: string }>('subjects_accessible_by_bare_identifier');
const ACCESSIBLE_BY_NAME = accessible<{ prefix: string; upTo: string; afterName: string | number }>(
  'subjects_accessible_by_name',
);

/** Subjects of other tenants that a tenant may read. */
export class AccessibleSubjectStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Returns a page of the subjects that the tenant may read by a live grant, and the caller's access facts. Subjects of grants on
   * one subject come first, by creation. Only an active member with the counterparty flag gets any. A search by content only
   * finds subjects whose latest version the tenant may read.
   */
  async list(
    actor: Actor,
    { limit, after }: PageRequest,
    search: ContentSearch | AccessibleFilter | null = null,
  ): Promise<{ facts: AccessFacts; page: Page<AccessibleSubject> }> {
    const place = { ...actor, ...afterAccessible(after), rows: limit + 1 };
    const rows = await this.rowsOf(search, place, after?.[3] ?? '');
    const { facts, page } = toList(rows, limit);
    return { facts, page: { ...page, next: page.next ?? rows[0]?.ended ?? null } };
  }

  private rowsOf(
    search: ContentSearch | AccessibleFilter | null,
    place: Actor & AfterAccessible & { rows: number },
    afterName: string | number,
  ) {
    if (search === null) return this.sql.run(ACCESSIBLE, place);
    if (!('by' in search)) {
      const { subjectType, subjectId, prefix, grantorTenantId } = search;
      const types = subjectType === null ? [...SUBJECT_TYPES].sort() : [subjectType];
      const filter = { types, subjectType, subjectId, prefix: subjectId ?? prefix, grantorTenantId };
      return this.sql.run(ACCESSIBLE_FILTERED, { ...place, ...filter });
    }
    switch (search.by) {
      case 'identifier': {
        const { scheme, value } = search.identifier;
        return scheme === null
          ? this.sql.run(ACCESSIBLE_BY_BARE_IDENTIFIER, { ...place, value })
          : this.sql.run(ACCESSIBLE_BY_IDENTIFIER, { ...place, scheme, value });
      }
      case 'name': {
        const { prefix } = search;
        return this.sql.run(ACCESSIBLE_BY_NAME, { ...place, prefix, upTo: prefix + LAST.repeat(MAX_NAME), afterName });
      }
    }
  }
}

/** The last character in the collation order. */
const LAST = '\u{10ffff}';

/** Parses a position. It names a grant on one subject, or an owner of all its subjects and the last of them. */
function afterAccessible(after: PagePosition | null): AfterAccessible {
  const [first = null, afterType, afterId] = after ?? [];
  return afterType === undefined || afterId === undefined
    ? { afterGrantId: first, fromOwner: null, afterType: '', afterId: '' }
    : { afterGrantId: null, fromOwner: first, afterType, afterId };
}
