import { type AccessFacts, type Actor, type LogFact, type SubjectRef } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type SubjectDisclosure } from '../facts/access-facts';
import { type FactRow } from '../log/log-facts';
import { type LogEntry } from '../log/log-entry.store';
import { type SnapshotRecord } from '../snapshots/snapshot-record';

interface LatestRow extends Pick<FactRow, 'snapshot'> {
  facts: AccessFacts;
  disclosure: SubjectDisclosure | null;
  newest: number | null;
  version: number | null;
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
  /** The newest version among these entries, with its entry; null if there is none. */
  snapshot: (LogEntry & { fact: Extract<LogFact, { type: 'snapshot.created' }> }) | null;
  /** The erasure of that version, if any. Its entry then has no salt. */
  erasure: SnapshotRecord['erasure'];
}

const LATEST = statement<Actor & SubjectRef & { size: number }, LatestRow>('map_latest');
const OF_SUBJECT = statement<Actor & SubjectRef, { facts: AccessFacts; newest: number | null }>('map_facts_of_subject');
const OF_TENANT = statement<Actor, { facts: AccessFacts }>('map_facts_of_tenant');

/** Reads what the map is asked about. */
export class MapProofStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the newest version of a subject among the first `size` entries of the log. */
  async latest(actor: Actor, subject: SubjectRef, size: number): Promise<LoggedHead> {
    const { facts, disclosure, newest, erasure, entry, snapshot } = await this.sql.one(LATEST, {
      ...actor,
      ...subject,
      size,
    });
    return { facts, disclosure, newest, erasure, snapshot: entry && snapshot && { ...entry, fact: snapshot } };
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
