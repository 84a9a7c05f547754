import type { AccessFacts, Actor, DisclosureWay, SubjectRef } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow, inputRows, SUBJECT } from '../../sql/input';
import type { Page, PageRequest } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS, TENANT_ACCESS } from '../facts/access-facts';
import { NAMED_KEY, NAMED_SUBJECT } from '../facts/joins';
import { ACCEPTED } from '../grants/grant-record';
import {
  namedKey,
  type NamedKey,
  type KeyedScope,
  newestRecords,
  type RecordPage,
  recordPage,
  type RecordRow,
  type TimeBounds,
  toRecords,
} from './record-page';

/** The first disclosure of versions of a subject to a principal of another tenant on a UTC day. */
export interface NewDisclosure {
  subjectKey: number;
  /** `YYYY-MM-DD`, UTC. */
  disclosedOn: string;
  granteeTenantId: string;
  /** The grant of the first read; null in records of releases that did not store it, and if no grant was needed. */
  grantId: string | null;
  principalId: string;
  via: DisclosureWay;
  fromVersion: number;
  /** The last version. All from `fromVersion` on are included. */
  toVersion: number;
  requestId: string;
}

export interface DisclosureRecord extends Omit<NewDisclosure, 'subjectKey'>, SubjectRef {
  /** The current purpose of the grant. */
  purpose: string | null;
  firstAt: Date;
}

/**
 * Stores disclosures, and accepts a grant on all subjects on its first use. Rows are in the order of their keys, so that two
 * statements with the same rows cannot deadlock.
 */
const RECORD = statement<{ inputs: readonly NewDisclosure[] }, object>(
  'disclosure_record',
  `WITH used AS MATERIALIZED (
  SELECT g.grant_id
    FROM (SELECT DISTINCT u.grant_id FROM unnest(:inputs.grantId::uuid[]) AS u(grant_id) ORDER BY u.grant_id) u
   CROSS JOIN LATERAL (SELECT g.grant_id FROM grants g
                        WHERE g.grant_id = u.grant_id AND (g.accepted_at IS NULL AND g.subject_key = 0) IS TRUE
                        LIMIT 1 FOR NO KEY UPDATE) g
), accepted AS (
  UPDATE grants g SET ${ACCEPTED} FROM used u WHERE g.grant_id = u.grant_id AND (g.accepted_at IS NULL) IS TRUE
)
INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, grant_id, principal_id, via, from_version, to_version, request_id)
SELECT i.subject_key, i.disclosed_on::date, i.grantee_tenant_id, i.grant_id, i.principal_id, i.via, i.from_version, i.to_version,
       i.request_id
  FROM ${inputRows({
    subject_key: 'bigint',
    disclosed_on: 'text',
    grantee_tenant_id: 'text',
    grant_id: 'uuid',
    principal_id: 'text',
    via: 'text',
    from_version: 'int',
    to_version: 'int',
    request_id: 'text',
  })}
 ORDER BY i.disclosed_on, i.subject_key, i.grantee_tenant_id COLLATE "C", i.principal_id COLLATE "C", i.via COLLATE "C",
       i.from_version, i.to_version
    ON CONFLICT DO NOTHING`,
);

/** The columns of the disclosure `d` of subject `s`. */
const DISCLOSURE: Columns<DisclosureRecord> = {
  disclosedOn: `to_char(d.disclosed_on, 'YYYY-MM-DD')`,
  subjectType: 's.subject_type',
  subjectId: 's.subject_id',
  fromVersion: 'd.from_version',
  toVersion: 'd.to_version',
  granteeTenantId: 'd.grantee_tenant_id',
  grantId: 'd.grant_id',
  purpose: '(SELECT g.purpose FROM grants g WHERE g.grant_id = d.grant_id LIMIT 1)',
  principalId: 'd.principal_id',
  via: 'd.via',
  firstAt: 'd.first_at',
  requestId: 'd.request_id',
};

const LIST = newestRecords('disclosures', 'd', 'first_at', 'disclosure_id');
const ITEM = `${FACTS},
  ${columns(DISCLOSURE, 'item?')}`;
const OF_IT = 'd.subject_key = s.subject_key AND f.owns_subject';

/** Selects disclosures; a null member selects all. */
export interface DisclosureFilter extends TimeBounds {
  /** The principal that was shown the versions. */
  toPrincipalId: string | null;
  via: DisclosureWay | null;
}

const TO_PRINCIPAL = { to_principal_id: 'text', via: 'text' } as const;
const WANTED = `(i.to_principal_id IS NULL OR d.principal_id = i.to_principal_id) AND (i.via IS NULL OR d.via = i.via)`;

const OF_SUBJECT = statement<
  Actor & SubjectRef & RecordPage & DisclosureFilter & { granteeTenantId: string | null },
  RecordRow<AccessFacts, DisclosureRecord>
>(
  'disclosures_of_subject',
  `SELECT ${ITEM},
  ${LIST.position(OF_IT)}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT, ...TO_PRINCIPAL, grantee_tenant_id: 'text' })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL ${LIST.page(OF_IT, `${WANTED} AND (i.grantee_tenant_id IS NULL OR d.grantee_tenant_id = i.grantee_tenant_id)`)} d ON true
 ${LIST.order}`,
);

const IS_MEMBER = `f.member_status = 'active'`;
const toTenant = (name: string, listed: string | KeyedScope) => {
  return statement<Actor & RecordPage & NamedKey & DisclosureFilter, RecordRow<AccessFacts, DisclosureRecord>>(
    name,
    `SELECT ${ITEM},
  ${LIST.position(listed)}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT, ...TO_PRINCIPAL })}
  ${MEMBER_ACCESS}
  ${NAMED_KEY}
  LEFT JOIN LATERAL ${LIST.page(listed, WANTED)} d ON true
  LEFT JOIN subjects s ON s.subject_key = d.subject_key
 ${LIST.order}`,
  );
};

/**
 * Lists of disclosures to a tenant. Those by subject or by principal read the tenant's own rows only, so the number of other rows
 * cannot be inferred from a page.
 */
const TO_TENANT = {
  all: toTenant('disclosures_to_tenant', `d.grantee_tenant_id = i.tenant_id AND ${IS_MEMBER}`),
  principal: toTenant('disclosures_to_principal', {
    keys: [`d.grantee_tenant_id || '/'`, 'd.principal_id'],
    values: [`i.tenant_id || '/'`, 'i.to_principal_id'],
    and: IS_MEMBER,
  }),
  subject: toTenant('disclosures_to_tenant_of', {
    keys: [`d.grantee_tenant_id || '/'`, 'd.subject_key'],
    values: [`i.tenant_id || '/'`, 'k.subject_key'],
    and: IS_MEMBER,
  }),
};

const MAX_ROWS = 64;
const MAX_RUNNING = 2;

/** Records of the versions that were shown to principals of other tenants. */
export class DisclosureStore {
  private readonly records: Coalescer<NewDisclosure, void>;

  constructor(private readonly sql: Sql) {
    const { sql: shared, lone } = sql.sharing;
    this.records = new Coalescer<NewDisclosure, void>({
      run: async (inputs, isAlone) => {
        await (isAlone ? sql : shared).run(RECORD, { inputs });
        return inputs.map(() => ({ value: undefined }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ granteeTenantId }) => granteeTenantId,
    });
  }

  /** Stores a disclosure unless it is stored already. It is stored when this resolves. */
  record(disclosure: NewDisclosure): Promise<void> {
    return this.records.submit(disclosure);
  }

  /** Returns the disclosures of one subject, newest first, and the caller's access facts. Only its owner gets any. */
  async ofSubject(
    actor: Actor,
    subject: SubjectRef,
    filter: DisclosureFilter & { granteeTenantId: string | null },
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<DisclosureRecord> }> {
    const parameters = { ...actor, ...subject, ...filter, ...recordPage(filter, request) };
    return toRecords(await this.sql.run(OF_SUBJECT, parameters), request.limit);
  }

  /**
   * Returns the disclosures of all subjects to the actor's tenant, newest first, and the caller's access facts. Only an active
   * member gets any.
   */
  async toTenant(
    actor: Actor,
    { subject, ...filter }: DisclosureFilter & { subject: SubjectRef | null },
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<DisclosureRecord> }> {
    const scope = subject !== null ? 'subject' : filter.toPrincipalId !== null ? 'principal' : 'all';
    const parameters = { ...actor, ...filter, ...namedKey(subject), ...recordPage(filter, request) };
    return toRecords(await this.sql.run(TO_TENANT[scope], parameters), request.limit);
  }
}
