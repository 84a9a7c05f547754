import { DomainError, type ErrorDetail } from '../errors';
import { isPointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import {
  anyObject,
  anyText,
  anyValue,
  arrayOf,
  type Check,
  firstOf,
  mapOf,
  MAX_PROBLEMS,
  object,
  oneOf,
  optional,
  required,
  rule,
  text,
} from './check';
import { isDateTime, isUuid } from './formats';

export { isDateTime, isUuid, parseDateTime, requireExpiry, sameUuid } from './formats';

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

const uuid = text('invalid_format', 'must be a UUID in its 8-4-4-4-12 hexadecimal form', isUuid);
const dateTime = text('invalid_format', 'must be an RFC 3339 date-time with a timezone (Z or +HH:MM)', isDateTime);
const pointer = text('invalid_format', 'must be a JSON Pointer (RFC 6901)', isPointer);
const nonEmptyText = text('invalid_value', 'must not be empty', (value) => value !== '');
const version = firstOf(
  rule('invalid_type', 'must be an integer', Number.isInteger),
  rule('invalid_value', `must be between 1 and ${MAX_SNAPSHOT_VERSION}`, isVersionInRange),
);
const subjectType = oneOf(SUBJECT_TYPES);
// With the u flag the count is of code points.
const SUBJECT_ID = /^[^\p{Cc}\p{Cs}]{1,512}$/u;
const subjectId = text('invalid_value', 'must be 1 to 512 characters without control characters', (id) =>
  SUBJECT_ID.test(id),
);

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
const operationFields = {
  op: required(oneOf(['add', 'remove', 'replace', 'move', 'copy', 'test'])),
  path: required(pointer),
};
const operationWithPath = object(operationFields);
const operationWithValue = object({ ...operationFields, value: required(anyValue) });
const operationWithFrom = object({ ...operationFields, from: required(pointer) });

const envelope = object({
  envelope_version: required(oneOf([ENVELOPE_VERSION])),
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
  diff: optional(object({ format: required(oneOf(['rfc6902'])), ops: required(arrayOf(patchOperation)) })),
});

const NAME_PARTS = ['given_name', 'family_name', 'formatted_name'];
const name = firstOf(
  anyObject,
  rule('required', `must have at least one of ${NAME_PARTS.join(', ')}, not empty`, hasNamePart),
);
/** What the canonical groups must hold where they are present, specification "Canonical attribute groupings". */
const REQUIRED_CONTENT: Readonly<Record<SubjectType, Check>> = {
  organization: attributesWith('legal', object({ legal_name: required(nonEmptyText) })),
  individual: attributesWith('biographic', object({ name: required(name) })),
  entity: anyValue,
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
  const structural = envelope(value);
  const missingContent = contentProblems(value);
  if (structural !== null || missingContent !== null) {
    throw new DomainError(
      'validation_error',
      `This is not a valid ${ENVELOPE_VERSION} document: correct what details names.`,
      [...(structural ?? []), ...(missingContent ?? [])].slice(0, MAX_PROBLEMS),
    );
  }
  // The checks have seen every field that the interface declares.
  return value as Envelope;
}

/**
 * What is wrong with a subject's type and id, which arrive in paths and bodies alike; empty when nothing is. The paths
 * are `{at}/subject_type` and `{at}/subject_id`. Contract rows `subject_type`, `subject_id`.
 */
export function subjectProblems(type: unknown, id: unknown, at: string): ErrorDetail[] {
  return [...problemsAt(`${at}/subject_type`, type, subjectType), ...problemsAt(`${at}/subject_id`, id, subjectId)];
}

function problemsAt(path: string, value: unknown, check: Check): ErrorDetail[] {
  if (value === undefined) return [{ path, message: 'is required', code: 'required' }];
  // Anything that is no string fails alike.
  const problems = check(typeof value === 'string' ? value : null) ?? [];
  return problems.map((problem) => ({ ...problem, path }));
}

function contentProblems(value: JsonValue): ErrorDetail[] | null {
  const subject = isJsonObject(value) && Object.hasOwn(value, 'subject') ? value['subject'] : null;
  if (!isJsonObject(subject) || !Object.hasOwn(subject, 'subject_type')) return null;
  const type = SUBJECT_TYPES.find((known) => known === subject['subject_type']);
  return type === undefined ? null : REQUIRED_CONTENT[type](value);
}

/** `attributes` that are no object are the structural check's to report. */
function attributesWith(group: string, check: Check): Check {
  const attributes = object({ [group]: optional(check) });
  return object({ attributes: optional((value) => (isJsonObject(value) ? attributes(value) : null)) });
}

function patchOperation(value: JsonValue): ErrorDetail[] | null {
  switch (isJsonObject(value) && Object.hasOwn(value, 'op') ? value['op'] : null) {
    case 'add':
    case 'replace':
    case 'test':
      return operationWithValue(value);
    case 'move':
    case 'copy':
      return operationWithFrom(value);
    default:
      return operationWithPath(value);
  }
}

function hasNamePart(name: JsonValue): boolean {
  return isJsonObject(name) && NAME_PARTS.some((part) => Object.hasOwn(name, part) && isNonEmptyText(name[part]));
}

function isNonEmptyText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isVersionInRange(value: JsonValue): boolean {
  return typeof value === 'number' && value >= 1 && value <= MAX_SNAPSHOT_VERSION;
}
