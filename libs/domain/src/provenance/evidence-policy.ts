import { DomainError, type ErrorDetail } from '../errors';
import { Classes } from '../json/classes';
import { MAX_PROBLEMS } from '../limits';
import { parseStoredJson } from '../json/parse';
import { formatPointer, getAt, getMember, parsePointer } from '../json/pointer';
import type { JsonValue } from '../json/value';
import { Attribution, type Cover, unreferencedItems } from './attribution';
import { attributesOf, pathsOfLeaves } from './leaves';
import type { Covers } from './covers';
import { traceChanges } from './trace';

export const EVIDENCE_POLICIES = ['open', 'resolved', 'fresh'] as const;
/** A tenant's requirements for the evidence in its versions (docs/provenance.md). */
export type EvidencePolicy = (typeof EVIDENCE_POLICIES)[number];

/** A stored envelope to check against a policy, and the previous version. */
export interface TextToHold {
  policy: EvidencePolicy;
  /** Null if `text` is the first version. */
  base: string | null;
  text: string;
}

/** Throws `validation_error` that names each place where the envelope violates the policy. */
export function holdToPolicy({ policy, base, text }: TextToHold): void {
  const problems = policyProblems(policy, base === null ? null : parseStoredJson(base), parseStoredJson(text));
  if (problems.length > 0) throw againstPolicy(policy, problems);
}

export function againstPolicy(policy: EvidencePolicy, problems: readonly ErrorDetail[]): DomainError {
  const message = `The evidence does not meet the tenant's evidence_policy (${policy}). Correct each place that details names.`;
  return new DomainError('validation_error', message, problems);
}

/**
 * Returns the first 100 problems of an envelope under a policy, with pointers into the envelope.
 *
 * - `open` accepts everything.
 * - `resolved` requires that every path in `attribute_paths` exists and every reference names existing evidence.
 * - `fresh` also requires new evidence for each changed or added leaf, and for each object or array that lost a value:
 *   evidence that the previous version did not have, or a new reference with the role `corroborating`. A leaf that
 *   moved must not be covered by the evidence of the value that was at its path before. New evidence without a
 *   reference is reported in addition.
 */
export function policyProblems(policy: EvidencePolicy, base: JsonValue | null, next: JsonValue): ErrorDetail[] {
  switch (policy) {
    case 'open':
      return [];
    case 'resolved':
      return unresolvedProblems(next).slice(0, MAX_PROBLEMS);
    case 'fresh':
      return [...unresolvedProblems(next), ...staleProblems(base, next)].slice(0, MAX_PROBLEMS);
  }
}

function unresolvedProblems(envelope: JsonValue): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  for (const { path, references } of new Attribution(envelope).covers) {
    const at = formatPointer(['attribute_paths', path]);
    if (getAt(envelope, parsePointer(path)) === undefined) {
      problems.push({ path: at, message: 'names a path that does not exist in the envelope', code: 'unknown_path' });
    }
    references.forEach(({ item }, index) => {
      if (item !== null) return;
      const message = 'names evidence that does not exist in the envelope';
      problems.push({ path: `${at}/${index}`, message, code: 'unknown_evidence' });
    });
  }
  return problems;
}

/** The problem of a value under `fresh`, and how to solve it. */
const LACKS = {
  changed: { message: 'has a new value without new evidence for it', code: 'no_fresh_evidence' },
  shifted: {
    message: 'moved in its array without its evidence: move its path in attribute_paths too',
    code: 'shifted_evidence',
  },
  reduced: {
    message:
      'lost a value without new evidence: in attribute_paths, name new evidence for this path or for a path above it',
    code: 'no_fresh_evidence',
  },
};

function staleProblems(base: JsonValue | null, next: JsonValue): ErrorDetail[] {
  const evidence = new FreshEvidence(base);
  const leaves: [leaf: number, lack: 'changed' | 'shifted'][] = [];
  const reduced: ErrorDetail[] = [];
  traceChanges(base ?? {}, next, {
    changed: (leaf, covers) => {
      if (leaves.length < MAX_PROBLEMS && !evidence.covers(covers)) leaves.push([leaf, 'changed']);
    },
    shifted: (leaf) => {
      if (leaves.length < MAX_PROBLEMS) leaves.push([leaf, 'shifted']);
    },
    reduced: (tokens, covers) => {
      if (reduced.length < MAX_PROBLEMS && !evidence.covers(covers)) {
        reduced.push({ path: formatPointer(tokens), ...LACKS.reduced });
      }
    },
  });
  const paths = pathsOfLeaves(
    attributesOf(next),
    leaves.map(([leaf]) => leaf),
  );
  const problems = [...paths.map((path, at) => ({ path, ...LACKS[leaves[at]![1]] })), ...reduced];
  return problems.length === 0 ? [] : [...problems, ...unreferencedProblems(evidence, next)];
}

/** Reports new evidence that no reference names. Most likely, a reference was forgotten. */
function unreferencedProblems(evidence: FreshEvidence, next: JsonValue): ErrorDetail[] {
  const message = 'is new, but no reference names it: add one to attribute_paths for the value that it supports';
  return unreferencedItems(next)
    .filter(({ item }) => evidence.isNew(item))
    .map(({ index }) => ({ path: formatPointer(['evidence', String(index)]), message, code: 'unreferenced_evidence' }));
}

/** Decides whether evidence is new in a version. */
class FreshEvidence {
  private readonly classes = new Classes();
  private readonly known: ReadonlySet<number>;
  /** Results by current and previous cover, because many leaves share both. */
  private readonly answers = new Map<Cover | null, Map<Cover | null, boolean>>();

  constructor(base: JsonValue | null) {
    const evidence = base === null ? undefined : getMember(base, 'evidence');
    this.known = new Set((Array.isArray(evidence) ? evidence : []).map((item) => this.classes.of(item)));
  }

  isNew(item: JsonValue): boolean {
    return !this.known.has(this.classes.of(item));
  }

  /** Checks that the evidence is new both for the value and for its path. */
  covers({ cover, coverBefore, coverThere }: Covers): boolean {
    return this.isNewFor(cover, coverBefore) && (coverThere === coverBefore || this.isNewFor(cover, coverThere));
  }

  private isNewFor(cover: Cover | null, coverBefore: Cover | null): boolean {
    const answers = this.answers.get(cover) ?? new Map<Cover | null, boolean>();
    this.answers.set(cover, answers);
    let answer = answers.get(coverBefore);
    if (answer === undefined) answers.set(coverBefore, (answer = this.isFresh(cover, coverBefore)));
    return answer;
  }

  private isFresh(cover: Cover | null, before: Cover | null): boolean {
    const said = new Set(before?.references.map(({ reference }) => this.classes.of(reference)));
    return (cover?.references ?? []).some(
      ({ reference, item }) =>
        (item !== null && this.isNew(item)) ||
        (getMember(reference, 'role') === 'corroborating' && !said.has(this.classes.of(reference))),
    );
  }
}
