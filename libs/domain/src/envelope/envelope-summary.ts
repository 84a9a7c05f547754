import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { isJsonObject, type JsonValue } from '../json/value';

/** What a subject's current state shows of its envelope (specification, "Snapshot reads"). */
export interface EnvelopeSummary {
  /** The attributes as RFC 8785 text: the very text that was hashed, since what is canonical in an envelope is so by itself. */
  attributes: string;
  evidenceCount: number;
  hasAttributePaths: boolean;
  hasAudit: boolean;
}

/** The summary of a stored envelope. */
export function summarizeEnvelope({ text }: { text: string }): EnvelopeSummary {
  const stored = parseStoredJson(text);
  const [attributes, evidence, paths, audit] = ['attributes', 'evidence', 'attribute_paths', 'audit'].map((name) =>
    isJsonObject(stored) ? stored[name] : undefined,
  );
  return {
    attributes: canonicalize(attributes ?? {}),
    evidenceCount: Array.isArray(evidence) ? evidence.length : 0,
    hasAttributePaths: hasMembers(paths),
    hasAudit: hasMembers(audit),
  };
}

function hasMembers(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && Object.keys(value).length > 0;
}
