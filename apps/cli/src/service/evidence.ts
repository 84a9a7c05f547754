import type { api, Evidence } from '@identity-state/client';
import { getAt, isJsonObject, type JsonValue, parseJson } from '@iss/domain';
import { UsageError } from '../command';
import { readWhole } from '../files';
import { visible } from '../visible';

/** Bytes of a file of evidence, which says where something is known from and is not the document itself. */
const MAX_EVIDENCE = 1_000_000;

/** Items of evidence in a line. */
export function evidenceText(items: readonly Pick<Evidence, 'evidence_id' | 'evidence_type'>[], none = 'none'): string {
  if (items.length === 0) return none;
  return items.map(({ evidence_id: id, evidence_type: type }) => visible(`${id} (${type})`)).join(', ');
}

/** The items that are in files: of each one, or a list. @throws UsageError for what is not evidence, naming the file */
export function readEvidence(files: readonly string[]): Evidence[] {
  return files.flatMap((file) => {
    const value: JsonValue = parseJson(readWhole(file, 'evidence', MAX_EVIDENCE));
    return (Array.isArray(value) ? value : [value]).map((item) => evidenceOf(file, item));
  });
}

/** The references that cover a place of an envelope: those nearest to it, at it or around it. */
export function coveringRefs(envelope: api.Envelope, path: string): readonly api.EvidenceRef[] {
  const paths = envelope.attribute_paths ?? {};
  for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
    const refs = paths[place];
    if (refs !== undefined) return refs;
  }
  return [];
}

/** Whether a place of an envelope is about evidence: it is shown beside the values that it is for. */
export function isAttribution(path: string): boolean {
  return ['/evidence', '/attribute_paths'].some((root) => path === root || path.startsWith(`${root}/`));
}

function evidenceOf(file: string, item: JsonValue): Evidence {
  const text = (name: string): string => {
    const value = isJsonObject(item) ? getAt(item, [name]) : undefined;
    if (typeof value === 'string') return value;
    throw new UsageError(
      `${file} is no evidence: it needs ${name}, a text, beside evidence_id, evidence_type, source and captured_at.`,
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
