import { insertKeys } from '@iss/map';
import { type BackfillMaker, MapBackfillStore } from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { grow } from './grow-tree';
import { MAP_KEYS, type MapKeys, streamsOf } from './map-keys';

/**
 * Switches the map on in a log that already has entries, and gives these entries keys. Only one worker at a time does a
 * step. New facts wait for at most one step.
 */
@Injectable()
export class MapBackfill {
  private readonly maker: BackfillMaker | null;
  private isComplete = false;

  constructor(
    private readonly store: MapBackfillStore,
    @Inject(MAP_KEYS) private readonly keys: MapKeys | null,
  ) {
    this.maker = keys === null ? null : makerOf(keys);
  }

  /** Runs steps for this time. Returns true if more steps can follow immediately. */
  async work(forMs: number, isStopping: () => boolean): Promise<boolean> {
    const { keys, maker } = this;
    if (keys === null || maker === null || this.isComplete) return false;
    const endMs = performance.now() + forMs;
    for (;;) {
      const step = await this.store.step(keys, maker);
      this.isComplete = step === 'complete';
      if (step === 'complete') return true;
      if (step !== 'more' || isStopping()) return false;
      if (performance.now() >= endMs) return true;
    }
  }
}

/** Returns the functions that a step calls. */
function makerOf(keys: MapKeys): BackfillMaker {
  return {
    streamsOf,
    keysOf: (numbers) => keys.keysOf(numbers),
    insert: insertKeys,
    append: async (tree, edge, texts) => grow(tree, edge, Buffer.alloc(0), texts),
  };
}
