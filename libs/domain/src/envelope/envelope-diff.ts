import { hashText } from '../chain/seal';
import { align } from '../json/align';
import { canonicalize } from '../json/canonicalize';
import { Classes } from '../json/classes';
import { diff, type DiffOperation } from '../json/diff';
import { parseStoredJson } from '../json/parse';
import { arrayIndex, getAt, getMember, parsePointer, setMember } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { Attribution, type Cover } from '../provenance/attribution';
import { type Covers, coversOf, isOlder, type Places, stepTo } from '../provenance/covers';

/** The parts of an envelope that can be compared; `/` is the whole envelope. */
export const DIFF_ROOTS = ['/', '/attributes', '/subject'] as const;
export type DiffRoot = (typeof DIFF_ROOTS)[number];

/**
 * Specification "Diff result", `change_summary`. `paths_changed` counts a path once even if several operations name it.
 */
export interface ChangeSummary {
  total_ops: number;
  adds: number;
  removes: number;
  replaces: number;
  paths_changed: number;
}

/** The evidence of one changed path before and after. Null if `attribute_paths` does not have exactly this path. */
export interface PathAttribution {
  path: string;
  from: JsonValue;
  to: JsonValue;
  /** Set if the value changed, but neither the references that cover it nor the evidence that they name changed. */
  evidence_unchanged?: true;
  /**
   * The paths whose references cover the value, if they are not this path: an enclosing path, or the previous path of
   * its array element.
   */
  inherited?: { from: string | null; to: string | null };
}

/** The attribution of a diff. */
export interface DiffAttribution {
  attribution: PathAttribution[];
  /** The references of each path in `inherited`. Absent if there is none. */
  inherited_evidence?: { from: JsonObject; to: JsonObject };
}

/**
 * Computes the JSON Patch that turns one envelope into the other within the included roots (specification, "Diff
 * result", `ops`). Applied to {@link withinRoots} of `from`, it gives {@link withinRoots} of `to`, byte for byte in
 * canonical form. Applied to `from`, it changes nothing outside these roots. Paths are JSON Pointers into the envelope.
 * A patch that would be too long is coarser, as described at {@link diff}.
 */
export function diffEnvelopes(from: JsonValue, to: JsonValue, include: readonly DiffRoot[]): DiffOperation[] {
  const operations = diff(withinRoots(from, include), withinRoots(to, include));
  if (operations[0]?.path !== '' || include.includes('/')) return operations;
  // A replacement of the whole envelope would also remove the roots that are not included.
  return DIFF_ROOTS.filter((root) => include.includes(root)).flatMap((root) => replaceRoot(from, to, root));
}

function replaceRoot(from: JsonValue, to: JsonValue, path: DiffRoot): DiffOperation[] {
  const before = getMember(from, path.slice(1));
  const value = getMember(to, path.slice(1));
  if (value === undefined) return before === undefined ? [] : [{ op: 'remove', path }];
  if (before === undefined) return [{ op: 'add', path, value }];
  return canonicalize(before) === canonicalize(value) ? [] : [{ op: 'replace', path, value }];
}

/** Returns the envelope with only the included roots that it has, or the envelope itself if `/` is included. */
export function withinRoots(envelope: JsonValue, include: readonly DiffRoot[]): JsonValue {
  if (include.includes('/')) return envelope;
  const restricted: JsonObject = {};
  for (const root of include) {
    const name = root.slice(1);
    const value = getMember(envelope, name);
    if (value !== undefined) setMember(restricted, name, value);
  }
  return restricted;
}

/** Returns the distinct paths of the operations, sorted by their UTF-16 code units. */
export function operationPaths(operations: readonly DiffOperation[]): string[] {
  return [...new Set(operations.map((operation) => operation.path))].sort();
}

/** Counts the operations of a diff by kind (specification, "Diff result", `change_summary`). */
export function summarizeChanges(operations: readonly DiffOperation[]): ChangeSummary {
  const summary: ChangeSummary = { total_ops: operations.length, adds: 0, removes: 0, replaces: 0, paths_changed: 0 };
  for (const { op } of operations) summary[COUNTS[op]]++;
  return { ...summary, paths_changed: new Set(operations.map(({ path }) => path)).size };
}

const COUNTS = { add: 'adds', remove: 'removes', replace: 'replaces' } as const;

/**
 * Returns the attribution of each changed path (specification, "Diff", `attribution`): the references of exactly this
 * path in both envelopes, the other paths that cover it, and whether the nearest references and their evidence stayed
 * the same. An array element is compared with its counterpart in the earlier envelope, as in provenance.
 */
export function attributeChanges(paths: readonly string[], from: JsonValue, to: JsonValue): DiffAttribution {
  const evidenceFrom = evidenceIn(from);
  const evidenceTo = evidenceIn(to);
  const classes = new Classes();
  const counterparts = new Counterparts(from, to, classes);
  const inheritedEvidence: Required<DiffAttribution>['inherited_evidence'] = { from: {}, to: {} };
  let hasInherited = false;
  const attribution = paths.map((path): PathAttribution => {
    const tokens = parsePointer(path);
    const covers = counterparts.coversAt(tokens);
    const inheritedFrom = (side: 'from' | 'to', cover: Cover | null): string | null => {
      if (cover === null || cover.isEmpty || cover.path === path) return null;
      hasInherited = true;
      inheritedEvidence[side][cover.path] ??= cover.references.map(({ reference }) => reference);
      return cover.path;
    };
    const inherited = { from: inheritedFrom('from', covers.coverBefore), to: inheritedFrom('to', covers.cover) };
    const isUnchanged = getAt(to, tokens) !== undefined && isOlder(covers, classes);
    return {
      path,
      from: evidenceFrom(path),
      to: evidenceTo(path),
      ...(isUnchanged ? { evidence_unchanged: true } : {}),
      ...(inherited.from === null && inherited.to === null ? {} : { inherited }),
    };
  });
  return hasInherited ? { attribution, inherited_evidence: inheritedEvidence } : { attribution };
}

/** Finds the references that cover a place in an envelope, and those that covered the same value in an earlier one. */
class Counterparts {
  private readonly alignments = new Map<JsonValue, readonly number[]>();
  private readonly root: Places;

  constructor(
    private readonly before: JsonValue,
    private readonly after: JsonValue,
    private readonly classes: Classes,
  ) {
    const { root } = new Attribution(before);
    this.root = { from: root, there: root, to: new Attribution(after).root };
  }

  coversAt(tokens: readonly string[]): Covers {
    let places = this.root;
    let before: JsonValue | undefined = this.before;
    let after: JsonValue | undefined = this.after;
    let level = 0;
    for (const token of tokens) {
      const next = stepTo(places, token);
      if (Array.isArray(before) && Array.isArray(after)) {
        level++;
        const index: number = this.elementsOf(before, after, level)[arrayIndex(token, after.length)] ?? -1;
        next.from = index < 0 ? places.from.withoutOwn() : places.from.step(index);
        before = before[index];
      } else before = before === undefined ? undefined : getMember(before, token);
      after = after === undefined ? undefined : getMember(after, token);
      places = next;
    }
    return coversOf(places);
  }

  private elementsOf(before: JsonValue[], after: JsonValue[], level: number): readonly number[] {
    let was = this.alignments.get(after);
    if (was === undefined) {
      was = align(before, after, level, this.classes).was;
      this.alignments.set(after, was);
    }
    return was;
  }
}

/** Returns a function that looks up the references of exactly one path in `attribute_paths`; null without an entry. */
function evidenceIn(envelope: JsonValue): (path: string) => JsonValue {
  const evidence = getMember(envelope, 'attribute_paths');
  return (path) => (isJsonObject(evidence) ? (getMember(evidence, path) ?? null) : null);
}

/** Two stored envelopes and the options of their diff. */
export interface DiffOfTexts {
  from: string;
  to: string;
  include: readonly DiffRoot[];
  withAttribution: boolean;
}

/** A diff as it is returned. */
export interface EnvelopeDiff {
  /** The operations as RFC 8785 text. */
  opsText: string;
  /** The SHA-256 of `opsText`. */
  opsHash: string;
  summary: ChangeSummary;
  /**
   * The members of {@link attributeChanges} as JSON text, without the outer braces. Null if they were not requested.
   */
  attributionText: string | null;
}

/** Computes the diff of two stored envelopes. */
export function diffTexts({ from: fromText, to: toText, include, withAttribution }: DiffOfTexts): EnvelopeDiff {
  const from = parseStoredJson(fromText);
  const to = parseStoredJson(toText);
  const operations = diffEnvelopes(from, to, include);
  const opsText = canonicalize(operations);
  return {
    opsText,
    opsHash: hashText(opsText),
    summary: summarizeChanges(operations),
    attributionText: withAttribution
      ? JSON.stringify(attributeChanges(operationPaths(operations), from, to)).slice(1, -1)
      : null,
  };
}
