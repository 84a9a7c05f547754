import { createHash } from 'node:crypto';
import { SDJwt } from '@sd-jwt/core';
import fc from 'fast-check';
import { canonicalize } from '../json/canonicalize';
import type { JsonObject, JsonValue } from '../json/value';
import type { Visible } from './paths';
import { commitView, discloseView, type PartialView } from './view';

const SECRET = Buffer.alloc(32, 7);

const ACME = {
  envelope_version: 'entity_state_envelope_v1',
  snapshot_id: '5d3c1b1e-0f3b-4c0a-9d52-0a1f3f9c1a01',
  snapshot_version: 3,
  generated_at: '2026-01-15T10:00:00Z',
  subject: { subject_type: 'organization', subject_id: 'acme-corp', note: 'hidden-note' },
  attributes: {
    legal: { legal_name: 'Acme AG', form: 'AG', 'a/b~c': 'escaped' },
    financials: { revenue: 12345678 },
    owners: [
      { name: 'Ada', share: 26 },
      { name: 'Bob', share: 74 },
    ],
    contact: { _sd: 'reserved', '...': 'reserved', email: 'x@acme.test' },
  },
  evidence: [
    { evidence_id: 'ev-legal', evidence_type: 'register', source: 'hr', captured_at: '2026-01-01T00:00:00Z' },
    {
      evidence_id: 'ev-books',
      evidence_type: 'accounts',
      source: 'hidden-auditor',
      captured_at: '2026-01-01T00:00:00Z',
    },
  ],
  attribute_paths: {
    '/attributes/legal': [{ evidence_id: 'ev-legal', evidence_type: 'register' }],
    '/attributes/financials/revenue': [{ evidence_id: 'ev-books', evidence_type: 'accounts' }],
  },
  audit: { created_by: 'hidden-clerk', created_at: '2026-01-15T10:00:00Z', source: 'import' },
} satisfies JsonObject;

function disclose(envelope: JsonObject, visible: Visible, more: { intoArrays?: boolean; secret?: Uint8Array } = {}) {
  const text = canonicalize(envelope);
  const envelopeHash = createHash('sha256').update(text).digest('hex');
  return discloseView({ text, envelopeHash, prevHash: null, secret: SECRET, visible, ...more });
}

/** Returns the claims that an independent implementation of RFC 9901 reads from a view. */
async function claimsOf({ payload, disclosures }: PartialView): Promise<Record<string, unknown>> {
  const header = Buffer.from('{"alg":"none"}').toString('base64url');
  const compact = [`${header}.${Buffer.from(payload).toString('base64url')}.`, ...disclosures, ''].join('~');
  const hasher = (data: string | ArrayBuffer) =>
    createHash('sha256')
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest();
  return (await SDJwt.fromEncode(compact, hasher)).getClaims<Record<string, unknown>>(hasher);
}

const parsed = (view: PartialView): JsonObject => JSON.parse(view.envelope);

it('discloseView discloses a value with its evidence, and nothing else', async () => {
  const view = disclose(ACME, ['/attributes/legal/legal_name']);
  const { envelope_version, snapshot_id, snapshot_version, generated_at } = ACME;
  expect(parsed(view)).toEqual({
    envelope_version,
    snapshot_id,
    snapshot_version,
    generated_at,
    subject: { subject_type: 'organization', subject_id: 'acme-corp' },
    attributes: { legal: { legal_name: 'Acme AG' } },
    evidence: [ACME.evidence[0]],
    attribute_paths: { '/attributes/legal': ACME.attribute_paths['/attributes/legal'] },
  });
  const readable = view.disclosures.map((text) => Buffer.from(text, 'base64url').toString());
  const all = `${view.envelope}${view.payload}${readable.join('')}`;
  for (const hidden of ['12345678', 'revenue', 'financials', 'Ada', 'hidden', 'ev-books', 'form', 'x@acme']) {
    expect(all).not.toContain(hidden);
  }
});

it.each<[string, Visible, boolean]>([
  ['everything', null, false],
  ['a value', ['/attributes/legal/legal_name'], false],
  ['an object and an array', ['/attributes/financials', '/attributes/owners'], false],
  ['a name with escapes', ['/attributes/legal/a~1b~0c'], false],
  ['an element, if paths may lead into arrays', ['/attributes/owners/1/share'], true],
  ['an object with reserved names', ['/attributes/contact'], false],
  ['paths that do not exist', ['/attributes/nothing', '/attributes/legal/nothing'], false],
])('an independent implementation of SD-JWT reads the same values: %s', async (_, visible, intoArrays) => {
  const view = disclose(ACME, visible, { intoArrays });
  const { attributes, evidence, attribute_paths = {} } = parsed(view);
  const claims = await claimsOf(view);
  expect(claims).toMatchObject({ attributes, evidence, attribute_paths, snapshot_version: 3, prev_hash: null });
  expect(canonicalize(claims.attributes as JsonValue)).toBe(canonicalize(attributes!));
});

it('discloseView and commitView commit to the same payload for any paths', () => {
  const views = [null, ['/attributes/legal'], ['/attributes/owners']].map((visible) => disclose(ACME, visible));
  expect(new Set(views.map(({ payload }) => payload)).size).toBe(1);
  const text = canonicalize(ACME);
  const envelopeHash = createHash('sha256').update(text).digest('hex');
  expect(commitView({ text, envelopeHash, prevHash: null, secret: SECRET })).toBe(views[0]!.hash);
  expect(views[0]!.hash).toBe(createHash('sha256').update(views[0]!.payload).digest('hex'));
});

it('discloseView does not follow paths into arrays, or show evidence there', () => {
  const attributed = {
    ...ACME,
    attribute_paths: { '/attributes/owners/0/share': [{ evidence_id: 'ev-books', evidence_type: 'accounts' }] },
  };
  const view = disclose(attributed, ['/attributes/owners/0']);
  expect(parsed(view)).toMatchObject({ attributes: {}, evidence: [] });
  expect(view.disclosures).toEqual([]);
});

it('a payload does not reveal the number of hidden values below a power of two', () => {
  const counts = (owners: number): number[] => {
    const attributes = { owners: Array.from({ length: owners }, () => 1), name: 'x' };
    const payload = JSON.parse(disclose({ ...ACME, attributes }, ['/attributes/name']).payload);
    return [payload.attributes._sd.length, payload.evidence.length, payload.attribute_paths._sd.length];
  };
  expect(counts(0)).toEqual([4, 4, 4]);
  expect(counts(1000)).toEqual([4, 4, 4]);
});

it('equal values have other digests under another secret', () => {
  const digests = (view: PartialView): string[] => JSON.parse(view.payload).attributes._sd;
  const one = digests(disclose(ACME, null));
  const other = digests(disclose(ACME, null, { secret: Buffer.alloc(32, 8) }));
  expect(one.filter((digest) => other.includes(digest))).toEqual([]);
  expect(new Set(one).size).toBe(one.length);
});

it('an independent implementation of SD-JWT reads any attributes', async () => {
  // The independent implementation treats a claim without a name as an element, and loses claims named `__proto__`.
  const key = fc.oneof(
    fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
    fc.constantFrom('_sd', '...', '_sd_alg', 'constructor', '0', 'a/b', '~'),
  );
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    ),
  }));
  const attributes = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(attributes, async (given) => {
      const envelope: JsonObject = { ...ACME, attributes: JSON.parse(JSON.stringify(given)) };
      const view = disclose(envelope, null);
      const claims = await claimsOf(view);
      expect(canonicalize(claims.attributes as JsonValue)).toBe(canonicalize(parsed(view).attributes!));
    }),
    { numRuns: 50 },
  );
});
