import { Classes } from '../json/classes';
import { align } from '../json/align';
import { parseStoredJson } from '../json/parse';
import { getAt } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { Attribution, type Cover, isSameCover, type Place } from './attribution';
import { type Covers, coversOf, isOlder, type Places, stepTo } from './covers';
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

/** Hears of each change for which evidence may be demanded. A leaf is named by its place among the leaves. */
export interface ChangeListener {
  /** A leaf was changed or added. A leaf that only moved with its array element was not. */
  changed(leaf: number, covers: Covers): void;
  /** The element of an unchanged leaf moved without its evidence: what covers the leaf is what covered its new place. */
  shifted(leaf: number, covers: Covers): void;
  /** An object or array lost a value. The listener must not keep `tokens`. */
  reduced(tokens: readonly (string | number)[], covers: Covers): void;
}

/** Tells a listener what a version changed. */
export function traceChanges(base: JsonValue, next: JsonValue, listener: ChangeListener): void {
  new Tracer(base, null, next, 2, listener).trace();
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
  private readonly tokens: (string | number)[] = ['attributes'];

  constructor(
    base: JsonValue,
    baseOrigins: Uint8Array | null,
    next: JsonValue,
    version: number,
    private readonly listener?: ChangeListener,
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
    this.objects(this.before, this.after, 0, { from, there: from, to });
    const { origins, hasMissing, hasCarried } = this;
    return { origins, hasMissing, hasCarried };
  }

  /** `at` is the place of the first leaf of `before` among all. */
  private between(before: JsonValue, after: JsonValue, at: number, key: string | number, places: Places): void {
    if (before === after || isSameEmpty(before, after)) this.unchanged(after, at, places);
    else if (!areAlike(before, after)) this.changed(after, places);
    else {
      this.tokens.push(key);
      if (Array.isArray(before) && Array.isArray(after)) this.arrays(before, after, at, places);
      else if (isJsonObject(before) && isJsonObject(after)) this.objects(before, after, at, places);
      this.tokens.pop();
    }
  }

  private objects(before: JsonObject, after: JsonObject, start: number, places: Places): void {
    const keysBefore = canonicalKeys(before);
    let at = start;
    let next = 0;
    let kept = 0;
    const skipTo = (key: string): void => {
      for (; next < keysBefore.length && keysBefore[next]! < key; next++)
        at += this.leaves.count(before[keysBefore[next]!]!);
    };
    for (const key of canonicalKeys(after)) {
      skipTo(key);
      const child = after[key]!;
      if (keysBefore[next] === key) {
        kept++;
        this.between(before[key]!, child, at, key, stepTo(places, key));
      } else this.changed(child, stepTo(places, key));
    }
    if (kept < keysBefore.length) this.reduced(places);
  }

  private arrays(before: JsonValue[], after: JsonValue[], start: number, { from, there, to }: Places): void {
    this.arraysAround++;
    const starts: number[] = [];
    let at = start;
    for (const element of before) {
      starts.push(at);
      at += this.leaves.count(element);
    }
    const { was, isSame } = align(before, after, this.arraysAround, this.classes);
    after.forEach((element, index) => {
      const indexBefore = was[index]!;
      // What stood at an index was no evidence for an element that comes there.
      const places = {
        from: indexBefore < 0 ? from.withoutOwn() : from.step(indexBefore),
        there: there.step(index),
        to: to.step(index),
      };
      if (indexBefore < 0) this.changed(element, places);
      else if (isSame[index]) this.unchanged(element, starts[indexBefore]!, places);
      else this.between(before[indexBefore]!, element, starts[indexBefore]!, index, places);
    });
    const kept = was.filter((index) => index >= 0).length;
    this.arraysAround--;
    if (kept < before.length) this.reduced({ from, there, to });
  }

  /** The same value as before: it keeps its origin, unless other evidence backs it now. */
  private unchanged(value: JsonValue, start: number, places: Places): void {
    let at = start;
    this.visit(value, places, (covers, count) => {
      const { cover, coverBefore, coverThere } = covers;
      const isSame = isSameCover(coverBefore, cover, this.classes);
      const isShifted = !isSame && isSameCover(coverThere, cover, this.classes);
      for (let left = count; left > 0; left--) {
        const origin = this.originsBefore[at++]!;
        if (isShifted) this.listener?.shifted(this.origins.length, covers);
        const { sinceVersion, isCarried } = origin;
        this.push(isSame || isCarried === isShifted ? origin : { sinceVersion, isCarried: isShifted }, cover);
      }
    });
  }

  /** A value that was not there before. */
  private changed(value: JsonValue, places: Places): void {
    this.visit(value, places, (covers, count) => {
      const origin = isOlder(covers, this.classes) ? this.carried : this.current;
      for (let left = count; left > 0; left--) {
        this.listener?.changed(this.origins.length, covers);
        this.push(origin, covers.cover);
      }
    });
  }

  /** An object or array that lost a value. */
  private reduced(places: Places): void {
    this.listener?.reduced(this.tokens, coversOf(places));
  }

  /** Tells of the leaves in order, of as many at once as have the same covers. */
  private visit(value: JsonValue, places: Places, tell: (covers: Covers, count: number) => void): void {
    const { from, there, to } = places;
    if ((from.isUniform && there.isUniform && to.isUniform) || !isBranch(value)) {
      tell(coversOf(places), this.leaves.count(value));
    } else if (Array.isArray(value)) {
      value.forEach((element, index) => this.visit(element, stepTo(places, index), tell));
    } else {
      for (const key of canonicalKeys(value)) this.visit(value[key]!, stepTo(places, key), tell);
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

/** Whether both are objects, or both arrays, with something in them. */
function areAlike(one: JsonValue, other: JsonValue): boolean {
  return isBranch(one) && isBranch(other) && Array.isArray(one) === Array.isArray(other);
}

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
