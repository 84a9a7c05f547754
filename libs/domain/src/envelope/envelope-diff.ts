import { hashText } from '../chain/seal';
import { canonicalize } from '../json/canonicalize';
import { Classes } from '../json/classes';
import { diff, type DiffOperation } from '../json/diff';
import { parseStoredJson } from '../json/parse';
import { getAt, getMember, parsePointer, setMember } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { Attribution, isSameCover } from '../provenance/attribution';

/** What of an envelope a diff may look at; `/` is all of it. */
export const DIFF_ROOTS = ['/', '/attributes', '/subject'] as const;
export type DiffRoot = (typeof DIFF_ROOTS)[number];

/** Specification "Diff result", `change_summary`. A path that several operations name is one path. */
export interface ChangeSummary {
  total_ops: number;
  adds: number;
  removes: number;
  replaces: number;
  paths_changed: number;
}

/** The evidence that stands for one changed path before and after; null where `attribute_paths` does not name it. */
export interface PathAttribution {
  path: string;
  from: JsonValue;
  to: JsonValue;
  /** There where the value changed, and neither the references that cover it nor the items that they name did. */
  evidence_unchanged?: true;
}

/**
 * The JSON Patch that turns one envelope into the other within the included roots: applied to {@link withinRoots} of
 * `from` it gives that of `to`, in canonical form byte for byte; applied to `from` it touches nothing else. Paths are JSON
 * Pointers into the envelope. Coarser where it would be too long, as {@link diff} says. Specification "Diff result", `ops`.
 */
export function diffEnvelopes(from: JsonValue, to: JsonValue, include: readonly DiffRoot[]): DiffOperation[] {
  const operations = diff(withinRoots(from, include), withinRoots(to, include));
  if (operations[0]?.path !== '' || include.includes('/')) return operations;
  // The roots that are not included would go with the whole.
  return DIFF_ROOTS.filter((root) => include.includes(root)).flatMap((root) => replaceRoot(from, to, root));
}

function replaceRoot(from: JsonValue, to: JsonValue, path: DiffRoot): DiffOperation[] {
  const before = getMember(from, path.slice(1));
  const value = getMember(to, path.slice(1));
  if (value === undefined) return before === undefined ? [] : [{ op: 'remove', path }];
  if (before === undefined) return [{ op: 'add', path, value }];
  return canonicalize(before) === canonicalize(value) ? [] : [{ op: 'replace', path, value }];
}

/** The envelope with only the included roots that it has; the envelope itself when `/` is among them. */
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

/** The distinct paths that the operations name, in the order of their UTF-16 code units. */
export function changedPaths(operations: readonly DiffOperation[]): string[] {
  return [...new Set(operations.map((operation) => operation.path))].sort();
}

/** The figures of a diff. Specification "Diff result", `change_summary`. */
export function summarizeChanges(operations: readonly DiffOperation[]): ChangeSummary {
  const summary: ChangeSummary = { total_ops: operations.length, adds: 0, removes: 0, replaces: 0, paths_changed: 0 };
  for (const { op } of operations) summary[COUNTS[op]]++;
  return { ...summary, paths_changed: new Set(operations.map(({ path }) => path)).size };
}

const COUNTS = { add: 'adds', remove: 'removes', replace: 'replaces' } as const;

/**
 * For each changed path, what the `attribute_paths` of the two envelopes say of exactly that path, and whether what covers
 * it stayed the same: the nearest references at it or around it, with the items that they name. Specification "Diff",
 * `attribution`.
 */
export function attributeChanges(paths: readonly string[], from: JsonValue, to: JsonValue): PathAttribution[] {
  const evidenceFrom = evidenceIn(from);
  const evidenceTo = evidenceIn(to);
  const rootFrom = new Attribution(from).root;
  const rootTo = new Attribution(to).root;
  const classes = new Classes();
  return paths.map((path) => {
    const attribution = { path, from: evidenceFrom(path), to: evidenceTo(path) };
    const tokens = parsePointer(path);
    const cover = rootTo.at(tokens).cover;
    const isCovered = cover !== null && !cover.isEmpty && getAt(to, tokens) !== undefined;
    const isUnchanged = isCovered && isSameCover(rootFrom.at(tokens).cover, cover, classes);
    return isUnchanged ? { ...attribution, evidence_unchanged: true } : attribution;
  });
}

/** What `attribute_paths` says of exactly a path; null where it says nothing. */
function evidenceIn(envelope: JsonValue): (path: string) => JsonValue {
  const evidence = getMember(envelope, 'attribute_paths');
  return (path) => (isJsonObject(evidence) ? (getMember(evidence, path) ?? null) : null);
}

/** Two stored envelopes, and what of their diff is asked for. */
export interface DiffOfTexts {
  from: string;
  to: string;
  include: readonly DiffRoot[];
  withAttribution: boolean;
}

/** A diff as it is answered. */
export interface EnvelopeDiff {
  /** The operations as RFC 8785 text. */
  opsText: string;
  /** The SHA-256 of that. */
  opsHash: string;
  summary: ChangeSummary;
  /** {@link attributeChanges} as JSON text; null where it is not asked for. */
  attributionText: string | null;
}

/** The diff of two stored envelopes. */
export function diffTexts({ from: fromText, to: toText, include, withAttribution }: DiffOfTexts): EnvelopeDiff {
  const from = parseStoredJson(fromText);
  const to = parseStoredJson(toText);
  const operations = diffEnvelopes(from, to, include);
  const opsText = canonicalize(operations);
  return {
    opsText,
    opsHash: hashText(opsText),
    summary: summarizeChanges(operations),
    attributionText: withAttribution ? JSON.stringify(attributeChanges(changedPaths(operations), from, to)) : null,
  };
}
