import { hash } from 'node:crypto';
import { isDateTime, parsePeriod } from '../envelope/formats';
import { DomainError } from '../errors';
import { canonicalize } from '../json/canonicalize';
import { formatPointer, getAt, getMember, parsePointer, setMember } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { OFFICER_INTERESTS, OWNER_INTERESTS, SCHEMES, SOURCE_TYPES } from './fields';

/** The most characters that the versions of one conversion may have together. A text of JavaScript has at most 2^29. */
const MAX_BODS_CHARACTERS = 300_000_000;
/** The members of an envelope around its content. */
const FRAME_CHARACTERS = 512;

/** A statement with the members that a conversion needs. */
interface Statement {
  recordId: string;
  recordType: string;
  isClosed: boolean;
  details: JsonObject;
  /** RFC 3339. */
  at: string;
  atMs: number;
  source: JsonObject | null;
}

/** A subject while its statements are read. */
interface Party {
  type: string;
  id: string;
  attributes: JsonObject;
  /** `owners` and `officers`, each by key. */
  relations: Map<string, Map<string, JsonObject>>;
  evidence: Map<string, JsonObject>;
  attributions: Map<string, JsonValue>;
  version: number;
  /** The content of the last version. */
  last: string;
}

/**
 * Converts statements of BODS 0.4 to envelopes: one subject for each entity and person, with relationships as members of `owners` or
 * `officers` of their subject (docs/how-to/bods.md). The versions of a subject follow in the order of `statementDate`. Ids of
 * subjects begin with `prefix`. The same statements give the same envelopes. Throws `validation_error` that names a statement, and
 * `payload_too_large` if the versions together have more than `maxCharacters`.
 */
export function envelopesOfBods(
  statements: JsonValue,
  prefix: string,
  maxCharacters = MAX_BODS_CHARACTERS,
): JsonObject[] {
  if (!Array.isArray(statements)) throw invalid('', 'must be an array of statements');
  const read = statements.map(readStatement);
  const types = new Map(read.filter(({ recordType }) => recordType !== 'relationship').map(typeOf));
  const parties = new Map<string, Party>();
  const partyOf = (recordId: string): Party => {
    const { type, id } = refOf(recordId, types, prefix);
    // Several records can name one subject.
    const name = `${type}/${id}`;
    const party = parties.get(name) ?? newParty(type, id);
    parties.set(name, party);
    return party;
  };
  const envelopes: JsonObject[] = [];
  const inTime = read.toSorted((one, other) => one.atMs - other.atMs);
  let characters = 0;
  let changed = new Map<Party, string>();
  for (const [index, statement] of inTime.entries()) {
    const isRelation = statement.recordType === 'relationship';
    const about = isRelation ? textAt(statement.details, '/subject') : statement.recordId;
    if (about !== undefined) {
      const party = partyOf(about);
      if (isRelation) setRelation(party, statement, (recordId) => refOf(recordId, types, prefix));
      else setOwn(party, statement);
      changed.set(party, statement.at);
    }
    const next = inTime[index + 1];
    if (next !== undefined && next.atMs === statement.atMs) continue;
    for (const [party, at] of changed) {
      characters += addVersion(party, at, envelopes);
      if (characters > maxCharacters) throw tooLarge(maxCharacters);
    }
    changed = new Map();
  }
  return envelopes;
}

function readStatement(statement: JsonValue, index: number): Statement {
  const [recordId, recordType] = [textAt(statement, '/recordId'), textAt(statement, '/recordType')];
  const [details, date] = [getMember(statement, 'recordDetails'), textAt(statement, '/statementDate')];
  if (recordId === undefined) throw invalid(`/${index}/recordId`, 'is required');
  if (recordType === undefined || !['entity', 'person', 'relationship'].includes(recordType))
    throw invalid(`/${index}/recordType`, 'must be entity, person or relationship');
  if (!isJsonObject(details)) throw invalid(`/${index}/recordDetails`, 'must be an object');
  const period = date === undefined ? null : parsePeriod(date);
  if (date === undefined || period === null)
    throw invalid(`/${index}/statementDate`, 'must be a date (YYYY-MM-DD) or an RFC 3339 date-time');
  const source = getMember(statement, 'source');
  return {
    ...{ recordId, recordType, details, at: momentOf(date), atMs: period.first.getTime() },
    isClosed: textAt(statement, '/recordStatus') === 'closed',
    source: isJsonObject(source) ? source : null,
  };
}

/** Returns the type of the subject for a record. */
function typeOf({ recordId, recordType, details }: Statement): [string, string] {
  if (recordType === 'person') return [recordId, 'individual'];
  const type = textAt(details, '/entityType/type') ?? '';
  return [recordId, ['registeredEntity', 'state', 'stateBody'].includes(type) ? 'organization' : 'entity'];
}

/** Returns the subject of a record. The records of an export of this service name type and id. */
function refOf(recordId: string, types: ReadonlyMap<string, string>, prefix: string): { type: string; id: string } {
  const [, named, rest] = /^(individual|organization|entity)\/(.+)$/s.exec(recordId) ?? [];
  return { type: named ?? types.get(recordId) ?? 'entity', id: prefix + (rest ?? recordId) };
}

function newParty(type: string, id: string): Party {
  const lists = { relations: new Map(), evidence: new Map(), attributions: new Map() };
  return { type, id, attributes: {}, ...lists, version: 0, last: '' };
}

function setOwn(party: Party, { details, recordType, isClosed, at, source }: Statement): void {
  const own = recordType === 'person' ? personAttributes(details) : entityAttributes(details);
  const closed = isClosed ? { record: { status: 'closed', since: at } } : {};
  party.attributes = { ...own, ...closed };
  for (const group of Object.keys({ ...own, ...closed }))
    attribute(party, formatPointer(['attributes', group]), source, at);
}

function setRelation(
  party: Party,
  { recordId, details, isClosed, at, source }: Statement,
  refTo: (recordId: string) => { type: string; id: string },
): void {
  const [, key = recordId] = /#\/(?:owners|officers)\/(.+)$/s.exec(recordId) ?? [];
  const base = key.replaceAll('~1', '/').replaceAll('~0', '~');
  const interests = getMember(details, 'interests');
  const list: JsonValue[] = Array.isArray(interests) && interests.length > 0 ? interests : [{}];
  for (const [index, interest] of list.entries()) {
    const type = textAt(interest, '/type') ?? 'shareholding';
    const role = keyOf(OFFICER_INTERESTS, type);
    const group = role === undefined ? 'owners' : 'officers';
    const name = index === 0 ? base : `${base}-${index + 1}`;
    const pointer = formatPointer(['attributes', group, name]);
    const members = party.relations.get(group) ?? new Map<string, JsonObject>();
    party.relations.set(group, members);
    members.delete(name);
    if (isClosed) {
      party.attributions.delete(pointer);
      continue;
    }
    attribute(party, pointer, source, at);
    const member = defined({
      ...linkOf(details, refTo),
      ...(role === undefined ? { kind: kindOf(type, interest) } : { role: textAt(interest, '/details') ?? role }),
      percent: percentOf(interest),
      since: textAt(interest, '/startDate'),
      until: textAt(interest, '/endDate'),
    });
    members.set(name, member);
  }
}

function linkOf(details: JsonObject, refTo: (recordId: string) => { type: string; id: string }): JsonObject {
  const party = textAt(details, '/interestedParty');
  if (party === undefined) {
    const { interestedParty } = details;
    const name = textAt(interestedParty ?? null, '/description')?.replace(/^Named (.*), without a record$/s, '$1');
    return defined({ name, reason: textAt(interestedParty ?? null, '/reason') });
  }
  const { type, id } = refTo(party);
  return { subject: `${type}/${id}` };
}

function kindOf(type: string, interest: JsonValue): string | undefined {
  if (type !== 'shareholding') return keyOf(OWNER_INTERESTS, type) ?? type;
  const kind = textAt(interest, '/directOrIndirect');
  return kind === 'unknown' ? undefined : kind;
}

function percentOf(interest: JsonValue): string | undefined {
  const exact = getAt(interest, ['share', 'exact']);
  return typeof exact === 'number' ? String(exact) : undefined;
}

function entityAttributes(details: JsonObject): JsonObject {
  const name = textAt(details, '/name');
  const legal = defined({
    legal_name: name,
    legal_form: textAt(details, '/entityType/details'),
    founded: textAt(details, '/foundingDate'),
    dissolved: textAt(details, '/dissolutionDate'),
  });
  return defined({
    legal: name === undefined ? undefined : legal,
    jurisdiction: group({ country: countryOf(details['jurisdiction']) }),
    identifiers: identifiersOf(details),
    address: addressOf(details, 'registered'),
    contact: group({ address: addressOf(details, 'business') }),
  });
}

function personAttributes(details: JsonObject): JsonObject {
  const names = getMember(details, 'names');
  const [first = {}] = Array.isArray(names) ? names : [];
  const [given_name, family_name] = [textAt(first, '/givenName'), textAt(first, '/familyName')];
  const isWhole =
    [given_name, family_name].filter((part) => part !== undefined).join(' ') === textAt(first, '/fullName');
  const name = group({ formatted_name: isWhole ? undefined : textAt(first, '/fullName'), given_name, family_name });
  const nationalities = getMember(details, 'nationalities');
  const codes = (Array.isArray(nationalities) ? nationalities : []).map(countryOf).filter((code) => code !== undefined);
  const biographic = group({
    name,
    date_of_birth: textAt(details, '/birthDate'),
    date_of_death: textAt(details, '/deathDate'),
    nationality: codes.length > 1 ? codes : codes[0],
  });
  return defined({
    biographic: name === undefined ? undefined : biographic,
    identifiers: identifiersOf(details),
    residence: addressOf(details, 'residence'),
  });
}

function identifiersOf(details: JsonObject): JsonObject | undefined {
  const found: JsonObject = {};
  const { identifiers } = details;
  for (const one of Array.isArray(identifiers) ? identifiers : []) {
    const [id, scheme] = [textAt(one, '/id'), textAt(one, '/scheme')];
    const key = keyOf(SCHEMES, scheme ?? '') ?? textAt(one, '/schemeName') ?? scheme;
    if (id !== undefined && key !== undefined) setMember(found, key, id);
  }
  return group(found);
}

function addressOf(details: JsonObject, type: string): JsonObject | undefined {
  const { addresses } = details;
  const one = (Array.isArray(addresses) ? addresses : []).find((address) => textAt(address, '/type') === type);
  if (one === undefined) return undefined;
  return group({
    street: textAt(one, '/address'),
    postal_code: textAt(one, '/postCode'),
    country: countryOf(getMember(one, 'country')),
  });
}

function countryOf(country: JsonValue | undefined): string | undefined {
  return country === undefined ? undefined : (textAt(country, '/code') ?? textAt(country, '/name'));
}

/** Adds the source of a statement as evidence for a place. */
function attribute(party: Party, pointer: string, source: JsonObject | null, at: string): void {
  if (source === null) {
    party.attributions.delete(pointer);
    return;
  }
  const types = getMember(source, 'type');
  const type = (Array.isArray(types) ? types : []).find((one) => typeof one === 'string') ?? 'thirdParty';
  const evidence_type = EVIDENCE_TYPES.get(String(type)) ?? 'third_party_report';
  const asserted = textAt(source, '/assertedBy/0/name');
  const retrieved = textAt(source, '/retrievedAt');
  const evidence_id = `bods-${hash('sha256', canonicalize([source, at]), 'hex').slice(0, 16)}`;
  const evidence = defined({
    evidence_id,
    evidence_type,
    source: textAt(source, '/description') ?? asserted ?? 'unknown',
    captured_at: retrieved !== undefined && isDateTime(momentOf(retrieved)) ? momentOf(retrieved) : at,
    locator: textAt(source, '/url'),
  });
  party.evidence.set(evidence_id, evidence);
  party.attributions.set(pointer, [{ evidence_id, evidence_type }]);
}

const EVIDENCE_TYPES: ReadonlyMap<string, string> = new Map([
  ['officialRegister', 'registry_extract'],
  ['selfDeclaration', 'ownership_declaration'],
  ['verified', SOURCE_TYPES.at(-1)?.[0] ?? 'attestation'],
]);

/** Adds a version if the content differs from that of the last one. Returns the characters that it took. */
function addVersion(party: Party, at: string, envelopes: JsonObject[]): number {
  const { type, id, relations, attributions } = party;
  const attributes = { ...party.attributes };
  for (const [group, members] of relations) attributes[group] = Object.fromEntries(members);
  const paths = Object.fromEntries(attributions);
  const used = new Set([...attributions.values()].map((references) => textAt(references, '/0/evidence_id')));
  for (const evidenceId of party.evidence.keys()) if (!used.has(evidenceId)) party.evidence.delete(evidenceId);
  const content = { attributes, evidence: [...party.evidence.values()], attribute_paths: paths };
  const text = canonicalize(content);
  const characters = text.length + id.length + FRAME_CHARACTERS;
  if (text === party.last) return characters;
  party.last = text;
  party.version += 1;
  envelopes.push({
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: uuidOf(canonicalize([type, id, party.version, text])),
    snapshot_version: party.version,
    generated_at: at,
    subject: { subject_type: type, subject_id: id },
    ...content,
    audit: { created_by: 'iss import', created_at: at, source: 'bods' },
  });
  return characters;
}

/** Returns a UUID of version 8 (RFC 9562, section 5.8) from the hash of a text. */
function uuidOf(text: string): string {
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Returns a date, or a moment, as a moment. */
function momentOf(date: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(date) ? `${date}T00:00:00Z` : date;
}

function keyOf(map: ReadonlyMap<string, string>, value: string): string | undefined {
  return [...map].find(([, mapped]) => mapped === value)?.[0];
}

function textAt(value: JsonValue, pointer: string): string | undefined {
  const found = getAt(value, parsePointer(pointer));
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** Returns the members that have a value; undefined if there is none. */
function group(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject | undefined {
  const object = defined(members);
  return Object.keys(object).length === 0 ? undefined : object;
}

function defined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

function tooLarge(maxCharacters: number): DomainError {
  const most = maxCharacters.toLocaleString('en');
  return new DomainError(
    'payload_too_large',
    `The statements make versions of more than ${most} characters. Split them by subject, and give subjects with many relationships fewer dates.`,
  );
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `Not statements of BODS 0.4: ${path} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}
