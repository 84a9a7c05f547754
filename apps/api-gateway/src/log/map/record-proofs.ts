import type { Actor } from '@iss/domain';
import type { LookUp } from '@iss/map';
import { type LogCheckpoint, LogEntryStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Asker } from '../../runtime/asker';
import { type LoggedEntry, LogProofService } from '../log-proof.service';
import { LogTreeService } from '../log-tree.service';
import { PublishedMap } from './published-map';

/** Limits of one answer, which ends with a whole entry. An entry has at most 256 records and 60,000 bytes. */
const MAX_ENTRIES = 32;
const MAX_NUMBERS = 256;

/** Numbers that are looked up together. */
const TOGETHER = 32;

interface ProvedEntry {
  readonly entry: LoggedEntry;
  readonly inclusion: readonly Uint8Array[];
}

/** Records of a stream with their proofs: a look-up of each number, and the entries that have the records. */
export interface ProvedRecords {
  readonly lookUps: readonly LookUp[];
  readonly entries: readonly ProvedEntry[];
}

/** Proves which records of a stream the entries of the log have. */
@Injectable()
export class RecordProofs {
  constructor(
    private readonly map: PublishedMap,
    private readonly tree: LogTreeService,
    private readonly proofs: LogProofService,
    private readonly entries: LogEntryStore,
  ) {}

  /**
   * Proves the records from a number on, in whole entries. `count` is the newest number of the stream. The caller must have checked the
   * right to see the records. Throws `not_logged_yet` if rows of the map are gone.
   */
  async from(
    caller: Actor & Asker,
    checkpoint: LogCheckpoint,
    stream: string,
    { from, count }: { from: number; count: number },
  ): Promise<ProvedRecords> {
    const known = new Map<number, LookUp>();
    const at = async (number: number): Promise<LookUp> => {
      const one = known.get(number);
      if (one !== undefined) return one;
      const first = number - ((number - 1) % TOGETHER);
      const numbers = Array.from({ length: Math.min(TOGETHER, count - first + 1) }, (_, place) => first + place);
      for (const found of await this.map.numbers(caller, checkpoint, stream, numbers)) known.set(found.number, found);
      return at(number);
    };
    const indexAt = async (number: number): Promise<number> => (await at(number)).logIndexes[0] ?? -1;

    let first = from;
    while (first > 1 && first <= count && (await indexAt(first - 1)) === (await indexAt(first))) first -= 1;
    const lookUps: LookUp[] = [];
    const entries: ProvedEntry[] = [];
    for (let number = first; number <= count && entries.length < MAX_ENTRIES && lookUps.length < MAX_NUMBERS;) {
      const index = await indexAt(number);
      for (; number <= count && (await indexAt(number)) === index; number += 1) lookUps.push(await at(number));
      entries.push(await this.entryAt(caller.tenantId, index, checkpoint.size));
    }
    return { lookUps, entries };
  }

  private async entryAt(tenantId: string, logIndex: number, size: number): Promise<ProvedEntry> {
    const found = await this.entries.ofRecords(tenantId, logIndex);
    if (found === null) throw new Error(`log entry ${logIndex} names records that are missing: run iss audit`);
    return { entry: await this.proofs.asHashed(found), inclusion: await this.tree.inclusion(logIndex, size) };
  }
}
