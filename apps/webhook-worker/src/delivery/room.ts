import { Shares } from '@iss/platform';
import type { Lane } from './lane';
import { Turns } from './turns';

/** Lanes of one target host: so many attempts at once, the others wait for one of them to end. */
interface Host {
  /** Of lanes in the row and of attempts that run. */
  places: number;
  readonly waiting: Turns<Lane>;
}

const everyone = (): boolean => true;

/**
 * Slots for the endpoints of one kind. A lane first takes a place at its host, then its turn for a slot: so that neither a
 * host nor a founder holds more than its part, whatever waits.
 */
export class Room {
  private readonly row = new Turns<Lane>();
  private readonly hosts = new Map<string, Host>();
  private readonly slots: Shares;
  /** Slots that are taken. */
  running = 0;
  /** Turns that were passed over since their founder held its part. */
  skipped = 0;
  private readonly isAllowed = (founderId: string): boolean => {
    const isAllowed = this.slots.admits(founderId);
    if (!isAllowed) this.skipped += 1;
    return isAllowed;
  };

  constructor(
    private readonly size: number,
    private readonly perHost: number,
    /** Its endpoints answer quickly, so that another slot would send more. */
    private readonly isQuick: boolean,
  ) {
    this.slots = new Shares(size, 1);
  }

  /** Puts the lane into the row, or where those wait that go to its host. To be called once until it is taken or leaves. */
  enter(lane: Lane): void {
    const host = this.hosts.get(lane.targetHost) ?? { places: 0, waiting: new Turns<Lane>() };
    this.hosts.set(lane.targetHost, host);
    if (host.places >= this.perHost) return host.waiting.add(lane);
    host.places += 1;
    this.row.add(lane);
  }

  /** Takes the lane out again; `targetHost` is the one with which it entered. */
  leave(lane: Lane, targetHost: string): void {
    if (this.row.delete(lane)) this.release(targetHost);
    else this.hosts.get(targetHost)?.waiting.delete(lane);
  }

  /** The lane whose turn it is: it has a slot now, and has to {@link end} it. Undefined when nobody may have one. */
  next(): Lane | undefined {
    const lane = this.running < this.size ? this.row.take(this.isAllowed) : undefined;
    if (lane === undefined) return undefined;
    this.slots.take(lane.founderId);
    this.running += 1;
    return lane;
  }

  /**
   * Tells whether nothing but a slot is missing. A founder of slow endpoints that holds a slot waits for its own endpoints:
   * otherwise one stranger could have workers added without end.
   */
  lacksSlot(lane: Lane): boolean {
    return this.row.has(lane) && (this.isQuick || !this.slots.holds(lane.founderId));
  }

  /** Gives back what {@link next} gave. */
  end({ founderId }: Lane, targetHost: string): void {
    this.slots.giveBack(founderId);
    this.running -= 1;
    this.release(targetHost);
  }

  /** The place at the host goes to the next one that waits for it. */
  private release(targetHost: string): void {
    const host = this.hosts.get(targetHost);
    if (host === undefined) return;
    const next = host.waiting.take(everyone);
    if (next !== undefined) return this.row.add(next);
    host.places -= 1;
    if (host.places === 0) this.hosts.delete(targetHost);
  }
}
