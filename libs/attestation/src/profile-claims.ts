import {
  Attribution,
  type CredentialProfile,
  formatPointer,
  getAt,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parsePointer,
} from '@iss/domain';
import { PROFILES } from './profiles';
import type { Claims, ValueForm, Source } from './profiles/profile';

/** A place of an envelope from which a profile cannot make a claim. */
export interface ProfileFault {
  /** A JSON Pointer into the envelope. */
  path: string;
  message: string;
}

/** The claims of an attestation, which its holder may hide. */
export interface ProfileClaims {
  claims: JsonObject;
  /** Values that are shown as a whole. */
  units: ReadonlySet<JsonValue>;
  faults: readonly ProfileFault[];
}

/** More items than this would block other requests while they are signed. */
const MAX_ITEMS = 100;
const MAX_FAULTS = 50;

/** Maps an envelope, or the part of it that a reader may see, to the claims of a published type. */
export function profileClaims(profile: CredentialProfile, envelope: JsonValue): ProfileClaims {
  const mapping = new Mapping(envelope);
  const claims = mapping.claimsOf(PROFILES[profile].claims, []);
  return { claims, units: mapping.units, faults: mapping.faults.slice(0, MAX_FAULTS) };
}

type Place = readonly string[];

class Mapping {
  readonly units = new Set<JsonValue>();
  readonly faults: ProfileFault[] = [];
  private readonly evidence: Attribution;

  constructor(private readonly envelope: JsonValue) {
    this.evidence = new Attribution(envelope);
  }

  claimsOf(sources: Claims, place: Place): JsonObject {
    const claims: JsonObject = {};
    for (const [name, source] of Object.entries(sources)) {
      const value = this.valueOf(source, place, claims);
      if (value !== undefined) claims[name] = value;
    }
    return claims;
  }

  /** Returns undefined for a claim that is left out, and after a fault. */
  private valueOf(source: Source, place: Place, beside: JsonObject): JsonValue | undefined {
    if (source === 'key') return place.at(-1);
    if ('present' in source) return this.present(source.present, place);
    if ('evidence' in source) return this.evidenceAt(source.evidence, place);
    const at = 'each' in source ? source.each : source.at;
    const inside = at === undefined ? place : [...place, ...parsePointer(at)];
    const value = getAt(this.envelope, inside);
    if (value === undefined || value === null) {
      const { optional } = source;
      const isNeeded =
        optional === undefined ||
        (optional !== true && Object.entries(optional.unless).some(([name, needing]) => beside[name] === needing));
      return isNeeded ? this.fault(inside, 'is absent') : undefined;
    }
    if ('each' in source) return this.each(source.claims, value, inside);
    if ('claims' in source) return this.group(source, inside);
    if (source.isList !== true) return this.leaf(source.as, value, inside);
    if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ITEMS) {
      return this.fault(inside, `must be an array of 1 to ${MAX_ITEMS} items`);
    }
    return value.flatMap((item, index) => this.leaf(source.as, item, [...inside, String(index)]) ?? []);
  }

  private group({ claims, isUnit }: { claims: Claims; isUnit?: true }, place: Place): JsonValue | undefined {
    const before = this.faults.length;
    const made = this.claimsOf(claims, place);
    if (Object.keys(made).length === 0 && this.faults.length === before) {
      return this.fault(place, `must have one of ${Object.keys(claims).join(', ')}`);
    }
    if (isUnit === true) this.units.add(made);
    return made;
  }

  private each(claims: Claims, value: JsonValue, place: Place): JsonValue | undefined {
    const keys = isJsonObject(value) ? Object.keys(value) : [];
    if (keys.length === 0 || keys.length > MAX_ITEMS) {
      return this.fault(place, `must be an object of 1 to ${MAX_ITEMS} members`);
    }
    return keys.map((key) => this.claimsOf(claims, [...place, key]));
  }

  private present(members: Readonly<Record<string, string>>, place: Place): JsonValue | undefined {
    const found = Object.keys(members).filter((name) => isJsonObject(getAt(this.envelope, [...place, name]) ?? null));
    const [name = ''] = found;
    return found.length === 1
      ? members[name]
      : this.fault(place, `must have one of ${Object.keys(members).join(', ')}`);
  }

  private evidenceAt(codes: readonly (readonly [string, string])[], place: Place): JsonValue | undefined {
    const references = this.evidence.root.at(place).cover?.references ?? [];
    const items = references.flatMap(({ item }) => {
      const [id, type] = [item?.['evidence_id'], item?.['evidence_type']];
      const code = typeof type === 'string' ? codes.find(([part]) => type.includes(part))?.[1] : undefined;
      return typeof id === 'string' && id !== '' && code !== undefined ? [{ id, type: code }] : [];
    });
    return items.length > 0 ? items : this.fault(['attribute_paths', formatPointer(place)], 'must name evidence');
  }

  private leaf(form: ValueForm, value: JsonValue, place: Place): JsonValue | undefined {
    const read = typeof form === 'string' ? READERS[form](value) : form.find((one) => one === value);
    if (read !== undefined) return read;
    return this.fault(place, `must be ${typeof form === 'string' ? MEANINGS[form] : `one of ${form.join(', ')}`}`);
  }

  private fault(place: Place, message: string): undefined {
    this.faults.push({ path: formatPointer(place), message });
  }
}

type NamedForm = Extract<ValueForm, string>;

const MEANINGS: Readonly<Record<NamedForm, string>> = {
  text: 'text',
  country: 'a country code of two capital letters',
  date: 'a date (YYYY-MM-DD)',
  lei: 'an LEI',
  percent: 'a decimal number from 0 to 100',
  number: 'a decimal number, not negative',
  count: 'a whole number, not negative',
  digits: 'a whole number, not negative',
};

const matching =
  (pattern: RegExp) =>
  (value: JsonValue): string | undefined =>
    typeof value === 'string' && pattern.test(value) ? value : undefined;

/** Numbers are decimal text or JSON numbers. */
function numberIn(value: JsonValue): number | undefined {
  const read = typeof value === 'string' && /^\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
  return typeof read === 'number' && read >= 0 ? read : undefined;
}

function countIn(value: JsonValue): number | undefined {
  const read = numberIn(value);
  return Number.isSafeInteger(read) ? read : undefined;
}

const READERS: Readonly<Record<NamedForm, (value: JsonValue) => JsonValue | undefined>> = {
  text: matching(/./su),
  country: matching(/^[A-Z]{2}$/),
  date: (value) => (typeof value === 'string' && isDate(value) ? value : undefined),
  lei: matching(/^[A-Z0-9]{18}[0-9]{2}$/),
  percent: (value) => {
    const read = numberIn(value);
    return read !== undefined && read <= 100 ? read : undefined;
  },
  number: numberIn,
  count: countIn,
  digits: (value) => countIn(value)?.toString(),
};

function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${text}T`);
}
