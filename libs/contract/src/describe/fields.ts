import {
  ALL_SUBJECTS,
  anyArray,
  anyText,
  CONTROLS,
  enumOf,
  checkThen,
  isRecurrence,
  isUuid,
  type JsonValue,
  MAX_DISPLAY_NAME,
  parsePeriod,
  PRINCIPAL_TYPES,
  RECURRENCE,
  ROLES,
  rule,
  type Schema,
  SCOPES,
  SUBJECT_TYPES,
  snapshotVersion,
  subjectId as subjectIdCheck,
  TENANCY_ROLES,
  textThat,
} from '@iss/domain';
import { Field, field, shown } from '../describe/field';
import { view } from '../describe/view';

/** Fields that occur in more than one place of the interface. */

const TEXT: Schema = { type: 'string' };
const INTEGER: Schema = { type: 'integer' };

/** 1-128 characters, starting alphanumeric (contract, "`tenant_id`, `slug`"). */
export const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** `oidc:{project_id}#{user_id}` without control characters (specification, "Principal access record"). */
export const PRINCIPAL_ID = new RegExp(`^oidc:[^#${CONTROLS}]{1,255}#[^${CONTROLS}]{1,255}$`, 'u');

/** Creates a field with one rule. Every violation is an invalid value, whatever its type. */
function valueOf<T>(schema: Schema, message: string, holds: (value: JsonValue) => boolean): Field<T> {
  return field(rule(schema, 'invalid_value', message, holds));
}

function textOf(schema: Schema, message: string, holds: (text: string) => boolean): Field<string> {
  return field(textThat(schema, 'invalid_value', message, holds)).shownAs(TEXT);
}

export const text = field(anyText);
export const flag: Field<boolean> = field(
  rule({ type: 'boolean' }, 'invalid_type', 'must be true or false', (value) => typeof value === 'boolean'),
);
export const uuid = valueOf<string>(
  { type: 'string', format: 'uuid' },
  'must be a UUID',
  (value) => typeof value === 'string' && isUuid(value),
);
/** A moment: RFC 3339 with a timezone. Code that compares it with the clock has to parse it itself. */
export const time = field<string>({ ...anyText, schema: { ...TEXT, format: 'date-time' } }).madeOf((date: Date) =>
  date.toISOString(),
);
/** A moment exactly as it was sent, because that text was hashed. */
export const sentTime = time.madeOf((sent: string) => sent);
/** A moment, or a UTC day, in a query. */
export const dayOrInstant = textOf(
  {},
  'must be an ISO 8601 date-time with a timezone, or a date (YYYY-MM-DD, in UTC)',
  (sent) => parsePeriod(sent) !== null,
);
/** The ISO 8601 duration between two recurrences. */
export const recurrence = textOf(
  { pattern: RECURRENCE.source },
  'must be an ISO 8601 duration of whole days from P1D to P5Y, for example P1Y, P3M or P1Y6M',
  isRecurrence,
);
export const hash = shown<string>({ ...TEXT, pattern: '^[0-9a-f]{64}$' });
export const count = shown<number>({ ...INTEGER, minimum: 0 });
export const integer = shown<number>(INTEGER);
export const anyObject = shown<object>({ type: 'object', additionalProperties: true });

export const tenantId = textOf(
  { maxLength: 128, pattern: TENANT_ID.source },
  'must be 1-128 characters of [A-Za-z0-9._-] and start with a letter or digit',
  (id) => TENANT_ID.test(id),
).described('The id of a tenant.');
export const principalId = textOf({ pattern: PRINCIPAL_ID.source }, 'must be oidc:{project_id}#{user_id}', (id) =>
  PRINCIPAL_ID.test(id),
).described('A principal, as its access token names it: `oidc:{project_id}#{user_id}`.');
export const subjectId = field(subjectIdCheck)
  .shownAs(TEXT)
  .described(
    'The subject’s id, compared byte for byte. It must not be `.` or `..`, because a URL cannot contain them.',
  );
export const subjectName = shown<string>(TEXT)
  .optional()
  .described(
    'The name in the latest version: the legal name, otherwise the individual’s name; cut after ' +
      `${MAX_DISPLAY_NAME} characters. It is in lists only, and absent if there is none or if you may not read it.`,
  );
export const version = field(snapshotVersion).described('The number of the snapshot in the subject’s chain.');

/** An https URL without query and fragment, as the `iss` of a credential. */
export const ISSUER = /^https:\/\/[\x21\x24-\x3b\x3d\x40-\x7e]{1,500}$/;
export const issuer = textOf(
  { maxLength: 508, pattern: ISSUER.source },
  'must be an https URL without query and fragment, of at most 508 characters',
  (sent) => ISSUER.test(sent) && URL.canParse(sent),
).described('The issuer: the `iss` of its credentials.');

/** Creates a field for one of these strings. */
export function oneOf<const T extends string>(values: readonly T[]): Field<T> {
  const known: readonly unknown[] = values;
  return valueOf<T>({ type: 'string', enum: values }, `must be one of ${values.join(', ')}`, (value) =>
    known.includes(value),
  );
}

export const subjectType = oneOf<string>(SUBJECT_TYPES).described('The namespace of the subject’s id.');
/** The type of what a grant covers: a subject, or all subjects of the grantor. */
export const grantedType = oneOf<string>([...SUBJECT_TYPES, ALL_SUBJECTS.subjectType]).described(
  'The namespace of the subject’s id. `*` means all subjects that the grantor owns, now or later.',
);
export const grantedId = subjectId.described('The subject’s id, compared byte for byte. With the type `*` it is `*`.');
export const role = oneOf(ROLES).described('The member’s role in the tenant.');
export const tenancyRole = oneOf(TENANCY_ROLES).described(
  '`account_admin` if the member administers the account, otherwise `member`.',
);
export const principalType = oneOf(PRINCIPAL_TYPES).described('The kind of caller.');

/**
 * Creates a field for a non-empty array of distinct `values`. Its only rule checks the length first, because comparing
 * all pairs of an array that fills a body would take seconds.
 */
export function setOf<const T extends string>(values: readonly T[], bounds: Schema = {}): Field<T[], readonly T[]> {
  const items = enumOf(values);
  return field(
    rule<T[]>(
      { type: 'array', minItems: 1, ...bounds, uniqueItems: true, items: items.schema },
      'invalid_value',
      `must be a non-empty array of distinct values of ${values.join(', ')}`,
      (sent) =>
        Array.isArray(sent) &&
        sent.length >= 1 &&
        sent.length <= values.length &&
        new Set(sent).size === sent.length &&
        sent.every((item) => items.problemsOf(item) === null),
    ),
  )
    .shownAs({ type: 'array', items: items.schema })
    .madeOf((stored: readonly T[]) => [...stored]);
}

export const scopes = setOf(SCOPES).described('The reads that the grant permits.');

/** Creates a field for a list whose reader checks the items. */
export function arrayWith(items: Schema): Field<JsonValue[]> {
  return field({ ...anyArray, schema: { type: 'array', items } });
}

/** Creates a field for 1 to `max` characters without control characters. With the u flag, code points are counted. */
export function line(max: number): Field<string> {
  const pattern = new RegExp(`^\\P{Cc}{1,${max}}$`, 'u');
  const message = `must be 1 to ${max} characters without control characters`;
  return textOf({ minLength: 1, maxLength: max, pattern: `^[^${CONTROLS}]*$` }, message, (sent) => pattern.test(sent));
}

/** Creates a field for 1 to `max` characters that its reader parses as a URL. */
export function url(max: number): Field<string> {
  const message = `must be 1 to ${max} characters`;
  return textOf(
    { format: 'uri', minLength: 1, maxLength: max },
    message,
    (sent) => sent.length >= 1 && sent.length <= max,
  );
}

/** Creates a field for the beginning of a {@link line}. */
export function prefix(max: number): Field<string> {
  const pattern = new RegExp(`^\\P{Cc}{0,${max}}$`, 'u');
  const message = `must be at most ${max} characters without control characters`;
  return textOf({ maxLength: max, pattern: `^[^${CONTROLS}]*$` }, message, (sent) => pattern.test(sent));
}

/** Equivalent to `[\P{Cc}\t\n\r]*`, for schema tools without Unicode properties. */
const PROSE = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$';

/** {@link PROSE} with at least one character that is not white space. */
const PROSE_NOT_BLANK = `${PROSE.slice(0, -1)}[^\\s\\u0000-\\u001f\\u007f-\\u009f]${PROSE.slice(1)}`;

/** Creates a field for 1 to `max` characters of text with line breaks that is not blank. */
export function someProse(max: number): Field<string> {
  const pattern = new RegExp(`^(?=.*\\S)[\\P{Cc}\\t\\n\\r]{1,${max}}$`, 'su');
  const message = `must be 1 to ${max} characters, not blank, and without control characters except tabs and line breaks`;
  return textOf({ minLength: 1, maxLength: max, pattern: PROSE_NOT_BLANK }, message, (sent) => pattern.test(sent));
}

/** Creates a field for at most `max` characters of text with line breaks. */
export function prose(max: number): Field<string> {
  const pattern = new RegExp(`^[\\P{Cc}\\t\\n\\r]{0,${max}}$`, 'u');
  const message = `must be at most ${max} characters without control characters except tabs and line breaks`;
  return textOf({ maxLength: max, pattern: PROSE }, message, (sent) => pattern.test(sent));
}

/** Creates a field for an integer from `minimum` to `maximum`. */
export function integerFrom(minimum: number, maximum: number): Field<number> {
  const isInRange = (value: JsonValue): boolean => typeof value === 'number' && value >= minimum && value <= maximum;
  const schema = { ...INTEGER, minimum, maximum };
  return field(
    checkThen(
      rule(INTEGER, 'invalid_type', 'must be an integer', Number.isInteger),
      rule<number>(schema, 'invalid_value', `must be from ${minimum} to ${maximum}`, isInRange),
    ),
  );
}

/** Creates a field for an integer >= 1 in a query, sent as text. `note` is its example or its default, as a number. */
export function positive(note: { example: number } | { default: number }): Field<string> {
  const isPositive = (value: JsonValue): boolean => typeof value === 'string' && /^[1-9][0-9]{0,9}$/.test(value);
  return valueOf({ ...INTEGER, minimum: 1, ...note }, 'must be an integer >= 1', isPositive);
}

/** Creates a field for an integer within bounds in a query, sent as text, with its default. */
export function wholeFrom(minimum: number, maximum: number, preferred: number): Field<string> {
  const isWithin = (value: JsonValue): boolean =>
    typeof value === 'string' && /^(?:0|[1-9][0-9]{0,14})$/.test(value) && +value >= minimum && +value <= maximum;
  const schema = { ...INTEGER, minimum, maximum, default: preferred };
  return valueOf(schema, `must be an integer from ${minimum} to ${maximum}`, isWithin);
}

/**
 * Creates a field for an integer >= 1 or one word. Its schema is a string with a pattern, which code generators handle
 * better than two types.
 */
export function positiveOr(word: string, preferred: number): Field<string> {
  const pattern = new RegExp(`^(?:[1-9][0-9]{0,9}|${word})$`);
  return matching(pattern, `must be an integer >= 1, or ${word}`).byDefault(String(preferred));
}

/** Creates a field for text in a query that matches a pattern. */
export function matching(pattern: RegExp, message: string): Field<string> {
  return textOf({ pattern: pattern.source }, message, (sent) => pattern.test(sent));
}

/** The query parameters of every list. `PageOf` sets the list's bounds of `limit`. */
export const PAGE = {
  limit: field<string>({ ...anyText, schema: { ...INTEGER, minimum: 1 } })
    .described(
      'The maximum number of items on the page. A page with large items ends at 8 MiB; continue with `next_cursor`.',
    )
    .optional(),
  cursor: textOf({ maxLength: 4096 }, 'must be at most 4096 characters', (sent) => sent.length <= 4096)
    .described('The `next_cursor` of the previous page. Keep the same order and filters.')
    .optional(),
};

/** A nested object that names the subject of a record. */
export const SubjectRef = view(
  'SubjectRef',
  { subject_type: subjectType, subject_id: subjectId },
  'The individual, organization or entity that the snapshots describe.',
);

/** Seconds to wait for a fact that is not in the published log yet. */
export const logWait = matching(/^(?:[0-9]|10)$/, 'must be a number of seconds from 0 to 10')
  .optional()
  .byDefault('0');

/** Filters of a list of subjects by what their latest versions say. */
export const CONTENT_FILTERS = {
  identifier: prefix(512)
    .optional()
    .example('lei:529900T8BM49AURSDO55')
    .described(
      '`scheme:value`: only subjects whose latest version has this member of `attributes.identifiers`. A value without a ' +
        'scheme and colon is found under each scheme. The comparison ignores case in schemes and values, and spaces, hyphens and dots in values.',
    ),
  q: prefix(128)
    .optional()
    .example('acme')
    .described(
      'The beginning of the name, in either case and with or without accents: the legal name in the latest ' +
        'version, otherwise the individual’s name. The list is then ordered by name instead of id. Send either `identifier` or `q`, and ' +
        'neither with `subject_id_prefix` or `evidence`.',
    ),
};
