import { Classes } from '../json/classes';
import { align } from '../json/align';
import { parseStoredJson } from '../json/parse';
import { getAt } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { Attribution, type Cover, isSameCover, type AttributedPlace } from './attribution';
import { changesBetween } from './changed-paths';
import { type Covers, coversOf, isOlder, type Places, stepTo } from './covers';
import { attributesOf, canonicalKeys, isBranch, Leaves } from './leaves';
import { decodeOrigins, encodeOrigins, type LeafOrigin } from './origins';

/** Says whether any leaf of a version is `missing` or `carried`, which its owner should fix. */
export interface EvidenceFlags {
  hasMissing: boolean;
  hasCarried: boolean;
}

/** The provenance that is stored with a version, so that readers need not walk back. */
export interface TracedVersion extends EvidenceFlags {
  /** See {@link encodeOrigins}. */
  origins: Uint8Array;
  /** The author of the version, as JSON text ({@link authorOf}). */
  changedBy: string;
  /** The author of its base. */
  baseChangedBy: string;
  /** See {@link changesBetween}. */
  changedPaths: readonly string[];
}

/** A stored version and the previous one. */
export interface VersionToTrace {
  base: string;
  /** Null if the base is the first version. */
  baseOrigins: Uint8Array | null;
  text: string;
  version: number;
}

/** Computes the provenance of a version from the stored texts. */
export function traceTexts({ base, baseOrigins, text, version }: VersionToTrace): TracedVersion {
  return traceVersion(parseStoredJson(base), baseOrigins, parseStoredJson(text), version);
}

/** Computes the provenance of a version from its base. */
export function traceVersion(
  base: JsonValue,
  baseOrigins: Uint8Array | null,
  next: JsonValue,
  version: number,
): TracedVersion {
  const { origins, ...flags } = new Tracer(base, baseOrigins, next, version).trace();
  return {
    origins: encodeOrigins(origins),
    ...flags,
    changedBy: authorOf(next),
    baseChangedBy: authorOf(base),
    changedPaths: changesBetween(base, next),
  };
}

/** Receives each change for which evidence may be required. `leaf` is an index among all leaves. */
export interface ChangeListener {
  /** A leaf was changed or added. A leaf that only moved with its array element is not reported. */
  changed(leaf: number, covers: Covers): void;
  /**
   * An unchanged leaf moved with its array element, but its evidence did not: it now has the cover of its new place.
   */
  shifted(leaf: number, covers: Covers): void;
  /** An object or array lost a value. The listener must not keep `tokens`. */
  reduced(tokens: readonly (string | number)[], covers: Covers): void;
}

/** Reports the changes of a version to a listener. */
export function traceChanges(base: JsonValue, next: JsonValue, listener: ChangeListener): void {
  new Tracer(base, null, next, 2, listener).trace();
}

/**
 * Checks whether a leaf of a first version is `missing`, which is the only problem that it can have. Reads no leaf if
 * all evidence exists.
 */
export function isEvidenceMissing(envelope: JsonValue): boolean {
  const attribution = new Attribution(envelope);
  if (!attribution.covers.some((cover) => cover.isMissing)) return false;
  const attributes = attributesOf(envelope);
  return isBranch(attributes) && coversMissing(attributes, attribution.root.step('attributes'));
}

function coversMissing(value: JsonValue, place: AttributedPlace): boolean {
  if (place.isUniform || !isBranch(value)) return place.cover?.isMissing === true;
  if (Array.isArray(value)) return value.some((element, index) => coversMissing(element, place.step(index)));
  return Object.keys(value).some((key) => coversMissing(value[key]!, place.step(key)));
}

/** Longer names are cut, because a page of provenance may contain a thousand. */
const MAX_AUTHOR = 1024;

/**
 * Returns `audit.created_by` as JSON text, because any string can be stored in this form. Returns `""` if it is not a
 * string.
 */
export function authorOf(envelope: JsonValue): string {
  const author = getAt(envelope, ['audit', 'created_by']);
  if (typeof author !== 'string') return '""';
  if (author.length <= MAX_AUTHOR) return JSON.stringify(author);
  // Do not cut a surrogate pair in half.
  return JSON.stringify(author.slice(0, MAX_AUTHOR - 1).replace(/[\ud800-\udbff]$/, '') + '…');
}

/**
 * Compares two versions and determines the origin of each leaf in the later one. Members are matched by key, and array
 * elements as in a diff. Equal elements at another index have moved. Takes linear time, in addition to the alignment of
 * arrays.
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

  /** `at` is the index of the first leaf of `before` among all leaves. */
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
      // Evidence at an index does not apply to a new element at that index.
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

  /** Handles an unchanged value: it keeps its origin, unless its evidence changed. */
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

  /** Handles a new or changed value. */
  private changed(value: JsonValue, places: Places): void {
    this.visit(value, places, (covers, count) => {
      const origin = isOlder(covers, this.classes) ? this.carried : this.current;
      for (let left = count; left > 0; left--) {
        this.listener?.changed(this.origins.length, covers);
        this.push(origin, covers.cover);
      }
    });
  }

  /** Handles an object or array that lost a value. */
  private reduced(places: Places): void {
    this.listener?.reduced(this.tokens, coversOf(places));
  }

  /** Visits the leaves in order, grouping those with the same covers. */
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
      case 'revoked':
        return;
    }
  }
}

/** Checks whether both are objects, or both arrays, and neither is empty. */
function areAlike(one: JsonValue, other: JsonValue): boolean {
  return isBranch(one) && isBranch(other) && Array.isArray(one) === Array.isArray(other);
}

function isSameEmpty(one: JsonValue, other: JsonValue): boolean {
  const areContainers = typeof one === 'object' && one !== null && typeof other === 'object' && other !== null;
  return areContainers && !isBranch(one) && !isBranch(other) && Array.isArray(one) === Array.isArray(other);
}

export const EVIDENCE_STATUSES = ['current', 'carried', 'missing', 'none', 'revoked'] as const;
/** The state of a leaf's evidence (docs/provenance.md). */
export type EvidenceStatus = (typeof EVIDENCE_STATUSES)[number];

/** Returns the status of a leaf from its origin and cover. */
export function evidenceStatus({ isCarried }: LeafOrigin, cover: Cover | null): EvidenceStatus {
  if (cover === null || cover.isEmpty) return 'none';
  if (cover.isMissing) return 'missing';
  return isCarried ? 'carried' : 'current';
}
