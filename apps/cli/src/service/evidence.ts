import type { api, Evidence } from '@identity-state/client';
import { getAt, isJsonObject, type JsonValue, parseJson } from '@iss/domain';
import { UsageError } from '../command';
import { readWhole } from '../files';
import { visible } from '../visible';

/** In bytes. A file of evidence describes a document and does not contain it. */
const MAX_EVIDENCE = 1_000_000;

/** Formats items of evidence in one line. */
export function evidenceText(items: readonly Pick<Evidence, 'evidence_id' | 'evidence_type'>[], none = 'none'): string {
  if (items.length === 0) return none;
  return items.map(({ evidence_id: id, evidence_type: type }) => visible(`${id} (${type})`)).join(', ');
}

/** Reads evidence from a file that holds one item or a list. @throws UsageError that names an invalid file */
export function readEvidence(file: string): Evidence[] {
  const value: JsonValue = parseJson(readWhole(file, 'evidence', MAX_EVIDENCE));
  return (Array.isArray(value) ? value : [value]).map((item) => evidenceOf(file, item));
}

/** Returns the evidence references of a place: those at the place itself, or at its nearest ancestor. */
export function coveringRefs(envelope: api.Envelope, path: string): readonly api.EvidenceRef[] {
  const paths = envelope.attribute_paths ?? {};
  for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    const refs = paths[place];
    if (refs !== undefined) return refs;
  }
  return [];
}

/** Returns whether a place holds evidence, which is shown beside the values instead. */
export function isAttribution(path: string): boolean {
  return ['/evidence', '/attribute_paths'].some((root) => path === root || path.startsWith(`${root}/`));
}

function evidenceOf(file: string, item: JsonValue): Evidence {
  const text = (name: string): string => {
    const value = isJsonObject(item) ? getAt(item, [name]) : undefined;
    if (typeof value === 'string') return value;
    throw new UsageError(
      `${file} is not evidence: ${name} must be a text. Evidence needs evidence_id, evidence_type, source and captured_at.`,
    );
  };
  return {
    ...(isJsonObject(item) ? item : {}),
    evidence_id: text('evidence_id'),
    evidence_type: text('evidence_type'),
    source: text('source'),
    captured_at: text('captured_at'),
  };
}
