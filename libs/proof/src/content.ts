import { isJsonObject, type JsonObject, type JsonValue } from '@iss/domain/pure';
import { VerificationError, type VerificationFailure } from './errors';

/** The facts of a version that its header, its log entry and its content state. */
export interface LoggedVersion {
  readonly subject: Readonly<Partial<Record<'subject_type' | 'subject_id', string>>>;
  readonly snapshot_id: string;
  readonly snapshot_version: number;
  readonly envelope_hash: string | null;
  readonly prev_hash: string | null;
  /** Absent in the receipt of an erasure. */
  readonly created_at?: string | undefined;
  readonly generated_at?: string | undefined;
  readonly written_by?: string | null | undefined;
  readonly write_request_id?: string | null | undefined;
  /** Only the content states it, so nothing binds that of a part. */
  readonly change_kind?: string | undefined;
}

/**
 * Checks that the content of a version has the claimed hash and agrees with the header.
 *
 * @param hash the SHA-256 of the canonical content, as lowercase hex
 * @throws VerificationError `hash` or `header`
 */
export function requireContent(where: string, header: LoggedVersion, envelope: JsonValue, hash: string): void {
  if (hash !== header.envelope_hash) {
    throw new VerificationError(
      'hash',
      `${where} the SHA-256 of the envelope is ${hash} instead of ${header.envelope_hash}.`,
    );
  }
  const { subject, snapshot_id, snapshot_version, generated_at, change_kind } = header;
  const own = isJsonObject(envelope) ? envelope : {};
  const found = {
    ...own,
    // UUIDs are case-insensitive.
    snapshot_id: textOf(own['snapshot_id']).toLowerCase(),
    change_kind: own['change_kind'] ?? 'change',
  };
  const expected = { snapshot_id: snapshot_id.toLowerCase(), snapshot_version, generated_at, change_kind };
  requireMembers(`${where} the envelope`, found, expected, 'header');
  requireMembers(`${where} the envelope’s subject`, own['subject'], subject, 'header');
}

/** The members that an object must have. Undefined ones are not checked. */
export type Expected = Readonly<Record<string, JsonValue | undefined>>;

/** Checks the members of an object that are expected, and returns it. @throws VerificationError */
export function requireMembers(
  where: string,
  found: JsonValue | undefined,
  expected: Expected,
  failure: VerificationFailure = 'not_in_log',
): JsonObject {
  const members = isJsonObject(found) ? found : {};
  for (const [name, value] of Object.entries(expected)) {
    if (value === undefined || members[name] === value) continue;
    throw new VerificationError(failure, `${where}’s ${name} is ${textOf(members[name])} instead of ${textOf(value)}.`);
  }
  return members;
}

/** Returns a text as it is, and any other value as JSON. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
