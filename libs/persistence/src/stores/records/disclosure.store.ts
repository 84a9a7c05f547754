import type { AccessFacts, Actor, DisclosureWay, SubjectRef } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import type { Page, PageRequest } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import {
  namedKey,
  type NamedKey,
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
  /** The paths that were shown; null: everything. */
  paths: readonly string[] | null;
}

export interface DisclosureRecord extends Omit<NewDisclosure, 'subjectKey'>, SubjectRef {
  /** The current purpose of the grant. */
  purpose: string | null;
  firstAt: Date;
}

const RECORD = statement<{ inputs: readonly (Omit<NewDisclosure, 'paths'> & { paths: string | null })[] }, object>(
  'disclosure_record',
);

/** Selects disclosures; a null member selects all. */
export interface DisclosureFilter extends TimeBounds {
  /** The principal that was shown the versions. */
  toPrincipalId: string | null;
  via: DisclosureWay | null;
}

const OF_SUBJECT = statement<
  Actor & SubjectRef & RecordPage & DisclosureFilter & { granteeTenantId: string | null },
  RecordRow<AccessFacts, DisclosureRecord>
>('disclosures_of_subject');
const toTenant = (name: string) =>
  statement<Actor & RecordPage & NamedKey & DisclosureFilter, RecordRow<AccessFacts, DisclosureRecord>>(name);

const TO_TENANT = {
  all: toTenant('disclosures_to_tenant'),
  principal: toTenant('disclosures_to_principal'),
  subject: toTenant('disclosures_to_tenant_of'),
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
        const rows = inputs.map(({ paths, ...input }) => ({ ...input, paths: paths && JSON.stringify(paths) }));
        await (isAlone ? sql : shared).run(RECORD, { inputs: rows });
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
