import { Shares } from '@iss/platform';

/** Places of a batch that has as many lines in flight as it may. */
const PLACES_PER_BATCH = 256;
/** A line takes a place for each such part of its bytes: 256 of them are 4 MiB. */
const PLACE_BYTES = 16 * 1024;
/** So many a founder may have in any case. */
const OWN_PLACES = 16;

interface Waiting {
  founderId: string;
  places: number;
  resolve: (giveBack: () => void) => void;
}

/**
 * Places for the lines of all batches that are being written. A line holds its places until it is written, and never while
 * its client is waited for. Founders have shares of them; those that wait have their turns in the order in which they came.
 */
export class LinePlaces {
  private readonly size: number;
  private readonly shares: Shares;
  private readonly waiting: Waiting[] = [];

  constructor(batches: number) {
    this.size = PLACES_PER_BATCH * batches;
    this.shares = new Shares(this.size, OWN_PLACES);
  }

  /** Takes the places of a line, at once or when there are some, and gives what gives them back. To be called once. */
  take(founderId: string, bytes: number): (() => void) | Promise<() => void> {
    const places = Math.min(Math.max(1, Math.ceil(bytes / PLACE_BYTES)), this.size / 4);
    const isFirst = this.waiting.every((one) => this.shares.hasFree(one.places));
    if (isFirst && this.shares.admits(founderId, places)) return this.taken(founderId, places);
    return new Promise((resolve) => this.waiting.push({ founderId, places, resolve }));
  }

  private taken(founderId: string, places: number): () => void {
    this.shares.take(founderId, places);
    return () => {
      this.shares.giveBack(founderId, places);
      this.wake();
    };
  }

  private wake(): void {
    let at = 0;
    for (let next = this.waiting[at]; next !== undefined; next = this.waiting[at]) {
      // It was there first, so that none behind it takes what it waits for.
      if (!this.shares.hasFree(next.places)) return;
      if (this.shares.admits(next.founderId, next.places)) {
        this.waiting.splice(at, 1);
        next.resolve(this.taken(next.founderId, next.places));
      } else at += 1;
    }
  }
}
