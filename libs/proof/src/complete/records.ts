import { isJsonObject, type JsonObject, type JsonValue } from '@iss/domain/pure';
import { type Expected, textOf } from '../content';
import { UnreadableError, VerificationError } from '../errors';
import { requireEntry, requireIncluded } from '../inclusion';
import { leafOf } from '../leaf';
import { Members } from '../members';
import type { ProvedNewest } from './newest';

/** The records of a stream. */
export interface RecordKind {
  /** The type of the entries that have them. */
  readonly type: string;
  /** The members of a record of this stream. Other records of an entry belong to other streams. */
  readonly of: Expected;
  /** Tells a record in one line. */
  readonly tell: (record: JsonObject) => string;
}

/** A proved record, and its number in the stream. */
export interface ProvedRecord {
  readonly number: number;
  readonly logIndex: number;
  readonly record: JsonObject;
}

/** Kinds of records by the letter of their stream. */
const KINDS: Readonly<Record<string, Omit<RecordKind, 'of'>>> = {
  d: {
    type: 'audit.recorded',
    tell: ({ at, action, principal_id: principal = null, target }) =>
      `${textOf(at)}: ${textOf(action)} by ${principal === null ? 'no principal' : textOf(principal)}, ${textOf(target)}`,
  },
  r: {
    type: 'disclosures.recorded',
    tell: ({ first_at, principal_id, grantee_tenant_id, via, from_version, to_version }) =>
      `${textOf(first_at)}: versions ${textOf(from_version)} to ${textOf(to_version)} to ${textOf(principal_id)} of ` +
      `${textOf(grantee_tenant_id)}, by ${textOf(via)}`,
  },
};

/** Returns the kind of records of the stream that an answer names. @throws UnreadableError if it has none */
export function recordKindOf(answer: Members): RecordKind {
  const letter = answer.text('stream');
  const kind = Object.hasOwn(KINDS, letter) ? KINDS[letter] : undefined;
  if (kind === undefined) throw new UnreadableError('not_newest', `The stream ${letter} has no records.`);
  const of = answer.has('subject_type')
    ? { subject_type: answer.text('subject_type'), subject_id: answer.text('subject_id') }
    : {};
  return { ...kind, of };
}

/**
 * Proves the shown records of a stream, which have successive numbers. Each number leads to one entry, and an entry must have as many
 * records of the stream as numbers lead to it. So no record is missing between the first and the last one.
 *
 * @throws VerificationError
 */
export function proveRecords(
  shown: Members,
  tenantId: string,
  { type, of }: RecordKind,
  { verified, number: newest, placesOf }: ProvedNewest,
): readonly ProvedRecord[] {
  const places = placesOf(shown.value('look_ups'));
  const proved = entriesOf(shown).flatMap((logged, at): ProvedRecord[] => {
    const where = `Entry ${at + 1} of the records`;
    const text = logged.logged();
    const place = { log_index: logged.count('log_index'), inclusion: logged.texts('inclusion') };
    const { records } = requireEntry(where, text, { type, tenant_id: tenantId });
    requireIncluded(where, leafOf(text), place, verified.checkpoint);
    const leading = places.filter(({ logIndex }) => logIndex === place.log_index);
    const own = recordsIn(records, of);
    if (own.length !== leading.length) {
      throw gap(`${where} has ${own.length} records of the stream, but the map leads to ${leading.length}`);
    }
    return own.map(({ record, nth }, turn) => {
      const { number = 0, key = '' } = leading[turn] ?? {};
      // An entry of the earlier format has no keys. A public entry of the log names them, in their order.
      if (text.keys && text.keys[nth] !== key) {
        throw new VerificationError('not_newest', `${where} does not carry the key of number ${number} at its record.`);
      }
      return { number, logIndex: place.log_index, record };
    });
  });
  const first = places[0]?.number ?? 0;
  const isWhole = proved.every(({ number }, at) => number === first + at && number <= newest);
  if (!isWhole || proved.length !== places.length) throw gap('the shown entries are not those of successive numbers');
  return proved;
}

function entriesOf(shown: Members): Members[] {
  const entries = shown.value('entries');
  if (!Array.isArray(entries)) throw gap('entries is not a list');
  return entries.map((one, at) => Members.of(`Entry ${at + 1} of the records`, one));
}

/** Returns the records with these members, and their places among all records of the entry. */
function recordsIn(records: JsonValue | undefined, of: Expected): { record: JsonObject; nth: number }[] {
  const all = Array.isArray(records) ? records : [];
  return all.flatMap((record, nth) =>
    isJsonObject(record) && Object.entries(of).every(([name, value]) => record[name] === value)
      ? [{ record, nth }]
      : [],
  );
}

function gap(why: string): VerificationError {
  return new VerificationError('gap', `The records are not proved: ${why}.`);
}
