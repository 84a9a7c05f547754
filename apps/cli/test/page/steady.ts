import { createHash } from 'node:crypto';

/** A little more than a day, because some times are a day in the future. */
const NEAR_MS = 86_460_000;
const TODAY = '2026-02-01T10:00:00';

/**
 * Replaces what differs between runs: ids, hashes and signatures by their order, times of today, and places of this
 * run.
 */
export class Steady {
  private readonly ids = new Map<string, string>();
  private readonly hashes = new Map<string, string>();

  /** `places` are replacements for texts of this run, such as its address. */
  constructor(private readonly places: readonly (readonly [string, string])[]) {}

  text(text: string): string {
    const placed = this.places.reduce((before, [from, to]) => before.replaceAll(from, to), text);
    return (
      placed
        .replace(/(?<![0-9a-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) => this.idOf(id))
        .replace(/\b[0-9a-f]{64}\b/g, (hash) => this.hashOf(hash))
        // The id of an issuing key.
        .replace(/(?<![\w+/-])[\w-]{43}(?![\w+/=-])/g, 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
        .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time, fraction: string | undefined) =>
          Math.abs(Date.parse(time) - Date.now()) < NEAR_MS ? `${TODAY}${(fraction ?? '').replace(/\d/g, '0')}Z` : time,
        )
    );
  }

  private idOf(id: string): string {
    const known = this.ids.get(id) ?? `7d0c51ab-0000-4000-8000-${String(this.ids.size + 1).padStart(12, '0')}`;
    this.ids.set(id, known);
    return known;
  }

  private hashOf(hash: string): string {
    const known = this.hashes.get(hash) ?? createHash('sha256').update(String(this.hashes.size)).digest('hex');
    this.hashes.set(hash, known);
    return known;
  }
}
