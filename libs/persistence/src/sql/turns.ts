/** An item of {@link Turns}. It links to the next item of the same owner, so waiting needs no further memory. */
export interface Queued<Row> {
  /** The owner. The rows of one owner keep their order, and owners take turns. */
  readonly whose: string;
  /** Null if the row does not wait, or is the last one of its owner. */
  next: Row | null;
}

interface Lane<Row> {
  readonly whose: string;
  /** Null if none of its rows waits. The lane is then not linked to others. */
  first: Row | null;
  last: Row | null;
  next: Lane<Row> | null;
  /** The number of rows that call `takenIn` of `take` took from it. */
  taken: number;
  takenIn: number;
}

/** The number of idle lanes to keep. Creating and deleting a lane costs more than finding it. */
const MAX_IDLE_LANES = 1_000;

/** A queue of rows whose owners take turns (round robin). The cost per row does not depend on the number of rows or owners. */
export class Turns<Row extends Queued<Row>> {
  private readonly lanes = new Map<string, Lane<Row>>();
  /** The first lane with waiting rows. The lanes are linked in the order of their turns. */
  private first: Lane<Row> | null = null;
  private last: Lane<Row> | null = null;
  private owners = 0;
  private waiting = 0;
  private calls = 0;

  /** The number of rows that wait. */
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
   * Takes up to `most` rows, at most half of them from one owner if others wait too. If `admits` refuses an owner's next row,
   * that owner gets no further turn in this call, and is first in the next call.
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
      // Every owner had as many turns as this one, and no other owner has an admissible row left.
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
      // A link from an old row to younger ones would keep them from being collected.
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
    if (this.lanes.size > MAX_IDLE_LANES) this.lanes.delete(lane.whose);
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
