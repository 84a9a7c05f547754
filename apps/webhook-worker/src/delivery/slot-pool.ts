import { Shares } from '@iss/platform';
import type { Lane } from './lane';
import { LaneTurns } from './turns';

/** The lanes of one target host. Only a limited number run at once; the others wait. */
interface Host {
  /** The number of its lanes in the row plus its running attempts. */
  places: number;
  readonly waiting: LaneTurns<Lane>;
}

const everyone = (): boolean => true;

/**
 * The slots for endpoints of one kind. A lane first takes a place at its host, and then waits for its turn to get a
 * slot. So neither a host nor a founder exceeds its part, whatever else waits.
 */
export class SlotPool {
  private readonly row = new LaneTurns<Lane>();
  private readonly hosts = new Map<string, Host>();
  private readonly slots: Shares;
  /** The number of slots in use. */
  running = 0;
  /** The number of turns that were skipped because a founder held its share. */
  skipped = 0;
  private readonly isAllowed = (founderId: string): boolean => {
    const isAllowed = this.slots.admits(founderId);
    if (!isAllowed) this.skipped += 1;
    return isAllowed;
  };

  constructor(
    private readonly size: number,
    private readonly perHost: number,
    /** True if its endpoints answer quickly, so that another slot would send more. */
    private readonly isQuick: boolean,
  ) {
    this.slots = new Shares(size, 1);
  }

  /**
   * Adds the lane to the row, or to the lanes that wait for its host. Call it once until the lane is taken or leaves.
   */
  enter(lane: Lane): void {
    const host = this.hosts.get(lane.targetHost) ?? { places: 0, waiting: new LaneTurns<Lane>() };
    this.hosts.set(lane.targetHost, host);
    if (host.places >= this.perHost) return host.waiting.add(lane);
    host.places += 1;
    this.row.add(lane);
  }

  /** Removes the lane. `targetHost` is the host with which it entered. */
  leave(lane: Lane, targetHost: string): void {
    if (this.row.delete(lane)) this.release(targetHost);
    else this.hosts.get(targetHost)?.waiting.delete(lane);
  }

  /**
   * Returns the lane whose turn it is. The lane then holds a slot until {@link end}. Returns undefined if no lane may
   * have a slot.
   */
  next(): Lane | undefined {
    const lane = this.running < this.size ? this.row.take(this.isAllowed) : undefined;
    if (lane === undefined) return undefined;
    this.slots.take(lane.founderId);
    this.running += 1;
    return lane;
  }

  /**
   * Returns whether the lane lacks only a slot. A founder of slow endpoints that already holds a slot waits for its own
   * endpoints: otherwise a single founder could cause workers to be added without limit.
   */
  lacksSlot(lane: Lane): boolean {
    return this.row.has(lane) && (this.isQuick || !this.slots.holds(lane.founderId));
  }

  /** Gives back the slot from {@link next}. */
  end({ founderId }: Lane, targetHost: string): void {
    this.slots.giveBack(founderId);
    this.running -= 1;
    this.release(targetHost);
  }

  /** Passes the place at the host to the next waiting lane. */
  private release(targetHost: string): void {
    const host = this.hosts.get(targetHost);
    if (host === undefined) return;
    const next = host.waiting.take(everyone);
    if (next !== undefined) return this.row.add(next);
    host.places -= 1;
    if (host.places === 0) this.hosts.delete(targetHost);
  }
}
