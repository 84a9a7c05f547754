import { Aligner } from '../json/align';
import { Classes } from '../json/classes';
import { parseStoredJson } from '../json/parse';
import { getAt } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { Attribution, type Cover, isSameCover, type Place } from './attribution';
import { attributesOf, canonicalKeys, isBranch, Leaves } from './leaves';
import { decodeOrigins, encodeOrigins, type LeafOrigin } from './origins';

/** What of the evidence of a version an owner must mend: leaves that are `missing`, leaves that are `carried`. */
export interface EvidenceFlags {
  hasMissing: boolean;
  hasCarried: boolean;
}

/** What is kept of a version, so that nobody has to walk back for it. */
export interface TracedVersion extends EvidenceFlags {
  /** See {@link encodeOrigins}. */
  origins: Uint8Array;
  /** Who made the version, as JSON text ({@link authorOf}). */
  changedBy: string;
  /** Who made its base. */
  baseChangedBy: string;
}

/** A version and the one before it, as they are stored. */
export interface VersionToTrace {
  base: string;
  /** Null: the base is the first version. */
  baseOrigins: Uint8Array | null;
  text: string;
  version: number;
}

/** The {@link TracedVersion} of two stored texts. */
export function traceTexts({ base, baseOrigins, text, version }: VersionToTrace): TracedVersion {
  return traceVersion(parseStoredJson(base), baseOrigins, parseStoredJson(text), version);
}

/** Traces one version back to the one before it. */
export function traceVersion(
  base: JsonValue,
  baseOrigins: Uint8Array | null,
  next: JsonValue,
  version: number,
): TracedVersion {
  const { origins, ...flags } = new Tracer(base, baseOrigins, next, version).trace();
  return { origins: encodeOrigins(origins), ...flags, changedBy: authorOf(next), baseChangedBy: authorOf(base) };
}

/** A leaf whose value is not that of the version before. */
export interface ChangedLeaf {
  /** Its place among the leaves. */
  index: number;
  cover: Cover | null;
  /** What covered it, or would have covered it, in the version before. */
  coverBefore: Cover | null;
}

/** The leaves that a version changed or added. A leaf that only moved with its array element is none of them. */
export function changedLeaves(base: JsonValue, next: JsonValue): ChangedLeaf[] {
  const changed: ChangedLeaf[] = [];
  new Tracer(base, null, next, 2, (leaf) => changed.push(leaf)).trace();
  return changed;
}

/** Whether leaves of a first version are `missing`: nothing else can be wrong with one. Looks at no leaf where all is found. */
export function isEvidenceMissing(envelope: JsonValue): boolean {
  const attribution = new Attribution(envelope);
  if (!attribution.covers.some((cover) => cover.isMissing)) return false;
  const attributes = attributesOf(envelope);
  return isBranch(attributes) && coversMissing(attributes, attribution.root.step('attributes'));
}

function coversMissing(value: JsonValue, place: Place): boolean {
  if (place.isUniform || !isBranch(value)) return place.cover?.isMissing === true;
  if (Array.isArray(value)) return value.some((element, index) => coversMissing(element, place.step(index)));
  return Object.keys(value).some((key) => coversMissing(value[key]!, place.step(key)));
}

/** Longer names are cut: a page of provenance may name a thousand. */
const MAX_AUTHOR = 1024;

/** `audit.created_by` as JSON text, in which every string can be stored; `""` where it is no string. */
export function authorOf(envelope: JsonValue): string {
  const author = getAt(envelope, ['audit', 'created_by']);
  if (typeof author !== 'string') return '""';
  if (author.length <= MAX_AUTHOR) return JSON.stringify(author);
  // Half of a surrogate pair is no character.
  return JSON.stringify(author.slice(0, MAX_AUTHOR - 1).replace(/[\ud800-\udbff]$/, '') + '…');
}

/**
 * Goes through two versions side by side and says of each leaf of the later one from where it comes. Members go together by
 * their keys, elements of arrays as a diff pairs them, and elements that stand elsewhere unchanged have moved. Takes time
 * in proportion to both documents, besides what aligning takes.
 */
class Tracer {
  private readonly aligner = new Aligner(new Classes());
  private readonly classes = new Classes();
  private readonly leaves = new Leaves();
  private readonly before: JsonObject;
  private readonly after: JsonObject;
  private readonly attributionBefore: Attribution;
  private readonly attributionAfter: Attribution;
  private readonly originsBefore: readonly LeafOrigin[];
  private readonly origins: LeafOrigin[] = [];
  private readonly current: LeafOrigin;
  private readonly carried: LeafOrigin;
  private hasMissing = false;
  private hasCarried = false;
  private arraysAround = 0;

  constructor(
    base: JsonValue,
    baseOrigins: Uint8Array | null,
    next: JsonValue,
    version: number,
    private readonly onChanged?: (leaf: ChangedLeaf) => void,
  ) {
    this.before = attributesOf(base);
    this.after = attributesOf(next);
    this.attributionBefore = new Attribution(base);
    this.attributionAfter = new Attribution(next);
    this.originsBefore = decodeOrigins(baseOrigins, this.leaves.countAll(this.before));
    this.current = { sinceVersion: version, isCarried: false };
    this.carried = { sinceVersion: version, isCarried: true };
  }

  trace(): { origins: readonly LeafOrigin[] } & EvidenceFlags {
    const from = this.attributionBefore.root.step('attributes');
    const to = this.attributionAfter.root.step('attributes');
    this.objects(this.before, this.after, 0, from, to);
    const { origins, hasMissing, hasCarried } = this;
    return { origins, hasMissing, hasCarried };
  }

  /** `at` is the place of the first leaf of `before` among all; `from` and `to` are what covers the two. */
  private between(before: JsonValue, after: JsonValue, at: number, from: Place, to: Place): void {
    if (before === after) this.unchanged(after, at, from, to);
    else if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
      if (Array.isArray(before) && Array.isArray(after)) this.arrays(before, after, at, from, to);
      else if (isJsonObject(before) && isJsonObject(after)) this.objects(before, after, at, from, to);
    } else if (isSameEmpty(before, after)) this.unchanged(after, at, from, to);
    else this.changed(after, from, to);
  }

  private objects(before: JsonObject, after: JsonObject, start: number, from: Place, to: Place): void {
    const keysBefore = canonicalKeys(before);
    let at = start;
    let next = 0;
    const skipTo = (key: string): void => {
      for (; next < keysBefore.length && keysBefore[next]! < key; next++)
        at += this.leaves.count(before[keysBefore[next]!]!);
    };
    for (const key of canonicalKeys(after)) {
      skipTo(key);
      const child = after[key]!;
      if (keysBefore[next] === key) this.between(before[key]!, child, at, from.step(key), to.step(key));
      else this.changed(child, from.step(key), to.step(key));
    }
  }

  private arrays(before: JsonValue[], after: JsonValue[], start: number, from: Place, to: Place): void {
    this.arraysAround++;
    const starts: number[] = [];
    let at = start;
    for (const element of before) {
      starts.push(at);
      at += this.leaves.count(element);
    }
    this.pairs(before, after).forEach((pair, index) => {
      const element = after[index]!;
      const place = to.step(index);
      // Whatever stood at an index, it was no evidence for an element that comes there.
      if (pair === null) this.changed(element, from.withoutOwn(), place);
      else if (pair.isSame) this.unchanged(element, starts[pair.index]!, from.step(pair.index), place);
      else this.between(before[pair.index]!, element, starts[pair.index]!, from.step(pair.index), place);
    });
    this.arraysAround--;
  }

  /** For each element the one that it was; null for one that came. */
  private pairs(before: JsonValue[], after: JsonValue[]): readonly Pair[] {
    const pairs: Pair[] = [];
    // Elements that are not where they were, or not what they were, by class.
    const left = new Map<number, { indexes: number[]; taken: number }>();
    const isTaken = new Set<number>();
    const isFound = new Set<number>();
    let fromAt = 0;
    for (const { step, count } of this.aligner.align(before, after, this.arraysAround)) {
      for (let more = count; more > 0; more--) {
        if (step === 'same' || (step === 'keep' && this.isEqual(before[fromAt]!, after[pairs.length]!))) {
          isFound.add(pairs.length);
          pairs.push({ index: fromAt, isSame: true });
        } else {
          if (step !== 'add') {
            const known = this.classes.of(before[fromAt]!);
            const alike = left.get(known);
            if (alike === undefined) left.set(known, { indexes: [fromAt], taken: 0 });
            else alike.indexes.push(fromAt);
          }
          if (step === 'keep') pairs.push({ index: fromAt, isSame: false });
          if (step === 'add') pairs.push(null);
        }
        if (step !== 'add') fromAt++;
      }
    }
    // Of the end that both have, no step tells.
    for (; pairs.length < after.length; fromAt++) {
      isFound.add(pairs.length);
      pairs.push({ index: fromAt, isSame: true });
    }
    if (left.size === 0) return pairs;
    pairs.forEach((_, index) => {
      if (isFound.has(index)) return;
      const alike = left.get(this.classes.of(after[index]!));
      const moved = alike?.indexes[alike.taken];
      if (alike === undefined || moved === undefined) return;
      alike.taken++;
      isTaken.add(moved);
      isFound.add(index);
      pairs[index] = { index: moved, isSame: true };
    });
    const rest = new Set([...left.values()].flatMap(({ indexes, taken }) => indexes.slice(taken)));
    this.pairChanged(before, after, { pairs, rest, isFound, isTaken });
    return pairs.map((pair, index) => (pair !== null && !isFound.has(index) && isTaken.has(pair.index) ? null : pair));
  }

  /**
   * Pairs objects that moved and changed with what they were: the one that shares most members with them, if that is half of
   * their members and more than what stood in their place shares. A member that many share tells nobody apart.
   */
  private pairChanged(before: JsonValue[], after: JsonValue[], { pairs, rest, isFound, isTaken }: Pairing): void {
    const byMember = new Map<string, Map<number, number[]>>();
    for (const index of rest) {
      for (const [key, member] of this.membersOf(before[index]!)) {
        const ofKey = byMember.get(key) ?? new Map<number, number[]>();
        byMember.set(key, ofKey);
        const alike = ofKey.get(member) ?? [];
        ofKey.set(member, alike);
        if (alike.length <= MAX_ALIKE) alike.push(index);
      }
    }
    pairs.forEach((pair, index) => {
      if (isFound.has(index)) return;
      const shared = new Map<number, number>();
      const members = this.membersOf(after[index]!);
      for (const [key, member] of members) {
        const alike = byMember.get(key)?.get(member) ?? [];
        if (alike.length > MAX_ALIKE) continue;
        for (const one of alike) if (rest.has(one)) shared.set(one, (shared.get(one) ?? 0) + 1);
      }
      let [best, most] = [pair?.index, pair === null ? 0 : (shared.get(pair.index) ?? 0)];
      for (const [one, count] of shared) if (count > most && 2 * count >= members.length) [best, most] = [one, count];
      if (best === undefined || !rest.delete(best)) return;
      isFound.add(index);
      if (best === pair?.index) return;
      isTaken.add(best);
      pairs[index] = { index: best, isSame: false };
    });
  }

  /** The members of an object with the classes of their values; none of anything else. */
  private membersOf(value: JsonValue): (readonly [key: string, member: number])[] {
    return isJsonObject(value) ? Object.keys(value).map((key) => [key, this.classes.of(value[key]!)] as const) : [];
  }

  private isEqual(one: JsonValue, other: JsonValue): boolean {
    return one === other || this.classes.of(one) === this.classes.of(other);
  }

  /** The same value as before: it keeps its origin, unless other evidence backs it now. */
  private unchanged(value: JsonValue, start: number, from: Place, to: Place): void {
    let at = start;
    this.visit(value, from, to, (coverBefore, cover, count) => {
      const isSame = isSameCover(coverBefore, cover, this.classes);
      for (let left = count; left > 0; left--) {
        const origin = this.originsBefore[at++]!;
        const kept = isSame || !origin.isCarried ? origin : { sinceVersion: origin.sinceVersion, isCarried: false };
        this.push(kept, cover);
      }
    });
  }

  /** A value that was not there before. */
  private changed(value: JsonValue, from: Place, to: Place): void {
    this.visit(value, from, to, (coverBefore, cover, count) => {
      const isCovered = cover !== null && !cover.isEmpty;
      const origin = isCovered && isSameCover(coverBefore, cover, this.classes) ? this.carried : this.current;
      for (let left = count; left > 0; left--) {
        this.onChanged?.({ index: this.origins.length, cover, coverBefore });
        this.push(origin, cover);
      }
    });
  }

  /** Tells of the leaves in order, of as many at once as have the same two covers. */
  private visit(
    value: JsonValue,
    from: Place,
    to: Place,
    tell: (coverBefore: Cover | null, cover: Cover | null, count: number) => void,
  ): void {
    if ((from.isUniform && to.isUniform) || !isBranch(value)) {
      tell(from.cover, to.cover, this.leaves.count(value));
    } else if (Array.isArray(value)) {
      value.forEach((element, index) => this.visit(element, from.step(index), to.step(index), tell));
    } else {
      for (const key of canonicalKeys(value)) this.visit(value[key]!, from.step(key), to.step(key), tell);
    }
  }

  private push(origin: LeafOrigin, cover: Cover | null): void {
    this.origins.push(origin);
    switch (evidenceStatus(origin, cover)) {
      case 'missing':
        this.hasMissing = true;
        return;
      case 'carried':
        this.hasCarried = true;
        return;
      case 'current':
      case 'none':
        return;
    }
  }
}

/** A value of a member that more elements share tells none of them apart. */
const MAX_ALIKE = 8;

/** How far the elements of an array are paired with those before. */
interface Pairing {
  pairs: Pair[];
  /** Elements before that nothing is known to have become. */
  rest: Set<number>;
  isFound: Set<number>;
  isTaken: Set<number>;
}

/** What an element was: which one of those before, and whether unchanged. */
type Pair = { index: number; isSame: boolean } | null;

function isSameEmpty(one: JsonValue, other: JsonValue): boolean {
  const areContainers = typeof one === 'object' && one !== null && typeof other === 'object' && other !== null;
  return areContainers && !isBranch(one) && !isBranch(other) && Array.isArray(one) === Array.isArray(other);
}

export const EVIDENCE_STATUSES = ['current', 'carried', 'missing', 'none'] as const;
/** How a leaf is backed (docs/provenance.md). */
export type EvidenceStatus = (typeof EVIDENCE_STATUSES)[number];

/** How a leaf of this origin is backed by what covers it. */
export function evidenceStatus({ isCarried }: LeafOrigin, cover: Cover | null): EvidenceStatus {
  if (cover === null || cover.isEmpty) return 'none';
  if (cover.isMissing) return 'missing';
  return isCarried ? 'carried' : 'current';
}
