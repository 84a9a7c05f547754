/** What {@link Turns} holds: it is linked to the next one of the same owner, so that waiting takes no further memory. */
export interface Queued<Row> {
  /** Whose it is: rows of one owner come in their order, owners in turns. */
  readonly whose: string;
  /** Null wherever it does not wait. */
  next: Row | null;
}

interface Lane<Row> {
  readonly whose: string;
  /** Null while none of its rows waits: it is not linked to others then. */
  first: Row | null;
  last: Row | null;
  next: Lane<Row> | null;
  /** Rows taken of it in the call of `take` with this number. */
  taken: number;
  takenIn: number;
}

/** Owners that are remembered while none of their rows waits: to make and forget one costs more than to find it. */
const KEPT = 1_000;

/**
 * Rows that wait, of several owners who take turns (round robin). Each row costs the same, however many wait and whosever
 * they are.
 */
export class Turns<Row extends Queued<Row>> {
  private readonly lanes = new Map<string, Lane<Row>>();
  /** The lanes in which rows wait, in the order of their turns. */
  private first: Lane<Row> | null = null;
  private last: Lane<Row> | null = null;
  private owners = 0;
  private waiting = 0;
  private calls = 0;

  /** How many rows wait. */
  get size(): number {
    return this.waiting;
  }

  push(row: Row): void {
    this.waiting += 1;
    let lane = this.lanes.get(row.whose);
    if (lane === undefined) {
      lane = { whose: row.whose, first: null, last: null, next: null, taken: 0, takenIn: 0 };
      this.lanes.set(row.whose, lane);
    }
    if (lane.last === null) {
      lane.first = row;
      this.owners += 1;
      this.append(lane);
    } else {
      lane.last.next = row;
    }
    lane.last = row;
  }

  /**
   * Takes up to `most` rows, of one owner at most half of them if others wait too. An owner whose next row `admits` refuses
   * gives no more this time, and is the first whose turn it is the next time.
   */
  take(most: number, admits: (row: Row) => boolean): Row[] {
    const taken: Row[] = [];
    const mostOfOne = this.owners > 1 ? Math.ceil(most / 2) : most;
    this.calls += 1;
    let refused: Lane<Row>[] | undefined;
    for (let lane = this.first; lane !== null && taken.length < most; lane = this.first) {
      if (lane.takenIn !== this.calls) {
        lane.takenIn = this.calls;
        lane.taken = 0;
      }
      // All had as many turns: nobody else has a row left that may be taken.
      if (lane.taken === mostOfOne) break;
      this.first = lane.next;
      if (this.first === null) this.last = null;
      lane.next = null;
      const row = lane.first;
      if (row === null) continue;
      if (!admits(row)) {
        (refused ??= []).push(lane);
        continue;
      }
      taken.push(row);
      lane.taken += 1;
      lane.first = row.next;
      // An old row that was linked to younger ones would keep them from being collected.
      row.next = null;
      if (lane.first === null) this.end(lane);
      else this.append(lane);
    }
    this.waiting -= taken.length;
    if (refused !== undefined) this.prepend(refused);
    return taken;
  }

  private end(lane: Lane<Row>): void {
    lane.last = null;
    this.owners -= 1;
    if (this.lanes.size > KEPT) this.lanes.delete(lane.whose);
  }

  private append(lane: Lane<Row>): void {
    if (this.last === null) this.first = lane;
    else this.last.next = lane;
    this.last = lane;
  }

  private prepend(lanes: readonly Lane<Row>[]): void {
    for (const lane of lanes.toReversed()) {
      lane.next = this.first;
      this.first = lane;
      this.last ??= lane;
    }
  }
}
