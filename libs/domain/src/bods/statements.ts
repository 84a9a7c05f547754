import { hash } from 'node:crypto';
import { parsePeriod } from '../envelope/formats';
import { touches } from '../view/paths';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { formatPointer, getAt, getMember, parsePointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import type { SubjectRef } from '../subject-ref';
import {
  ENTITY_ADDRESSES,
  ENTITY_DATES,
  ENTITY_TYPES,
  OFFICER_INTERESTS,
  OWNER_INTERESTS,
  PERSON_ADDRESSES,
  PERSON_DATES,
  SCHEMES,
  SOURCE_TYPES,
} from './fields';

/** A version of a subject, or the part of it that a reader may see. */
export interface StatedVersion {
  snapshotId: string;
  generatedAt: string;
  /** The text of the envelope. */
  text: string;
}

const VERSION = '0.4';

/** The record in a statement, without the members that say when it was stated. */
interface BodsRecord {
  recordId: string;
  recordType: 'entity' | 'person' | 'relationship';
  recordDetails: JsonObject;
  /** The JSON Pointers of the values that it is made of. */
  pointers: readonly string[];
}

/**
 * Converts the versions of one subject, ascending, to statements of the Beneficial Ownership Data Standard 0.4. A record is stated
 * again in each version that changed it, and closed in the version that no longer has it. Equal versions give equal statements.
 */
export class BodsStatements {
  private records = new Map<string, { record: BodsRecord; text: string }>();
  private readonly subject: string;

  constructor(private readonly ref: SubjectRef) {
    this.subject = recordIdOf(ref.subjectType, ref.subjectId);
  }

  /** Returns the statements of the next version. */
  next(version: StatedVersion): JsonObject[] {
    const envelope = parseStoredJson(version.text);
    const statements: JsonObject[] = [];
    const records = new Map<string, { record: BodsRecord; text: string }>();
    for (const record of this.recordsIn(getMember(envelope, 'attributes') ?? {})) {
      const text = canonicalize(record.recordDetails);
      records.set(record.recordId, { record, text });
      const former = this.records.get(record.recordId);
      if (former?.text === text) continue;
      statements.push(this.statement(version, envelope, record, former === undefined ? 'new' : 'updated'));
    }
    for (const [id, { record }] of this.records) {
      if (!records.has(id)) statements.push(this.statement(version, envelope, record, 'closed'));
    }
    this.records = records;
    return statements;
  }

  private statement(
    { snapshotId, generatedAt }: StatedVersion,
    envelope: JsonValue,
    { recordId, recordType, recordDetails, pointers }: BodsRecord,
    recordStatus: 'new' | 'updated' | 'closed',
  ): JsonObject {
    const source = sourceOf(envelope, pointers);
    return {
      statementId: hash('sha256', canonicalize(['bods', VERSION, snapshotId, recordId]), 'hex'),
      statementDate: generatedAt,
      declaration: snapshotId,
      declarationSubject: this.subject,
      recordId,
      recordType,
      recordStatus,
      recordDetails,
      ...(source === null ? {} : { source }),
    };
  }

  private *recordsIn(attributes: JsonValue): Generator<BodsRecord> {
    const { subjectType } = this.ref;
    const relations = ['/attributes/owners', '/attributes/officers'];
    const pointers = Object.keys(isJsonObject(attributes) ? attributes : {})
      .map((key) => formatPointer(['attributes', key]))
      .filter((pointer) => !relations.includes(pointer));
    const own = { recordId: this.subject, pointers };
    if (subjectType === 'individual') {
      yield { ...own, recordType: 'person', recordDetails: personOf(attributes) };
      return;
    }
    yield { ...own, recordType: 'entity', recordDetails: entityOf(subjectType, attributes) };
    for (const group of ['owners', 'officers']) {
      const parties = getMember(attributes, group);
      for (const [key, party] of isJsonObject(parties) ? Object.entries(parties) : []) {
        const interest = interestOf(group, party);
        if (interest === null || !isJsonObject(party)) continue;
        const pointer = formatPointer(['attributes', group, key]);
        yield {
          recordId: `${this.subject}#/${group}${formatPointer([key])}`,
          recordType: 'relationship',
          recordDetails: {
            isComponent: false,
            subject: this.subject,
            interestedParty: partyOf(party),
            interests: [interest],
          },
          pointers: [pointer],
        };
      }
    }
  }
}

/** The id of the record of a subject. Links in attributes have the same form. */
function recordIdOf(type: string, id: string): string {
  return `${type}/${id}`;
}

function entityOf(type: string, attributes: JsonValue): JsonObject {
  const name = textAt(attributes, '/legal/legal_name');
  const details = textAt(attributes, '/legal/legal_form') ?? textAt(attributes, '/legal/form');
  const country = countryOf(getAt(attributes, ['jurisdiction', 'country']));
  return defined({
    isComponent: false,
    entityType: defined({ type: type === 'organization' ? ENTITY_TYPES.organization : ENTITY_TYPES.entity, details }),
    name,
    jurisdiction: country,
    identifiers: identifiersOf(attributes),
    addresses: addressesOf(attributes, ENTITY_ADDRESSES),
    ...datesOf(attributes, ENTITY_DATES),
  });
}

function personOf(attributes: JsonValue): JsonObject {
  const at = (part: string): string | undefined => textAt(attributes, `/biographic/name/${part}`);
  const [givenName, familyName] = [at('given_name'), at('family_name')];
  const fullName =
    at('formatted_name') ?? ([givenName, familyName].filter((part) => part !== undefined).join(' ') || undefined);
  const nationality = getAt(attributes, ['biographic', 'nationality']);
  const nationalities = (Array.isArray(nationality) ? nationality : [nationality])
    .map(countryOf)
    .filter((country) => country !== undefined);
  return defined({
    isComponent: false,
    personType: fullName === undefined ? 'unknownPerson' : 'knownPerson',
    unspecifiedPersonDetails: fullName === undefined ? { reason: 'informationUnknownToPublisher' } : undefined,
    names: fullName === undefined ? undefined : [defined({ type: 'legal', fullName, givenName, familyName })],
    nationalities: nationalities.length === 0 ? undefined : nationalities,
    identifiers: identifiersOf(attributes),
    addresses: addressesOf(attributes, PERSON_ADDRESSES),
    ...datesOf(attributes, PERSON_DATES),
  });
}

/** Returns the interest of an owner or officer; null if BODS has none for the role. */
function interestOf(group: string, party: JsonValue): JsonObject | null {
  const kind = textAt(party, '/kind') ?? '';
  const role = textAt(party, '/role') ?? '';
  const type = group === 'owners' ? (OWNER_INTERESTS.get(kind) ?? 'shareholding') : OFFICER_INTERESTS.get(role);
  if (type === undefined) return null;
  const percent = Number(textAt(party, '/percent') ?? getAt(party, ['percent']) ?? NaN);
  const isDirect = kind === 'direct' || kind === 'indirect';
  return defined({
    type,
    directOrIndirect: isDirect ? kind : 'unknown',
    details: group === 'owners' || role === '' ? undefined : role,
    share: percent >= 0 && percent <= 100 ? { exact: percent } : undefined,
    startDate: dateOf(textAt(party, '/since')),
    endDate: dateOf(textAt(party, '/until')),
  });
}

/** Returns the record of the party that an owner or officer links to. Without a link, there is no record. */
function partyOf(party: JsonObject): JsonValue {
  const link = textAt(party, '/subject');
  if (link !== undefined) return link;
  const name = textAt(party, '/name');
  return defined({
    reason: 'unknown',
    description: name === undefined ? undefined : `Named ${name}, without a record`,
  });
}

function identifiersOf(attributes: JsonValue): JsonValue | undefined {
  const identifiers = getMember(attributes, 'identifiers');
  if (!isJsonObject(identifiers)) return undefined;
  const found = Object.entries(identifiers).flatMap(([key, id]) => {
    if (typeof id !== 'string') return [];
    const scheme = SCHEMES.get(key.toLowerCase());
    return [scheme === undefined ? { id, schemeName: key } : { id, scheme, schemeName: key }];
  });
  return found.length === 0 ? undefined : found;
}

function addressesOf(
  attributes: JsonValue,
  places: Readonly<Record<string, readonly string[]>>,
): JsonValue | undefined {
  const found = Object.entries(places).flatMap(([type, pointers]) => {
    const value = firstAt(attributes, pointers);
    if (typeof value === 'string') return [{ type, address: value }];
    if (!isJsonObject(value)) return [];
    const lines = ['street', 'city', 'region']
      .map((part) => textAt(value, `/${part}`))
      .filter((line) => line !== undefined);
    const postCode = textAt(value, '/postal_code');
    return [defined({ type, address: lines.join(', ') || undefined, postCode, country: countryOf(value['country']) })];
  });
  return found.length === 0 ? undefined : found;
}

function datesOf(attributes: JsonValue, fields: Readonly<Record<string, readonly string[]>>): JsonObject {
  return defined(
    Object.fromEntries(Object.entries(fields).map(([name, pointers]) => [name, dateOf(firstAt(attributes, pointers))])),
  );
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** Returns a country by its ISO 3166 code, or by its name. */
function countryOf(value: JsonValue | undefined): JsonObject | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (!/^[A-Z]{2}$/.test(value)) return { name: value };
  return { name: COUNTRIES.of(value) ?? value, code: value };
}

/** Returns the source of a record: the evidence that covers its values. */
function sourceOf(envelope: JsonValue, pointers: readonly string[]): JsonObject | null {
  const attributed = getMember(envelope, 'attribute_paths');
  const references = Object.entries(isJsonObject(attributed) ? attributed : {})
    .filter(([path]) => touches(pointers, path))
    .flatMap(([, evidence]) => (Array.isArray(evidence) ? evidence : []));
  const ids = new Set(references.map((reference) => textAt(reference, '/evidence_id')));
  const evidence = getMember(envelope, 'evidence');
  const items = (Array.isArray(evidence) ? evidence : []).filter((item) => ids.has(textAt(item, '/evidence_id')));
  if (items.length === 0) return null;
  const types = new Set(items.map((item) => sourceTypeOf(textAt(item, '/evidence_type') ?? '')));
  const times = items.map((item) => textAt(item, '/retrieved_at') ?? textAt(item, '/captured_at') ?? '').sort();
  const names = [...new Set(items.map((item) => textAt(item, '/source') ?? '').filter((name) => name !== ''))];
  return defined({
    type: [...types].sort(),
    description: names.join('; ') || undefined,
    retrievedAt: times.at(-1) || undefined,
    assertedBy: names.length === 0 ? undefined : names.map((name) => ({ name })),
  });
}

function sourceTypeOf(evidenceType: string): string {
  return SOURCE_TYPES.find(([part]) => evidenceType.includes(part))?.[1] ?? 'thirdParty';
}

function firstAt(value: JsonValue, pointers: readonly string[]): JsonValue | undefined {
  for (const pointer of pointers) {
    const found = getAt(value, parsePointer(pointer));
    if (found !== undefined) return found;
  }
  return undefined;
}

function textAt(value: JsonValue, pointer: string): string | undefined {
  const found = getAt(value, parsePointer(pointer));
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function dateOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && parsePeriod(value) !== null
    ? value
    : undefined;
}

function defined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}
