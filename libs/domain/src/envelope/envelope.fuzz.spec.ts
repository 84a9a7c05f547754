import * as fc from 'fast-check';
import { hashText } from '../chain/seal';
import { sealEnvelope } from '../chain/sealed-envelope';
import { DomainError } from '../errors';
import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import { isJsonObject, type JsonValue } from '../json/value';
import { MAX_POINTER_SHOWN, MAX_PROBLEMS } from '../limits';
import { fuzzing } from '../testing/fuzz';
import { hostileJson, placesIn } from '../testing/hostile-json';
import { validateEnvelope } from './envelope';

const VALID = {
  envelope_version: 'entity_state_envelope_v1',
  snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
  attributes: { legal: { legal_name: 'Acme' } },
  evidence: [
    { evidence_id: 'ev-1', evidence_type: 'registry_extract', source: 's', captured_at: '2026-01-15T09:00:00Z' },
  ],
  audit: { created_by: 'oidc:dev#alice', created_at: '2026-01-15T09:30:00Z', source: 'onboarding' },
  attribute_paths: { '/attributes/legal/legal_name': [{ evidence_id: 'ev-1', evidence_type: 'x', role: 'primary' }] },
};

const PLACES = placesIn(VALID).filter((place) => place.length > 0);

/** The valid envelope with other values at some of its places, and with unknown members. */
const nearlyEnvelope: fc.Arbitrary<JsonValue> = fc
  .array(fc.tuple(fc.nat(), fc.option(hostileJson, { nil: undefined }), fc.string()), { minLength: 1, maxLength: 4 })
  .map((changes) => {
    const envelope = parseStoredJson(JSON.stringify(VALID));
    for (const [at, value, name] of changes) {
      const place = PLACES[at % PLACES.length] ?? [];
      let holder: JsonValue | undefined = envelope;
      for (const key of place.slice(0, -1)) holder = memberOf(holder, key);
      const last = place.at(-1) ?? '';
      if (isJsonObject(holder) && value === undefined) Reflect.deleteProperty(holder, last);
      else if (typeof holder === 'object' && holder !== null) {
        const key = at % 3 === 0 && isJsonObject(holder) ? name : last;
        // A parsed `__proto__` is a member like any other, and never the prototype.
        Object.defineProperty(holder, key, {
          value: value ?? null,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      }
    }
    return envelope;
  });

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

const fuzz = fuzzing(2);

fuzz('validateEnvelope accepts only what can be sealed and read, and limits its problems', [nearlyEnvelope], (sent) => {
  try {
    const envelope = validateEnvelope(sent);
    const { text, hash } = sealEnvelope(envelope);
    expect([hash, canonicalize(parseStoredJson(text))]).toEqual([hashText(text), text]);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(error.code).toBe('validation_error');
    const { details = [] } = error;
    expect(details.length).toBeGreaterThan(0);
    expect(details.length).toBeLessThanOrEqual(MAX_PROBLEMS);
    // Each key is cut here, and the edge cuts the whole path.
    expect(Math.max(...details.map(({ path }) => path.length))).toBeLessThanOrEqual(4 * MAX_POINTER_SHOWN);
  }
});

fuzz('validateEnvelope returns or refuses any JSON value', [hostileJson], (sent) => {
  try {
    expect(validateEnvelope(sent)).toBe(sent);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(error.code).toBe('validation_error');
  }
});
