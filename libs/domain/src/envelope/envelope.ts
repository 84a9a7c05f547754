import { DomainError, type ErrorDetail } from '../errors';
import { MAX_PROBLEMS } from '../limits';
import { formatPointer, isPointer, POINTER_PATTERN } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { CHANGE_KINDS } from '../statuses';
import {
  anyObject,
  anyText,
  anyValue,
  arrayOf,
  type Check,
  described,
  enumOf,
  checkThen,
  mapOf,
  named,
  objectOf,
  optional,
  rule,
  type Schema,
  textThat,
  type TypeOf,
} from './check';
import { isDateTime, isUuid } from './formats';
import { schemesSpeltTwice } from './search-terms';

export {
  isDateTime,
  isRecurrence,
  isUuid,
  parseDateTime,
  parsePeriod,
  requireExpiry,
  requireFuture,
  RECURRENCE,
  sameUuid,
} from './formats';

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
const pointer = textThat(
  { pattern: POINTER_PATTERN },
  'invalid_format',
  'must be a JSON Pointer (RFC 6901)',
  isPointer,
);
const nonEmptyText = textThat({ minLength: 1 }, 'invalid_value', 'must not be empty', (value) => value !== '');
export const snapshotVersion: Check<number> = checkThen(
  rule({}, 'invalid_type', 'must be an integer', Number.isInteger),
  rule(
    { type: 'integer', minimum: 1, maximum: MAX_SNAPSHOT_VERSION },
    'invalid_value',
    `must be between 1 and ${MAX_SNAPSHOT_VERSION}`,
    isVersionInRange,
  ),
);
const subjectType = enumOf(SUBJECT_TYPES);
/**
 * The characters of `\p{Cc}` as a character class without brackets, for schema tools that do not support Unicode
 * properties.
 */
export const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';
// The u flag makes the length count code points. URLs cannot contain the ids `.` and `..`, even percent-encoded: they
// are resolved as path segments.
const SUBJECT_ID = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]{1,512}$/u;
/** A subject's id. Ids are compared byte for byte. */
export const subjectId: Check<string> = textThat(
  { minLength: 1, maxLength: 512, pattern: `^(?!\\.{1,2}$)[^${CONTROLS}]*$` },
  'invalid_value',
  'must be 1 to 512 characters without control characters, and not . or ..',
  (id) => SUBJECT_ID.test(id),
);

const evidenceMembers = {
  evidence_id: described('The id that `attribute_paths` uses to refer to this evidence.', anyText),
  evidence_type: described('The kind of evidence.', anyText),
  source: described('The source of the evidence.', anyText),
  captured_at: described('When it was captured.', dateTime),
  retrieved_at: optional(described('When it was retrieved from its source.', dateTime)),
  hash: optional(
    described(
      'The hash of the captured content.',
      objectOf({
        alg: described('The algorithm of the hash.', anyText),
        value: described('The hash in the usual notation of its algorithm.', anyText),
      }),
    ),
  ),
  locator: optional(described('The location at the source.', anyText)),
  notes: optional(described('Additional remarks.', anyText)),
};
const evidence = named('Evidence', objectOf(evidenceMembers));

const referenceRole = optional(
  described('The way in which the evidence supports the value.', enumOf(['primary', 'corroborating', 'conflicting'])),
);

/** A reference from a value to its evidence (specification, "EvidenceRef"). */
export const evidenceRef = named(
  'EvidenceRef',
  objectOf({
    evidence_id: described('The `evidence_id` of the evidence.', anyText),
    evidence_type: described('The `evidence_type` of the evidence.', anyText),
    role: referenceRole,
  }),
);

/** An item of evidence together with its role for a value. */
export const backingEvidence = named('BackingEvidence', objectOf({ ...evidenceMembers, role: referenceRole }));

const PATCH_OPS = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const;
type PatchOp = (typeof PATCH_OPS)[number];

const path = described('The target: a JSON Pointer (RFC 6901) into the envelope.', pointer);
const from = described('For `move` and `copy`: the source, as a JSON Pointer (RFC 6901).', pointer);
const value = described('For `add`, `replace` and `test`: any JSON.', anyValue);

/** Returns the schema of an RFC 6902 operation, restricted to `ops`. The required members depend on `op`. */
export function patchOperationSchema(title: string, ops: readonly PatchOp[]): Schema {
  const moving = ops.filter((one) => one === 'move' || one === 'copy');
  const telling = ops.filter((one) => one === 'add' || one === 'replace' || one === 'test');
  const members: Record<string, Check> = {
    op: described('The operation.', enumOf(ops)),
    path,
    value: optional(value),
    ...(moving.length > 0 ? { from: optional(from) } : {}),
  };
  const otherwise = moving.length > 0 ? { else: requiring({ from }, moving) } : {};
  return { title, ...objectOf(members).schema, ...requiring({ value }, telling), ...otherwise };
}

function requiring(member: Readonly<Record<string, Check>>, ops: readonly PatchOp[]): Schema {
  return { if: objectOf({ op: described('The operation.', enumOf(ops)) }).schema, then: objectOf(member).schema };
}

const operation = { op: enumOf(PATCH_OPS), path };
const operationWithPath = objectOf(operation);
const operationWithValue = objectOf({ ...operation, value });
const operationWithFrom = objectOf({ ...operation, from });

/** Checks one RFC 6902 operation. The required members depend on `op`. */
export const patchOperation: Check<JsonObject> = {
  schema: patchOperationSchema('PatchOperation', PATCH_OPS),
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
};

const SUBJECT = 'The person, organization or entity that the snapshot describes.';
const subjectWith = <T>(type: Check<T>) => described('The namespace of the subject’s id.', type);
const ATTRIBUTES =
  'The attributes of the subject. [/docs/how-to/model](/docs/how-to/model) shows how to structure them.';

const NAME_PARTS = ['given_name', 'family_name', 'formatted_name'];
const name = checkThen(
  anyObject,
  rule(
    {
      ...anyObject.schema,
      anyOf: NAME_PARTS.map((part) => ({
        properties: { [part]: { ...nonEmptyText.schema, description: 'A part of the name.' } },
        required: [part],
      })),
    },
    'required',
    `must have at least one non-empty member of ${NAME_PARTS.join(', ')}`,
    hasNamePart,
  ),
);
/**
 * The required content of the canonical groups, if they are present (specification, "Canonical attribute groupings").
 */
const REQUIRED_CONTENT: Readonly<Record<SubjectType, Check>> = {
  organization: attributesWith(
    'legal',
    described(
      'The legal facts of an organization.',
      objectOf({ legal_name: described('The legal name.', nonEmptyText) }),
    ),
  ),
  individual: attributesWith(
    'biographic',
    described(
      'The facts of an individual.',
      objectOf({ name: described(`At least one of ${NAME_PARTS.join(', ')}.`, name) }),
    ),
  ),
  entity: anyValue,
};

/**
 * The structure of an envelope without the required content of its groups (specification, "Snapshot envelope"). Extra
 * members are allowed everywhere.
 */
const structure = objectOf({
  envelope_version: described('The version of this format.', enumOf([ENVELOPE_VERSION])),
  snapshot_id: described('The id of the snapshot, chosen by its writer.', uuidText),
  snapshot_version: described('The number of the snapshot in the subject’s chain, from 1.', snapshotVersion),
  generated_at: described('When the writer made the snapshot.', dateTime),
  subject: described(
    SUBJECT,
    objectOf({
      subject_type: subjectWith(subjectType),
      subject_id: described('The subject’s id, compared byte for byte.', subjectId),
    }),
  ),
  attributes: described(ATTRIBUTES, anyObject),
  evidence: described('The sources of the attributes.', arrayOf(evidence)),
  audit: described(
    'The author of the snapshot.',
    named(
      'Audit',
      objectOf({
        created_by: described('The principal or system that made it.', anyText),
        created_at: described('When it was made.', dateTime),
        source: described('The system or process that made it.', anyText),
        request_id: optional(described('The request that made it.', anyText)),
        correlation_id: optional(described('An id that connects related requests.', anyText)),
      }),
    ),
  ),
  attribute_paths: optional(
    described(
      'The attribution: maps a JSON Pointer (`/attributes/…`) to the evidence that supports the value there.',
      mapOf(pointer, arrayOf(evidenceRef)),
    ),
  ),
  change_kind: optional(
    described(
      '`correction` if the version corrects an error. Absent or `change`: the world changed.',
      enumOf(CHANGE_KINDS),
    ),
  ),
  diff: optional(
    described(
      'The changes of the applied update.',
      objectOf({
        format: described('RFC 6902 operations.', enumOf(['rfc6902'])),
        ops: described('The operations, in order.', arrayOf(patchOperation)),
      }),
    ),
  ),
});

/** The snapshot envelope. Its schema also describes the required content, which `validateEnvelope` checks. */
export const envelope: typeof structure = named('Envelope', {
  ...structure,
  schema: {
    ...structure.schema,
    ...ofType('organization'),
    else: ofType('individual'),
  },
});

/** A snapshot envelope, including any extra members. */
export type Envelope = TypeOf<typeof envelope>;

/**
 * Returns the value itself, unchanged, if it is a valid `Envelope`: specification "Snapshot envelope", "Evidence",
 * "EvidenceRef" and "Audit", and the contract's rows on subjects and required content. Does not check whether
 * references name existing evidence.
 *
 * @throws DomainError `validation_error` with the first 100 problems in `details`. Each has a JSON Pointer into the
 *   envelope and a code: `required`, `invalid_type`, `invalid_value`, `invalid_format` or `conflict`.
 */
export function validateEnvelope(value: JsonValue): Envelope {
  const structural = envelope.problemsOf(value);
  const problems = [...(structural ?? []), ...(contentProblems(value) ?? []), ...schemeProblems(value)];
  if (problems.length > 0) {
    throw new DomainError(
      'validation_error',
      `This is not a valid ${ENVELOPE_VERSION} document. Correct each place that details names.`,
      problems.slice(0, MAX_PROBLEMS),
    );
  }
  // The checks cover every member that the type declares.
  return value as Envelope;
}

/**
 * Returns the problems of a subject's type and id, which can come from a path or a body. The paths are
 * `{at}/subject_type` and `{at}/subject_id`. Contract rows `subject_type`, `subject_id`.
 */
export function subjectProblems(type: unknown, id: unknown, at: string): ErrorDetail[] {
  return [...problemsAt(`${at}/subject_type`, type, subjectType), ...problemsAt(`${at}/subject_id`, id, subjectId)];
}

function problemsAt(path: string, value: unknown, check: Check): ErrorDetail[] {
  if (value === undefined) return [{ path, message: 'is required', code: 'required' }];
  // Every value that is not a string fails in the same way.
  const problems = check.problemsOf(typeof value === 'string' ? value : null) ?? [];
  return problems.map((problem) => ({ ...problem, path }));
}

function contentProblems(value: JsonValue): ErrorDetail[] | null {
  const subject = isJsonObject(value) && Object.hasOwn(value, 'subject') ? value['subject'] : null;
  if (!isJsonObject(subject) || !Object.hasOwn(subject, 'subject_type')) return null;
  const type = SUBJECT_TYPES.find((known) => known === subject['subject_type']);
  return type === undefined ? null : REQUIRED_CONTENT[type].problemsOf(value);
}

/** Reports members of `attributes.identifiers` that spell the same scheme differently: a search would find only one. */
function schemeProblems(value: JsonValue): ErrorDetail[] {
  return schemesSpeltTwice(isJsonObject(value) ? value : {}).map(([key, again]) => ({
    path: formatPointer(['attributes', 'identifiers', again]),
    message: `is another spelling of the scheme ${JSON.stringify(key.slice(0, 64))}: keep only one`,
    code: 'conflict',
  }));
}

/** Returns the conditional schema of the required content for subjects of a type. */
function ofType(type: SubjectType): Schema {
  const subject = described(SUBJECT, objectOf({ subject_type: subjectWith(enumOf([type])) }));
  return { if: objectOf({ subject }).schema, then: REQUIRED_CONTENT[type].schema };
}

/** Checks a group in `attributes`. If `attributes` is not an object, the structural check reports it. */
function attributesWith(group: string, check: Check): Check {
  const attributes = described(ATTRIBUTES, objectOf({ [group]: optional(check) }));
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
