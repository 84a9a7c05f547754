import { type DisclosureWay, DomainError, type Reader } from '@iss/domain';
import type { DisclosureStore, SubjectDisclosure } from '@iss/persistence';
import { RecentMap } from '@iss/platform';
import type { Asker } from '../work/asker';

export interface VersionRange {
  from: number;
  /** This one included. */
  to: number;
}

/** Disclosures of the day that this process knows to be recorded; each takes some two hundred bytes. */
const REMEMBERED = 32_768;
const DAY_MS = 86_400_000;

/**
 * Records who of another tenant is shown which versions of a subject, before they are shown. The first time on a UTC day is
 * a row; what this process recorded that day it remembers, so that the same again costs a look-up in memory. Another
 * process, or this one when it has forgotten, tries to write the row that is there.
 */
export class Disclosures {
  private day = NaN;
  private recorded = new RecentMap<string, true>(REMEMBERED);

  constructor(
    private readonly store: Pick<DisclosureStore, 'record'>,
    /** Milliseconds since 1970: whose day it is. */
    private readonly clock: () => number = Date.now,
  ) {}

  /**
   * To be awaited before any of these versions leave. `disclosure` comes with the facts by which the read was decided; null:
   * the owner reads, of which nothing is recorded. Throws `unavailable` when it cannot be recorded: then nothing may be
   * shown.
   */
  async record(
    reader: Reader & Pick<Asker, 'requestId'>,
    disclosure: SubjectDisclosure | null,
    { from, to }: VersionRange,
    via: DisclosureWay,
  ): Promise<void> {
    // Where nobody's grant is needed there is no tenant that they are shown to.
    if (disclosure === null || disclosure.granteeTenantId === null) return;
    const { subjectKey, granteeTenantId, grantId } = disclosure;
    const { principalId, requestId } = reader;
    const day = Math.floor(this.clock() / DAY_MS);
    if (day !== this.day) this.begin(day);
    const key = `${subjectKey}/${from}-${to}/${via}/${granteeTenantId}/${grantId}/${principalId}`;
    if (this.recorded.get(key) === true) return;
    const { recorded } = this;
    const disclosedOn = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const range = { fromVersion: from, toVersion: to };
    try {
      await this.store.record({
        subjectKey,
        disclosedOn,
        granteeTenantId,
        grantId,
        principalId,
        via,
        ...range,
        requestId,
      });
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
