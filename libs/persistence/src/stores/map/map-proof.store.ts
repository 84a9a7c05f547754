import { type AccessFacts, type Actor, type LogFact, type SubjectRef } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type SubjectDisclosure } from '../facts/access-facts';
import { type FactRow } from '../log/log-facts';
import { type LogEntry } from '../log/log-entry.store';
import { type SnapshotRecord } from '../snapshots/snapshot-record';

/** A request for the newest version of a subject among the first `size` entries of the log. */
interface LatestInput extends Actor, SubjectRef {
  size: number;
  knownSalt: Buffer | undefined;
}

interface LatestRow extends Pick<FactRow, 'snapshot'> {
  facts: AccessFacts;
  disclosure: SubjectDisclosure | null;
  newest: number | null;
  version: number | null;
  isKnown: boolean;
  erasure: SnapshotRecord['erasure'];
  entry: { logIndex: number; salt: Buffer | null } | null;
}

/** The newest version of a subject among the first entries of the log, and the facts that decide whether the caller may see it. */
export interface LoggedHead {
  facts: AccessFacts;
  /** Null for the owner, and if the subject does not exist. */
  disclosure: SubjectDisclosure | null;
  /** The newest version, in the log or not. Null if there is none, or the caller may not see it. */
  newest: number | null;
  /** The newest version among these entries. */
  version: number | null;
  /** True if the caller knows the salt of its entry. */
  isKnown: boolean;
  /** That version with its entry. Null if there is none, or the caller knows it. */
  snapshot: (LogEntry & { fact: Extract<LogFact, { type: 'snapshot.created' }> }) | null;
  /** The erasure of that version, if any. Its entry then has no salt. */
  erasure: SnapshotRecord['erasure'];
}

const LATEST = statement<{ inputs: readonly LatestInput[] }, LatestRow>('map_latest');
const OF_SUBJECT = statement<Actor & SubjectRef, { facts: AccessFacts; newest: number | null }>('map_facts_of_subject');
const OF_TENANT = statement<Actor, { facts: AccessFacts }>('map_facts_of_tenant');

const MAX_ROWS = 64;
const MAX_RUNNING = 3;

/** Reads the facts that the map proves. */
export class MapProofStore {
  private readonly heads: Coalescer<LatestInput, LoggedHead>;

  constructor(private readonly sql: Sql) {
    const { sql: shared, lone } = sql.sharing;
    this.heads = new Coalescer<LatestInput, LoggedHead>({
      run: async (inputs, isAlone) => {
        const rows = await (isAlone ? sql : shared).run(LATEST, { inputs });
        return rows.map(({ entry, snapshot, ...read }) => ({
          value: { ...read, snapshot: entry && snapshot && { ...entry, fact: snapshot } },
        }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId }) => tenantId,
    });
  }

  /** Returns the newest version of a subject among the first `size` entries of the log. Concurrent calls share a statement. */
  latest(
    { tenantId, principalId }: Actor,
    { subjectType, subjectId }: SubjectRef,
    size: number,
    knownSalt: Buffer | undefined,
  ): Promise<LoggedHead> {
    return this.heads.submit({ tenantId, principalId, subjectType, subjectId, size, knownSalt });
  }

  /** Returns the caller's rights on a subject, and its newest version; null if it does not exist. */
  ofSubject(actor: Actor, subject: SubjectRef): Promise<{ facts: AccessFacts; newest: number | null }> {
    return this.sql.one(OF_SUBJECT, { ...actor, ...subject });
  }

  /** Returns the caller's rights in a tenant. The answer and its time do not depend on any subject. */
  ofTenant(actor: Actor): Promise<{ facts: AccessFacts }> {
    return this.sql.one(OF_TENANT, actor);
  }
}
