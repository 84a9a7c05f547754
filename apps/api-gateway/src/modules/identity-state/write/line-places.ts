import { Shares } from '@iss/platform';

/** Places for a batch with the maximum number of lines in flight. */
const PLACES_PER_BATCH = 256;
/** A line takes one place per this number of bytes: 256 places are 4 MiB. */
const PLACE_BYTES = 16 * 1024;
/** Places that a founder gets even if most are taken. */
const OWN_PLACES = 16;

interface Waiting {
  founderId: string;
  places: number;
  resolve: (giveBack: () => void) => void;
}

/**
 * Places for the lines that are being written, for all batches. A line holds its places until it is written, and never
 * while the service waits for its client. Founders have shares of them. Waiting lines are served in order of arrival.
 */
export class LinePlaces {
  private readonly size: number;
  private readonly shares: Shares;
  private readonly waiting: Waiting[] = [];

  constructor(batches: number) {
    this.size = PLACES_PER_BATCH * batches;
    this.shares = new Shares(this.size, OWN_PLACES);
  }

  /**
   * Takes the places of a line, immediately or when enough are free. Returns the function that gives them back; call it
   * once.
   */
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
      // It arrived first, so lines behind it must not take the places for which it waits.
      if (!this.shares.hasFree(next.places)) return;
      if (this.shares.admits(next.founderId, next.places)) {
        this.waiting.splice(at, 1);
        next.resolve(this.taken(next.founderId, next.places));
      } else at += 1;
    }
  }
}
