import {
  type AccessFacts,
  type ChangeKind,
  type EvidencePolicy,
  type IdentifierTerm,
  newEventId,
  type SearchTerms,
  type SubjectRef,
} from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';

/** A sealed snapshot, and facts about the request that writes it. */
export interface SnapshotToWrite extends SubjectRef {
  tenantId: string;
  principalId: string;
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
  changeKind: ChangeKind;
  /** RFC 8785 text. */
  envelope: string;
  /** Lowercase hex SHA-256 of `envelope`. */
  envelopeHash: string;
  prevHash: string | null;
  requestId: string;
  /** W3C Trace Context of the request; null outside of one. */
  traceparent: string | null;
  /** The proposal that this snapshot applies; null for a direct write. */
  updateId: string | null;
  /** The terms by which the subject can be found from now on. */
  terms: SearchTerms;
  /** The evidence policy by which this snapshot was checked. */
  evidencePolicy: EvidencePolicy;
  /** True if leaves of it have missing evidence (`hasMissing`) or carried evidence (`hasCarried`). */
  hasMissing: boolean;
  hasCarried: boolean;
}

/** A snapshot on a base, and its provenance. */
export interface SnapshotToAppend extends SnapshotToWrite {
  /** Its author as JSON text; null if the base has no known provenance. */
  changedBy: string | null;
  /** Encoded by `encodeOrigins`. */
  origins: Buffer | null;
  /** Those of `changesBetween`, as JSON text; null if the base has no known provenance. */
  changedPaths: string | null;
  /** The author of the first version, if this is the second one. */
  firstChangedBy: string | null;
  /** True if the provenance was made without the text of the base, because it was erased. */
  isBaseErased: boolean;
}

export interface WrittenSnapshot {
  kind: 'written';
  createdAt: Date;
  /** The id of the event that was stored with it and must be announced; null if no subscription wants it. */
  eventId: string | null;
  /** The same for the event of the update that it applies. */
  appliedEventId: string | null;
}

/** A refused write. The access facts decide what the caller may learn of it. */
export interface RefusedSnapshot {
  kind: 'refused';
  facts: AccessFacts;
  snapshotIdTaken: boolean;
  /** The tenant's current policy. A snapshot that was checked by another policy is refused. Null if there is no tenant. */
  evidencePolicy: EvidencePolicy | null;
  /** The version of the newest snapshot; null if the subject does not exist. */
  headVersion: number | null;
}

export type WriteOutcome = WrittenSnapshot | RefusedSnapshot;

interface WriteParameters<Input> {
  inputs: readonly Input[];
  eventIds: readonly string[];
  appliedEventIds: readonly (string | null)[];
  names: readonly (string | null)[];
  displayNames: readonly (string | null)[];
  namePaths: readonly (string | null)[];
  identifiers: readonly (IdentifierTerm & { ord: number })[];
}
type WriteRow = Omit<RefusedSnapshot, 'kind'> & {
  createdAt: Date | null;
  eventId: string | null;
  appliedEventId: string | null;
};
type WriteStatement<Input> = Statement<WriteParameters<Input>, WriteRow>;

const CREATE_BARE: WriteStatement<SnapshotToWrite> = statement('snapshot_create');
const CREATE: WriteStatement<SnapshotToWrite> = statement('snapshot_create_found');
const APPEND: WriteStatement<SnapshotToAppend> = statement('snapshot_append');

const MAX_ROWS = 32;
const MAX_RUNNING = 3;

/** Writes snapshots. One statement checks membership, ownership and base, writes the rows, and reports the failed rule. */
export class SnapshotWriteStore {
  private readonly creates: Coalescer<SnapshotToWrite, WriteOutcome>;
  private readonly appends: Coalescer<SnapshotToAppend, WriteOutcome>;

  constructor(sql: Sql) {
    const { sql: shared, lone } = sql.sharing;
    const writer = <Input extends SnapshotToWrite>(
      queryFor: (inputs: readonly Input[]) => WriteStatement<Input>,
    ): Coalescer<Input, WriteOutcome> =>
      new Coalescer<Input, WriteOutcome>({
        run: async (inputs, isAlone) => {
          const on = isAlone ? sql : shared;
          const rows = await on.run(queryFor(inputs), {
            inputs,
            eventIds: inputs.map(() => newEventId()),
            appliedEventIds: inputs.map(({ updateId }) => (updateId === null ? null : newEventId())),
            names: inputs.map(({ terms }) => terms.name),
            displayNames: inputs.map(({ terms }) => terms.displayName),
            namePaths: inputs.map(({ terms }) => terms.namePath),
            identifiers: inputs.flatMap(({ terms }, index) =>
              terms.identifiers.map((identifier) => ({ ...identifier, ord: index + 1 })),
            ),
          });
          return rows.map(({ createdAt, eventId, appliedEventId, ...refusal }) => ({
            value:
              createdAt === null
                ? { kind: 'refused', ...refusal }
                : { kind: 'written', createdAt, eventId, appliedEventId },
          }));
        },
        maxRows: MAX_ROWS,
        maxRunning: MAX_RUNNING,
        lone,
        whoseOf: ({ tenantId }) => tenantId,
        keysOf: ({ subjectId, snapshotId }) => [subjectId, snapshotId],
        sizeOf: ({ envelope }) => envelope.length,
      });
    this.creates = writer((inputs) => (inputs.every(isBare) ? CREATE_BARE : CREATE));
    this.appends = writer(() => APPEND);
  }

  /** Writes a subject's first snapshot, and makes the tenant its owner. Throws `conflict` if a concurrent write was first. */
  create(snapshot: SnapshotToWrite): Promise<WriteOutcome> {
    return this.creates.submit(snapshot);
  }

  /** Writes the owner's next snapshot, which must follow the head. Throws `conflict` if a concurrent write was first. */
  append(snapshot: SnapshotToAppend): Promise<WriteOutcome> {
    return this.appends.submit(snapshot);
  }
}

function isBare({ terms: { identifiers }, hasMissing, hasCarried }: SnapshotToWrite): boolean {
  return identifiers.length === 0 && !hasMissing && !hasCarried;
}
