import { DomainError, type ErrorDetail } from '../errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { arrayOf, type Check, either, literal, mapOf, object, oneOf, optional, required, text } from './check';
import { isDateTime, isPointer, isUuid } from './formats';

export const ENVELOPE_VERSION = 'entity_state_envelope_v1';
/** Versions are PostgreSQL integers. */
export const MAX_SNAPSHOT_VERSION = 2_147_483_647;
export const SUBJECT_TYPES = ['individual', 'organization', 'entity'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

/** A snapshot envelope, specification "Snapshot envelope". Extra keys are allowed everywhere and preserved. */
export interface Envelope extends JsonObject {
  envelope_version: typeof ENVELOPE_VERSION;
  snapshot_id: string;
  snapshot_version: number;
  generated_at: string;
  subject: EnvelopeSubject;
  attributes: JsonObject;
  evidence: Evidence[];
  audit: Audit;
  attribute_paths?: AttributePaths;
  diff?: EnvelopeDiff;
}
export interface EnvelopeSubject extends JsonObject {
  subject_type: SubjectType;
  subject_id: string;
}
export interface Evidence extends JsonObject {
  evidence_id: string;
  evidence_type: string;
  source: string;
  captured_at: string;
  retrieved_at?: string;
  hash?: EvidenceHash;
  locator?: string;
  notes?: string;
}
export interface EvidenceHash extends JsonObject {
  alg: string;
  value: string;
}
export interface EvidenceRef extends JsonObject {
  evidence_id: string;
  evidence_type: string;
  role?: 'primary' | 'corroborating' | 'conflicting';
}
/** From an RFC 6901 pointer (`/attributes/…`) to the evidence that backs the value there. */
export interface AttributePaths extends JsonObject {
  [pointer: string]: EvidenceRef[];
}
export interface Audit extends JsonObject {
  created_by: string;
  created_at: string;
  source: string;
  request_id?: string;
  correlation_id?: string;
}
export interface EnvelopeDiff extends JsonObject {
  format: 'rfc6902';
  ops: JsonObject[];
}

const anyText = text();
const uuid = text('must be a UUID in its 8-4-4-4-12 hexadecimal form', isUuid);
const dateTime = text('must be an RFC 3339 date-time with a timezone (Z or +HH:MM)', isDateTime);
const pointer = text('must be a JSON Pointer (RFC 6901)', isPointer);
const nonEmptyText = text('must not be empty', (value) => value !== '');
const anyObject = object({});
const version: Check = either(
  ['invalid_type', 'must be an integer', Number.isInteger],
  [
    'invalid_value',
    `must be between 1 and ${MAX_SNAPSHOT_VERSION}`,
    (value) => typeof value === 'number' && value >= 1 && value <= MAX_SNAPSHOT_VERSION,
  ],
);
const subjectType = oneOf(SUBJECT_TYPES);
// With the u flag the count is of code points.
const SUBJECT_ID = /^[^\p{Cc}\p{Cs}]{1,512}$/u;
const subjectId = text('must be 1 to 512 characters without control characters', (id) => SUBJECT_ID.test(id));

const evidence = object({
  evidence_id: required(anyText),
  evidence_type: required(anyText),
  source: required(anyText),
  captured_at: required(dateTime),
  retrieved_at: optional(dateTime),
  hash: optional(object({ alg: required(anyText), value: required(anyText) })),
  locator: optional(anyText),
  notes: optional(anyText),
});
const evidenceRef = object({
  evidence_id: required(anyText),
  evidence_type: required(anyText),
  role: optional(oneOf(['primary', 'corroborating', 'conflicting'])),
});
const patchOperation = object({
  op: required(oneOf(['add', 'remove', 'replace', 'move', 'copy', 'test'])),
  path: required(pointer),
  from: optional(pointer),
});
const envelope = object({
  envelope_version: required(literal(ENVELOPE_VERSION)),
  snapshot_id: required(uuid),
  snapshot_version: required(version),
  generated_at: required(dateTime),
  subject: required(object({ subject_type: required(subjectType), subject_id: required(subjectId) })),
  attributes: required(anyObject),
  evidence: required(arrayOf(evidence)),
  audit: required(
    object({
      created_by: required(anyText),
      created_at: required(dateTime),
      source: required(anyText),
      request_id: optional(anyText),
      correlation_id: optional(anyText),
    }),
  ),
  attribute_paths: optional(mapOf(pointer, arrayOf(evidenceRef))),
  diff: optional(object({ format: required(literal('rfc6902')), ops: required(arrayOf(patchOperation)) })),
});

const NAME_PARTS = ['given_name', 'family_name', 'formatted_name'];
const name = either(
  ['invalid_type', 'must be an object', isJsonObject],
  [
    'required',
    `must have at least one of ${NAME_PARTS.join(', ')}`,
    (value) =>
      isJsonObject(value) &&
      NAME_PARTS.some((part) => Object.hasOwn(value, part) && typeof value[part] === 'string' && value[part] !== ''),
  ],
);
/** What the canonical groups must hold where they are present, specification "Canonical attribute groupings". */
const requiredContent: Record<SubjectType, Check> = {
  organization: content({ legal: optional(object({ legal_name: required(nonEmptyText) })) }),
  individual: content({ biographic: optional(object({ name: required(name) })) }),
  entity: content({}),
};

/**
 * The value as an `Envelope`, itself and unchanged, when it satisfies the specification's sections "Snapshot envelope",
 * "Evidence", "EvidenceRef" and "Audit" and the contract's rows on subjects and required content. Evidence ids are not
 * checked against one another.
 *
 * @throws DomainError `validation_error` with every problem (the first 100) in `details`: a JSON Pointer into the
 *   envelope and a code, one of `required`, `invalid_type`, `invalid_value`, `invalid_format`.
 */
export function validateEnvelope(value: JsonValue): Envelope {
  const problems = joined(envelope(value), contentProblems(value));
  if (problems !== null) {
    throw new DomainError(
      'validation_error',
      `The body is not a valid ${ENVELOPE_VERSION} envelope: correct what details names.`,
      problems.slice(0, 100),
    );
  }
  // The checks above hold for every field that the interface declares.
  return value as Envelope;
}

/**
 * What is wrong with a subject's type and id, which arrive in paths and bodies alike; empty when nothing is. Paths are
 * `{at}/subject_type` and `{at}/subject_id`. Contract rows `subject_type`, `subject_id`.
 */
export function subjectProblems(type: unknown, id: unknown, at: string): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  for (const [name, value, check] of [
    ['subject_type', type, subjectType],
    ['subject_id', id, subjectId],
  ] as const) {
    const path = `${at}/${name}`;
    if (value === undefined) problems.push({ path, message: 'is required', code: 'required' });
    else for (const problem of check(value) ?? []) problems.push({ ...problem, path });
  }
  return problems;
}

function content(fields: Parameters<typeof object>[0]): Check {
  return object({ attributes: optional(object(fields)) });
}

function contentProblems(value: JsonValue): ErrorDetail[] | null {
  if (!isJsonObject(value) || !isJsonObject(value['attributes']) || !isJsonObject(value['subject'])) return null;
  const type = SUBJECT_TYPES.find((known) => known === value['subject']);
  return type === undefined ? null : requiredContent[type](value);
}

function joined(left: ErrorDetail[] | null, right: ErrorDetail[] | null): ErrorDetail[] | null {
  return left === null ? right : left.concat(right ?? []);
}
