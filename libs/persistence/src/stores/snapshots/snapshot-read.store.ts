import { type AccessFacts, type Reader, RULES, type SubjectRef } from '@iss/domain';
import { ANY_BYTES, Coalescer, LARGE_ANSWER } from '../../sql/coalescer';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { type SubjectDisclosure } from '../facts/access-facts';
import { type SnapshotRecord, type SnapshotRow, type StoredRow } from './snapshot-record';
import { StoredTexts } from './stored-texts';

export type { SnapshotRecord, SnapshotRow, SubjectDisclosure, SubjectRef };

/** The result of a read, and the facts that decide whether the caller may see it. */
export interface SnapshotRead {
  facts: AccessFacts;
  /** Also null if the caller may not read it. */
  snapshot: SnapshotRow | null;
  /** Null for the owner, and if there is no subject. */
  disclosure: SubjectDisclosure | null;
}

/** The snapshot to read. */
export type SnapshotTarget =
  | { kind: 'latest'; subject: SubjectRef }
  /** `asLatest`: it was the latest version at some moment, and a read of that needs another right. */
  | { kind: 'version'; subject: SubjectRef; version: number; asLatest?: boolean }
  | { kind: 'id'; snapshotId: string };

/** The parts of a snapshot that the caller needs. */
export interface WantedParts {
  envelope: boolean;
  /** If the snapshot has this hash, nothing is returned. */
  unlessHash?: Buffer | undefined;
}

/** `snapshot` is null if it does not exist, or if the caller knows its hash and it is not erased. */
export interface ConditionalRead extends SnapshotRead {
  isKnown: boolean;
  /** The version that was found, known or not. A caller without the right gets it only in a read by snapshot id. */
  version: number | null;
}

/** The rule of each kind of read. */
export const READ_RULES = {
  latest: RULES.readLatest,
  version: RULES.readVersion,
  id: RULES.readById,
} as const satisfies Record<SnapshotTarget['kind'], object>;

/** A read before the text was brought. */
type StoredRead = Omit<ConditionalRead, 'snapshot'> & { snapshot: StoredRow | null };

/** A request as an input row of its statement. The optional members depend on its target. */
interface ReadInput extends Reader, Partial<SubjectRef> {
  withEnvelope: boolean;
  knownHash: Buffer | undefined;
  snapshotVersion?: number;
  asLatest?: boolean;
  snapshotId?: string;
}

/** Omits an envelope with more bytes than `maxBytes`. */
type ReadStatement = Statement<
  { inputs: readonly ReadInput[]; maxBytes: number },
  StoredRead & { isTooLarge: boolean }
>;

const readStatement = (target: SnapshotTarget['kind'], form: 'tenant' | 'global'): ReadStatement =>
  statement(`snapshot_${target}_${form}`);

const STATEMENTS = {
  latest_tenant: readStatement('latest', 'tenant'),
  latest_global: readStatement('latest', 'global'),
  version_tenant: readStatement('version', 'tenant'),
  version_global: readStatement('version', 'global'),
  id_tenant: readStatement('id', 'tenant'),
  id_global: readStatement('id', 'global'),
};
type Form = keyof typeof STATEMENTS;

const MAX_ROWS = 64;
const MAX_RUNNING = 3;

/** Reads single snapshots with their access facts in one statement, which concurrent reads share. */
export class SnapshotReadStore {
  private readonly readers: Record<Form, Coalescer<ReadInput, StoredRead>>;
  private readonly texts: StoredTexts;

  constructor(private readonly sql: Sql) {
    this.texts = new StoredTexts(sql.archive);
    this.readers = {
      latest_tenant: this.reader('latest_tenant'),
      latest_global: this.reader('latest_global'),
      version_tenant: this.reader('version_tenant'),
      version_global: this.reader('version_global'),
      id_tenant: this.reader('id_tenant'),
      id_global: this.reader('id_global'),
    };
  }

  /** Returns the requested parts of the snapshot, and the access facts. */
  async read(reader: Reader, target: SnapshotTarget, wanted: WantedParts): Promise<ConditionalRead> {
    const read = await this.readers[`${target.kind}_${reader.tenantId === null ? 'global' : 'tenant'}`].submit({
      principalId: reader.principalId,
      tenantId: reader.tenantId,
      withEnvelope: wanted.envelope,
      knownHash: wanted.unlessHash,
      ...toInput(target),
    });
    // Not within the shared statement, so that nobody waits for the archive on behalf of another.
    return { ...read, snapshot: await this.texts.bringOne(read.snapshot) };
  }

  private reader(form: Form): Coalescer<ReadInput, StoredRead> {
    const { sql: shared, lone } = this.sql.sharing;
    return new Coalescer<ReadInput, StoredRead>({
      run: async (inputs, isAlone) => {
        const rows = isAlone
          ? await this.sql.run(STATEMENTS[form], { inputs, maxBytes: ANY_BYTES })
          : await shared.run(STATEMENTS[form], { inputs, maxBytes: LARGE_ANSWER });
        return rows.map((value) => (value.isTooLarge ? 'tooLarge' : { value }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId, principalId }) => tenantId ?? principalId,
    });
  }
}

function toInput(target: SnapshotTarget): Partial<ReadInput> {
  switch (target.kind) {
    case 'latest':
      return { subjectType: target.subject.subjectType, subjectId: target.subject.subjectId };
    case 'version':
      return {
        subjectType: target.subject.subjectType,
        subjectId: target.subject.subjectId,
        snapshotVersion: target.version,
        asLatest: target.asLatest ?? false,
      };
    case 'id':
      return { snapshotId: target.snapshotId };
  }
}
