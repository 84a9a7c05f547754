import type { JsonObject } from '@iss/domain/pure';
import { IdentityState, type Subject, type Verify, verificationOf } from '../src/index.ts';
import { BASE_URL, FakeService, type Keys, makeKeys, NOW_MS } from './fake-service.ts';

let keys: Keys;
let service: FakeService;
const LEGAL = '/attributes/legal';

beforeAll(async () => {
  keys = await makeKeys();
});
beforeEach(() => {
  service = new FakeService(keys);
  for (const name of ['One', 'Two']) service.write(name);
});

function subjectOf(verify: Verify): Subject<{ legal?: { legal_name: string } }> {
  const trust = { vkeys: [keys.log.verifierKey], witnesses: [keys.witness.verifierKey] };
  return new IdentityState({ baseUrl: BASE_URL, fetch: service.fetch, now: () => NOW_MS, verify, trust })
    .tenant('acme')
    .organization('acme-corp');
}
const refusal = (failure: string, message: RegExp) =>
  expect.objectContaining({ name: 'VerificationError', failure, message: expect.stringMatching(message) });

it.each(['in the entry', 'apart'] as const)(
  'a partial version is verified if the log names its view: %s',
  async (naming) => {
    service.showPart(2, [LEGAL], naming);
    for (const verify of ['hash', 'log'] as const) {
      const version = await subjectOf(verify).version(2);
      expect(version.envelope.attributes).toEqual({ legal: { legal_name: 'Two' } });
      expect(verificationOf(version)).toMatchObject({
        mode: verify,
        log: verify === 'log' ? { tenantId: 'acme' } : null,
      });
    }
  },
);

it.each(['in the entry', 'apart'] as const)(
  'an export of partial versions is verified if the log names their views: %s',
  async (naming) => {
    service.showPart(1, [LEGAL], naming);
    service.showPart(2, ['/attributes/missing'], naming);
    const names: unknown[] = [];
    for await (const { envelope } of subjectOf('log').export()) names.push(envelope?.attributes.legal?.legal_name);
    expect(names).toEqual(['One', undefined]);
  },
);

it('a view that the log does not name is refused', async () => {
  service.showPart(2, [LEGAL], 'nowhere');
  await expect(subjectOf('hash').version(2)).resolves.toBeDefined();
  await expect(subjectOf('log').version(2)).rejects.toEqual(refusal('not_in_log', /does not name its view/));
  const exported = subjectOf('log').export();
  await expect(exported.next().then(() => exported.next())).rejects.toEqual(
    refusal('not_in_log', /does not name its view/),
  );
});

/**
 * The ways in which an operator with all keys can change an answer, and the errors of the client. `other` is a partial
 * version of another subject.
 */
const FORGERIES: [forgery: string, forge: (part: JsonObject, other: JsonObject) => void, expected: unknown][] = [
  ['the view of another subject', (part, { view }) => Object.assign(part, { view }), refusal('header', /its view’s/)],
  [
    'a disclosure of another subject',
    (part, other) => addDisclosures(part, other),
    refusal('hash', /not part of its view/),
  ],
  [
    'paths that do not cover the shown values',
    (part) => Object.assign(part, { disclosed_paths: ['/attributes/other'] }),
    refusal('hash', /not among its disclosed_paths/),
  ],
  [
    'another value',
    (part) =>
      Object.assign(part, {
        envelope: { ...Object(part['envelope']), attributes: { legal: { legal_name: 'Thief' } } },
      }),
    refusal('hash', /attributes is not what the view discloses/),
  ],
  [
    'the envelope hash of another version',
    (part, { envelope_hash }) => Object.assign(part, { envelope_hash }),
    refusal('header', /envelope_hash/),
  ],
  [
    'the whole version without its view',
    (part) => Reflect.deleteProperty(part, 'view'),
    refusal('hash', /the SHA-256 of the envelope/),
  ],
];

it.each(FORGERIES)('%s is refused', async (_, forge, expected) => {
  const part = service.showPart(2, [LEGAL], 'in the entry');
  const others = new FakeService(keys, 'other');
  others.write('Other');
  forge(part, others.showPart(1, [LEGAL], 'in the entry'));
  await expect(subjectOf('hash').version(2)).rejects.toEqual(expected);
});

it('a rewritten version is refused even if its view matches its header', async () => {
  const { snapshot_id, created_at, generated_at, envelope_hash, prev_hash } = service.showPart(
    2,
    [LEGAL],
    'in the entry',
  );
  const thief = new FakeService(keys);
  for (const name of ['One', 'Thief']) thief.write(name);
  const forged = thief.snapshots[1] ?? {};
  const envelope = { ...Object(forged['envelope']), snapshot_id, generated_at };
  Object.assign(forged, { snapshot_id, created_at, generated_at, envelope_hash, prev_hash, envelope });
  service.snapshots[1] = thief.showPart(2, [LEGAL], 'nowhere');
  await expect(subjectOf('hash').version(2)).resolves.toMatchObject({
    envelope: { attributes: { legal: { legal_name: 'Thief' } } },
  });
  await expect(subjectOf('log').version(2)).rejects.toEqual(refusal('not_in_log', /view_hash/));
});

function addDisclosures(part: JsonObject, other: JsonObject): void {
  const [own, foreign] = [Object(part['view']), Object(other['view'])];
  Object.assign(part, { view: { ...own, disclosures: [...own.disclosures, ...foreign.disclosures] } });
}
