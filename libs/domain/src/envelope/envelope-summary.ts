import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { isJsonObject, type JsonValue } from '../json/value';

/** The parts of an envelope that a subject's current state shows (specification, "Snapshot reads"). */
export interface EnvelopeSummary {
  /** The attributes as RFC 8785 text. This is exactly the part of the envelope's text that was hashed. */
  attributes: string;
  evidenceCount: number;
  hasAttributePaths: boolean;
  hasAudit: boolean;
}

/** Summarizes a stored envelope. */
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
