import { hash } from 'node:crypto';
import { type DisclosureWay, DomainError, MAX_GRANT_PATHS_BYTES, type Reader, unionOf } from '@iss/domain';
import type { DisclosureStore, SubjectDisclosure } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import type { Asker } from '../runtime/asker';

export interface VersionRange {
  from: number;
  /** Inclusive. */
  to: number;
}

/** How many disclosures of the current day a process remembers. Each takes about 200 bytes. */
const REMEMBERED = 32_768;
const DAY_MS = 86_400_000;

/**
 * Records which versions of a subject are shown to a principal of another tenant, before they are shown. Each
 * combination is stored once per UTC day. A process remembers what it has recorded that day, so a repetition costs only
 * a lookup in memory. After another process has recorded it, or this one has forgotten it, the insert finds the
 * existing row.
 */
export class Disclosures {
  private day = NaN;
  private recorded = new RecentMap<string, true>(REMEMBERED);

  constructor(
    private readonly store: Pick<DisclosureStore, 'record'>,
    /** Milliseconds since 1970. Determines the UTC day. */
    private readonly clock: () => number = Date.now,
  ) {}

  /**
   * Records a disclosure. Await it before any of these versions leave the service. `disclosure` comes with the access
   * facts of the read. It is null if the owner reads; then nothing is recorded. Throws `unavailable` if the disclosure
   * cannot be recorded; then nothing may be shown.
   */
  async record(
    reader: Reader & Pick<Asker, 'requestId'>,
    disclosure: SubjectDisclosure | null,
    { from, to }: VersionRange,
    via: DisclosureWay,
  ): Promise<void> {
    // A read that needs no grant has no grantee tenant.
    if (disclosure === null || disclosure.granteeTenantId === null) return;
    const { subjectKey, granteeTenantId, grantId, paths } = disclosure;
    const { principalId, requestId } = reader;
    const day = Math.floor(this.clock() / DAY_MS);
    if (day !== this.day) this.begin(day);
    const portions = paths === null ? [null] : portionsOf(unionOf([paths]) ?? []);
    const shown = paths === null ? '' : hash('sha256', portions.join('\n'));
    const key = `${subjectKey}/${from}-${to}/${via}/${granteeTenantId}/${grantId}/${principalId}/${shown}`;
    if (this.recorded.get(key) === true) return;
    const { recorded } = this;
    const record = {
      ...{ subjectKey, granteeTenantId, grantId, principalId, via, requestId },
      disclosedOn: new Date(day * DAY_MS).toISOString().slice(0, 10),
      fromVersion: from,
      toVersion: to,
    };
    try {
      await Promise.all(portions.map((portion) => this.store.record({ ...record, paths: portion })));
    } catch (error) {
      const refusal = new DomainError(
        'unavailable',
        'The read was refused because it could not be recorded. Try again.',
      );
      refusal.cause = error;
      throw refusal;
    }
    recorded.set(key, true);
  }

  private begin(day: number): void {
    this.day = day;
    this.recorded = new RecentMap(REMEMBERED);
  }
}

/** Divides the paths of many grants, because a record of all of them would be too long for the log. */
function portionsOf(paths: readonly string[]): string[][] {
  const portions: string[][] = [];
  let bytes = Infinity;
  for (const path of paths) {
    const size = Buffer.byteLength(JSON.stringify(path)) + 1;
    bytes += size;
    if (bytes > MAX_GRANT_PATHS_BYTES) {
      portions.push([]);
      bytes = size;
    }
    portions.at(-1)?.push(path);
  }
  return portions;
}
