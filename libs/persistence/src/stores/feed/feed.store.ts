import {
  type AccessFacts,
  type Actor,
  type ChangeKind,
  type LogEntryType,
  type LogFact,
  momentOfFact,
  shownChanges,
  type SubjectRef,
  touchesChanges,
  type Visible,
} from '@iss/domain';
import { RecentMap } from '@iss/platform';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { factOf, type FactRow } from '../log/log-facts';

/** An entry of the log that concerns a tenant. */
export interface ChangeEntry {
  /** Its place in the log. */
  logIndex: number;
  fact: LogFact;
  /** The subject of the fact; null if the fact is about a tenant. */
  subject: SubjectRef | null;
  /** For a grant. */
  granteeTenantId: string | null;
}

/** Why and where a version differs from the previous one. */
export interface VersionChange {
  changeKind: ChangeKind;
  /** The changed paths that the reader may see ({@link shownChanges}). */
  changedPaths: readonly string[] | null;
}

/** An entry of the log as shown to a tenant that it concerns. */
export interface FeedChange {
  /** The same object each time. */
  entry: ChangeEntry;
  /** Null unless the entry is about a version. */
  version: VersionChange | null;
}

export interface ChangesRequest {
  /** The place of the last entry that the caller has seen; -1 for none. */
  after: number;
  /** The maximum number of items, ≥ 1. */
  limit: number;
  /** Undefined for all types. */
  type: LogEntryType | undefined;
  subjectType: string | undefined;
  /** Only together with `subjectType`. */
  subjectId: string | undefined;
  /** Only facts from this moment on; null for all. */
  from: Date | null;
  /** Only versions in which something at, below or above these paths may have changed; null for all. */
  paths: Visible;
}

export interface FeedChanges {
  items: FeedChange[];
  /** The place to continue after. No entry before it that the caller may see now is missing, except as `isComplete` says. */
  next: number;
  /** True if there are more entries now. */
  hasMore: boolean;
  /** False if a worker still adds older entries before `next`, because of a recent grant on all subjects. */
  isComplete: boolean;
}

/** The last entry that a reader of a tenant's feed has seen. */
export interface FeedPlace {
  tenantId: string;
  after: number;
}

/** The maximum number of entries that one page examines, shown or not. */
const LOOKED_AT = 1_001;

interface ChangeRow extends FactRow {
  logIndex: number;
  subjectKey: number | null;
  subject: SubjectRef | null;
  granteeTenantId: string | null;
}

const PLACES = statement<
  Actor & { after: number; lookedAt: number },
  { facts: AccessFacts; epoch: string; places: number[] | null; copiedTo: number | null }
>('change_places');

const ENTRIES = statement<{ epoch: string; indexes: readonly number[] }, ChangeRow>('changes');

const FOLLOWED = statement<
  { tenantId: string; inputs: readonly OthersSubject[] },
  { mayFollow: boolean; paths: Visible }
>('changes_followed');

const VERSIONS = statement<{ inputs: readonly { subjectKey: number; snapshotVersion: number }[] }, VersionChange>(
  'changes_of_versions',
);

const NEWS = statement<{ inputs: readonly FeedPlace[] }, { isNew: boolean }>('feed_news');

const SIZE = statement<NoParameters, { size: number }>('feed_size');

const SIZE_BEFORE = statement<{ moment: Date }, { size: number }>('feed_size_before');

const LAG = statement<NoParameters, { ageMs: number }>('feed_lag');

/** A subject with its owner. */
interface OthersSubject {
  subjectKey: number;
  ownerTenantId: string;
}

/** A cached change. */
interface KnownChange {
  readonly entry: ChangeEntry;
  readonly subjectKey: number | null;
  /** The subject whose readers may see the change; null if only the tenants that it names may. */
  readonly followed: OthersSubject | null;
}

/** A known change that a reader may see. */
interface VisibleChange extends KnownChange {
  /** The parts of the subject that the reader may see. */
  readonly visible: Visible;
}

/** About ten million bytes. */
const MAX_KNOWN_CHANGES = 4_096;

/** Reads the changes of the subjects and grants that a tenant owns or may read, in the order of the log. */
export class FeedStore {
  /** A cache of entries, which never change. It returns the same object each time. */
  private readonly known = new RecentMap<number, KnownChange>(MAX_KNOWN_CHANGES);
  private epoch = '';

  constructor(private readonly sql: Sql) {}

  /**
   * Returns the next entries that concern the tenant and that the caller may see now, and the caller's access facts. Only an
   * active member gets any, and those of other tenants' subjects need its counterparty flag. It examines at most
   * {@link LOOKED_AT} entries, so a page may be short or empty although there are more.
   */
  async changes(
    actor: Actor,
    { after: sentAfter, limit, type, subjectType, subjectId, from, paths }: ChangesRequest,
  ): Promise<{ facts: AccessFacts; changes: FeedChanges }> {
    const isFiltered = type !== undefined || subjectType !== undefined || from !== null || paths !== null;
    const after = from === null ? sentAfter : Math.max(sentAfter, (await this.sizeBefore(from)) - 1);
    // One more than is shown tells whether there are more.
    const lookedAt = isFiltered ? LOOKED_AT : Math.min(LOOKED_AT, limit + 1);
    const { facts, epoch, places, copiedTo } = await this.sql.one(PLACES, { ...actor, after, lookedAt });
    const examined = places ?? [];
    const matching = (await this.entries(epoch, examined)).filter(
      ({ entry: { fact, subject } }) =>
        (type === undefined || fact.type === type) &&
        (subjectType === undefined || subject?.subjectType === subjectType) &&
        (subjectId === undefined || subject?.subjectId === subjectId) &&
        (from === null || momentOfFact(fact) >= from),
    );
    const visible = await this.visible(actor, facts, matching);
    const changes = await this.withVersions(paths === null ? visible.slice(0, limit) : visible);
    const touched = ({ version }: FeedChange): boolean =>
      paths === null || version === null || touchesChanges(paths, version.changedPaths);
    const items = changes.filter(touched).slice(0, limit);
    const end = Math.max(after, examined.at(-1) ?? after);
    const next = items.length < limit ? end : (items.at(-1)?.entry.logIndex ?? end);
    const isComplete = copiedTo === null || copiedTo > next;
    return { facts, changes: { items, next, hasMore: examined.length === lookedAt || next < end, isComplete } };
  }

  /** Returns the number of log entries that are certainly older than this moment, from a checkpoint of that time. */
  private async sizeBefore(moment: Date): Promise<number> {
    return (await this.sql.one(SIZE_BEFORE, { moment })).size;
  }

  /** Returns the age in milliseconds of the oldest log entry that is not in the feeds; 0 if there is none. */
  async lagMs(): Promise<number> {
    return Math.max(0, (await this.sql.one(LAG, {})).ageMs);
  }

  /** Returns the entries at these places, ascending, without those whose fact is missing from its table. */
  private async entries(epoch: string, places: readonly number[]): Promise<KnownChange[]> {
    if (epoch !== this.epoch) {
      this.known.clear();
      this.epoch = epoch;
    }
    const found = new Map<number, KnownChange>();
    for (const place of places) {
      const known = this.known.get(place);
      if (known !== undefined) found.set(place, known);
    }
    const indexes = places.filter((place) => !found.has(place));
    if (indexes.length > 0) {
      for (const row of await this.sql.run(ENTRIES, { epoch, indexes })) {
        const known = knownChangeOf(row);
        if (known === null) continue;
        found.set(row.logIndex, known);
        if (epoch === this.epoch) this.known.set(row.logIndex, known);
      }
    }
    return places.flatMap((place) => found.get(place) ?? []);
  }

  /** Returns the entries that the tenant may see now, regardless of the rows that led to them. */
  private async visible(
    { tenantId }: Actor,
    { membership }: AccessFacts,
    entries: readonly KnownChange[],
  ): Promise<readonly VisibleChange[]> {
    const others = new Map<number, OthersSubject>();
    for (const { followed } of entries) {
      if (followed !== null && followed.ownerTenantId !== tenantId) others.set(followed.subjectKey, followed);
    }
    const inputs = membership?.allowCounterpartyAccess === true ? [...others.values()] : [];
    const rights = inputs.length === 0 ? [] : await this.sql.run(FOLLOWED, { tenantId, inputs });
    const followable = new Map<number, Visible>();
    inputs.forEach(({ subjectKey }, index) => {
      const right = rights[index];
      if (right?.mayFollow === true) followable.set(subjectKey, right.paths);
    });
    return entries.flatMap((known) => {
      const { entry, followed } = known;
      const isOwn = followed === null ? isParty(tenantId, entry) : tenantId === followed.ownerTenantId;
      const visible = isOwn ? null : followed === null ? undefined : followable.get(followed.subjectKey);
      return visible === undefined ? [] : { ...known, visible };
    });
  }

  /** Adds to entries about versions what changed in them. It is read each time, because an erasure destroys it. */
  private async withVersions(entries: readonly VisibleChange[]): Promise<FeedChange[]> {
    const inputs = entries.flatMap(({ subjectKey, entry: { fact } }) =>
      fact.type === 'snapshot.created' && subjectKey !== null
        ? { subjectKey, snapshotVersion: fact.snapshotVersion }
        : [],
    );
    const versions = (inputs.length === 0 ? [] : await this.sql.run(VERSIONS, { inputs })).values();
    return entries.map(({ entry, subjectKey, visible }) => {
      if (entry.fact.type !== 'snapshot.created' || subjectKey === null) return { entry, version: null };
      const { value: version } = versions.next();
      if (version === undefined) throw new Error('a version of an entry is missing');
      return { entry, version: { ...version, changedPaths: shownChanges(version.changedPaths, visible) } };
    });
  }

  /** Returns for each place, in their order, whether there may be an entry after it. It does not check rights. */
  async news(places: readonly FeedPlace[]): Promise<boolean[]> {
    return (await this.sql.run(NEWS, { inputs: places })).map(({ isNew }) => isNew);
  }

  /** Returns the number of log entries that are in the feeds. */
  async size(): Promise<number> {
    return (await this.sql.one(SIZE, {})).size;
  }
}

/** True for entries that every reader of the subject may follow. Other entries are for the tenants that they name. */
const IS_FOLLOWED: Readonly<Record<LogEntryType, boolean>> = {
  'snapshot.created': true,
  'subject.erased': true,
  'grant.created': false,
  'grant.changed': false,
  'grant.revoked': false,
  'tenant.owner_changed': false,
};

function knownChangeOf({ logIndex, subjectKey, subject, granteeTenantId, ...row }: ChangeRow): KnownChange | null {
  const fact = factOf(row);
  if (fact === null) return null;
  const followed = subjectKey !== null && IS_FOLLOWED[fact.type] ? { subjectKey, ownerTenantId: fact.tenantId } : null;
  return { entry: { logIndex, fact, subject, granteeTenantId }, subjectKey, followed };
}

function isParty(tenantId: string, { fact, granteeTenantId }: ChangeEntry): boolean {
  return tenantId === fact.tenantId || tenantId === granteeTenantId;
}
