import { DomainError, type ErrorDetail } from '../errors';
import { MAX_PROBLEMS } from '../limits';
import { isPointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import {
  anyObject,
  anyText,
  anyValue,
  arrayOf,
  type Check,
  described,
  enumOf,
  inTurn,
  mapOf,
  named,
  objectOf,
  optional,
  rule,
  textThat,
  type TypeOf,
} from './check';
import { isDateTime, isUuid } from './formats';

export { isDateTime, isUuid, parseDateTime, requireExpiry, sameUuid } from './formats';

export const ENVELOPE_VERSION = 'entity_state_envelope_v1';
/** Versions are PostgreSQL integers. */
export const MAX_SNAPSHOT_VERSION = 2_147_483_647;
export const SUBJECT_TYPES = ['individual', 'organization', 'entity'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

const uuidText = textThat(
  { format: 'uuid' },
  'invalid_format',
  'must be a UUID in its 8-4-4-4-12 hexadecimal form',
  isUuid,
);
const dateTime = textThat(
  { format: 'date-time' },
  'invalid_format',
  'must be an RFC 3339 date-time with a timezone (Z or +HH:MM)',
  isDateTime,
);
const pointer = textThat({}, 'invalid_format', 'must be a JSON Pointer (RFC 6901)', isPointer);
const nonEmptyText = textThat({ minLength: 1 }, 'invalid_value', 'must not be empty', (value) => value !== '');
/** A snapshot's version. */
export const snapshotVersion: Check<number> = inTurn(
  rule({}, 'invalid_type', 'must be an integer', Number.isInteger),
  rule(
    { type: 'integer', minimum: 1 },
    'invalid_value',
    `must be between 1 and ${MAX_SNAPSHOT_VERSION}`,
    isVersionInRange,
  ),
);
const subjectType = enumOf(SUBJECT_TYPES);
/** `^\P{Cc}*$` for readers of the schema that know no Unicode properties. */
const NO_CONTROLS = '^[^\\u0000-\\u001F\\u007F-\\u009F]*$';
// With the u flag the count is of code points.
const SUBJECT_ID = /^[^\p{Cc}\p{Cs}]{1,512}$/u;
/** A subject's id, compared byte for byte. */
export const subjectId: Check<string> = textThat(
  { minLength: 1, maxLength: 512, pattern: NO_CONTROLS },
  'invalid_value',
  'must be 1 to 512 characters without control characters',
  (id) => SUBJECT_ID.test(id),
);

const evidence = named(
  'Evidence',
  objectOf({
    evidence_id: anyText,
    evidence_type: anyText,
    source: anyText,
    captured_at: dateTime,
    retrieved_at: optional(dateTime),
    hash: optional(objectOf({ alg: anyText, value: anyText })),
    locator: optional(anyText),
    notes: optional(anyText),
  }),
);

/** What backs a value: specification, "EvidenceRef". */
export const evidenceRef = named(
  'EvidenceRef',
  objectOf({
    evidence_id: anyText,
    evidence_type: anyText,
    role: optional(enumOf(['primary', 'corroborating', 'conflicting'])),
  }),
);

const operation = {
  op: enumOf(['add', 'remove', 'replace', 'move', 'copy', 'test']),
  path: described('RFC 6901 JSON Pointer into the envelope.', pointer),
};
const from = described('For `move` and `copy`.', pointer);
const value = described('For `add`, `replace` and `test`: any JSON.', anyValue);
const operationWithPath = objectOf(operation);
const operationWithValue = objectOf({ ...operation, value });
const operationWithFrom = objectOf({ ...operation, from });

/** One operation of RFC 6902: which other members it must have depends on its `op`. */
export const patchOperation: Check<JsonObject> = named('PatchOperation', {
  schema: objectOf({ ...operation, from: optional(from), value: optional(value) }).schema,
  problemsOf: (sent) => {
    switch (isJsonObject(sent) && Object.hasOwn(sent, 'op') ? sent['op'] : null) {
      case 'add':
      case 'replace':
      case 'test':
        return operationWithValue.problemsOf(sent);
      case 'move':
      case 'copy':
        return operationWithFrom.problemsOf(sent);
      default:
        return operationWithPath.problemsOf(sent);
    }
  },
});

/** What an envelope is, but for its required content: specification, "Snapshot envelope". Extra keys are allowed everywhere. */
export const envelope = named(
  'Envelope',
  objectOf({
    envelope_version: enumOf([ENVELOPE_VERSION]),
    snapshot_id: uuidText,
    snapshot_version: snapshotVersion,
    generated_at: dateTime,
    subject: objectOf({ subject_type: subjectType, subject_id: subjectId }),
    attributes: anyObject,
    evidence: arrayOf(evidence),
    audit: named(
      'Audit',
      objectOf({
        created_by: anyText,
        created_at: dateTime,
        source: anyText,
        request_id: optional(anyText),
        correlation_id: optional(anyText),
      }),
    ),
    // From an RFC 6901 pointer (`/attributes/…`) to the evidence that backs the value there.
    attribute_paths: optional(mapOf(pointer, arrayOf(evidenceRef))),
    diff: optional(objectOf({ format: enumOf(['rfc6902']), ops: arrayOf(patchOperation) })),
  }),
);

/** A snapshot envelope, with whatever else its writer put into it. */
export type Envelope = TypeOf<typeof envelope>;

const NAME_PARTS = ['given_name', 'family_name', 'formatted_name'];
const name = inTurn(
  anyObject,
  rule(anyObject.schema, 'required', `must have at least one of ${NAME_PARTS.join(', ')}, not empty`, hasNamePart),
);
/** What the canonical groups must hold where they are present, specification "Canonical attribute groupings". */
const REQUIRED_CONTENT: Readonly<Record<SubjectType, Check>> = {
  organization: attributesWith('legal', objectOf({ legal_name: nonEmptyText })),
  individual: attributesWith('biographic', objectOf({ name })),
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
  const structural = envelope.problemsOf(value);
  const missingContent = contentProblems(value);
  if (structural !== null || missingContent !== null) {
    throw new DomainError(
      'validation_error',
      `This is not a valid ${ENVELOPE_VERSION} document: correct what details names.`,
      [...(structural ?? []), ...(missingContent ?? [])].slice(0, MAX_PROBLEMS),
    );
  }
  // The checks have seen every member that the type declares.
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
  const problems = check.problemsOf(typeof value === 'string' ? value : null) ?? [];
  return problems.map((problem) => ({ ...problem, path }));
}

function contentProblems(value: JsonValue): ErrorDetail[] | null {
  const subject = isJsonObject(value) && Object.hasOwn(value, 'subject') ? value['subject'] : null;
  if (!isJsonObject(subject) || !Object.hasOwn(subject, 'subject_type')) return null;
  const type = SUBJECT_TYPES.find((known) => known === subject['subject_type']);
  return type === undefined ? null : REQUIRED_CONTENT[type].problemsOf(value);
}

/** `attributes` that are no object are the structural check's to report. */
function attributesWith(group: string, check: Check): Check {
  const attributes = objectOf({ [group]: optional(check) });
  const problemsOf: Check['problemsOf'] = (value) => (isJsonObject(value) ? attributes.problemsOf(value) : null);
  return objectOf({ attributes: optional({ ...attributes, problemsOf }) });
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
