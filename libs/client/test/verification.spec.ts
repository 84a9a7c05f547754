import { createHash } from 'node:crypto';
import { canonicalize, type JsonObject } from '@iss/domain/pure';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ErasedError,
  type IdentityStateOptions,
  IdentityState,
  IdentityStateError,
  MemoryTrustStore,
  ProtocolError,
  type Subject,
  type VerificationFailure,
  verificationOf,
} from '../src/index.ts';
import { FileTrustStore } from '../src/node.ts';
import { BASE_URL, FakeService, type Keys, makeKeys, NOW_MS, ORIGIN } from './fake-service.ts';

let keys: Keys;
let service: FakeService;
beforeAll(async () => {
  keys = await makeKeys();
});
beforeEach(() => {
  service = new FakeService(keys);
  for (const name of ['One', 'Two', 'Three']) service.write(name);
});

const trusted = () => ({ vkeys: [keys.log.verifierKey], witnesses: [keys.witness.verifierKey] });
type Attributes = { legal: { legal_name: string } };
const subjectOf = (from: FakeService, options: Partial<IdentityStateOptions> = {}): Subject<Attributes> =>
  new IdentityState({ baseUrl: BASE_URL, fetch: from.fetch, now: () => NOW_MS, ...options })
    .tenant('acme')
    .organization('acme-corp');
/** Returns a matcher of the failure. Null means an answer that is not one of the API. */
const failing = (failure: string | null): unknown =>
  failure === null ? expect.any(ProtocolError) : expect.objectContaining({ name: 'VerificationError', failure });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('a client that has read versions', () => {
  it('refuses a changed version and versions that do not link to a known one', async () => {
    const subject = subjectOf(service);
    await subject.version(2);
    const other = new FakeService(keys);
    for (const name of ['One', 'Zwei', 'Three']) other.write(name);
    service.snapshots.splice(0, 3, ...other.snapshots);
    await expect(subject.version(2)).rejects.toEqual(failing('changed'));
    await expect(subject.version(3)).rejects.toEqual(failing('chain'));
    await expect(subject.version(1)).rejects.toEqual(failing('chain'));
  });

  it('refuses a latest version that is older than a known one', async () => {
    const subject = subjectOf(service);
    await subject.latest();
    service.snapshots.pop();
    await expect(subject.latest()).rejects.toEqual(failing('rolled_back'));
    // A request for an earlier time gets an earlier version.
    expect((await subject.latest({ asOf: new Date(Date.UTC(2026, 0, 2, 12)) })).snapshot_version).toBe(2);
  });

  it('accepts changed content with verify: false', async () => {
    const subject = subjectOf(service, { verify: false });
    service.bend = (_, text) => text.replace('Three', 'Four');
    const latest = await subject.latest();
    expect(latest.envelope.attributes.legal.legal_name).toBe('Four');
    expect(verificationOf(latest)).toBeUndefined();
  });
});

it('content with a claim of erasure is still verified', async () => {
  service.bend = (path, text) =>
    path.endsWith('latest')
      ? text
          .replace('"Three"', '"Four"')
          .replace('"envelope":', '"erased":{"erasure_id":"e","erased_at":"t"},"envelope":')
      : text;
  for (const options of [{}, { trust: trusted() }]) {
    await expect(subjectOf(service, options).latest()).rejects.toEqual(failing('hash'));
  }
});

describe('a proxy that changes the answer', () => {
  const LIES: readonly (readonly [what: string, failure: VerificationFailure | null, lie: (text: string) => string])[] =
    [
      ['another value in the content', 'hash', (text) => text.replace('"Three"', '"Four"')],
      ['an additional member', 'hash', (text) => text.replace('"legal":{', '"legal":{"a":1,')],
      ['a duplicate member', null, (text) => text.replace('"legal":{', '"legal":{"legal_name":"One",')],
      ['another hash', 'hash', (text) => text.replace(/("envelope_hash":")[0-9a-f]{8}/, '$100000000')],
      ['no hash', 'unhashed', (text) => text.replace(/"envelope_hash":"[0-9a-f]+"/, '"envelope_hash":null')],
      ['no prev_hash', 'chain', (text) => text.replace(/"prev_hash":"[0-9a-f]+"/, '"prev_hash":null')],
      ['no content', 'envelope_missing', (text) => text.replace('"envelope":', '"other":')],
      [
        'another version number',
        'header',
        (text) => text.replace('"snapshot_version":3,"generated_at"', '"snapshot_version":4,"generated_at"'),
      ],
      ['another time', 'header', (text) => text.replace(/("generated_at":")\d{4}/, '$11999')],
      [
        'another change_kind',
        'header',
        (text) => text.replace('"envelope":', '"change_kind":"correction","envelope":'),
      ],
      ['another id', 'header', (text) => text.replace(/("snapshot_id":")[0-9a-f]{8}/, '$100000000')],
      ['another subject', 'other_subject', (text) => text.replaceAll('acme-corp', 'somebody-else')],
      ['an array', null, () => '[]'],
      ['truncated JSON', null, (text) => text.slice(0, -1)],
    ];

  it.each(LIES)('is detected if it sends %s: %s', async (_what, failure, lie) => {
    service.bend = (_, text) => {
      const bent = lie(text);
      expect(bent).not.toBe(text);
      return bent;
    };
    await expect(subjectOf(service).latest()).rejects.toEqual(failing(failure));
  });
});

describe('a chain', () => {
  it('is verified down to version 1, and only once', async () => {
    const subject = subjectOf(service, { verify: 'chain' });
    await subject.latest();
    await subject.latest();
    service.write('Four');
    await subject.latest();
    expect(service.asked.filter((path) => path.endsWith('chain-proof'))).toHaveLength(1);
  });

  it.each([
    ['a link is missing', 'gap', (items: unknown[]) => items.toSpliced(1, 1)],
    ['the first version is missing', 'gap', (items: unknown[]) => items.slice(0, -1)],
    ['the last version is missing', 'gap', (items: unknown[]) => items.slice(1)],
    [
      'a prev_hash is different',
      'chain',
      (items: unknown[]) => items.with(1, { ...Object(items[1]), prev_hash: 'f'.repeat(64) }),
    ],
    [
      'the last version has another hash',
      'changed',
      (items: unknown[]) => items.with(0, { ...Object(items[0]), envelope_hash: 'f'.repeat(64) }),
    ],
    [
      'a link has chain_valid: false',
      'chain',
      (items: unknown[]) => items.with(1, { ...Object(items[1]), chain_valid: false }),
    ],
  ])('is refused if %s', async (_what, failure, change) => {
    service.bend = (path, text) => {
      if (!path.endsWith('chain-proof')) return text;
      const { items }: { items: unknown[] } = JSON.parse(text);
      return JSON.stringify({ items: change(items), next_cursor: null });
    };
    await expect(subjectOf(service).latest({ verify: 'chain' })).rejects.toEqual(failing(failure));
  });

  it.each(['asc', 'desc'] as const)('a history with a missing version is refused (%s)', async (order) => {
    expect(await all(subjectOf(service).history({ order }))).toHaveLength(3);
    for (const at of [0, 1, 2]) {
      service.bend = (_, text) => {
        const { items }: { items: unknown[] } = JSON.parse(text);
        return JSON.stringify({ items: items.toSpliced(at, 1), next_cursor: null });
      };
      // Versions that the client has not seen may be missing at the growing end.
      const isGrowingEnd = order === 'asc' ? at === 2 : at === 0;
      const read = all(subjectOf(service).history({ order }));
      if (isGrowingEnd) expect(await read).toHaveLength(2);
      else await expect(read).rejects.toEqual(failing('gap'));
    }
  });
});

describe('log verification', () => {
  it('returns the log entry and the checkpoint of the version', async () => {
    service.log('something else');
    const latest = await subjectOf(service, { trust: trusted() }).latest();
    expect(verificationOf(latest)).toEqual({
      mode: 'log',
      log: {
        logIndex: 2,
        tenantId: 'acme',
        writtenBy: 'oidc:p#alice',
        checkpoint: { origin: ORIGIN, size: 4, note: await service.checkpoint(), cosignedBy: ['witness.example/w'] },
      },
    });
  });

  it.each([
    ['a hash of the inclusion proof', 'not_in_log', /"inclusion":\["[^"]{4}/, '"inclusion":["AAAA'],
    ['the log index', 'not_in_log', /"log_index":2/, '"log_index":1'],
    ['the entry', 'not_in_log', /AQEBAQEBAQEBAQEBAQEBAQ/, 'BQEBAQEBAQEBAQEBAQEBAQ'],
    ['the size of the tree', 'checkpoint', /client\\n3\\n/, 'client\\n4\\n'],
    ['a signature', 'checkpoint', /— log\.example\/client ([^ ]{8})..../, '— log.example/client $1AAAA'],
    ['the log origin', 'checkpoint', /log\.example\/client\\n/, 'log.example/other\\n'],
    ['a member name of the proof', null, /"checkpoint"/, '"c"'],
  ])('refuses an answer that changes %s', async (_what, failure, pattern, instead) => {
    service.bend = (path, text) => {
      if (!path.endsWith('log-proof')) return text;
      const bent = text.replace(pattern, instead);
      expect(bent).not.toBe(text);
      return bent;
    };
    await expect(subjectOf(service, { trust: trusted() }).latest()).rejects.toEqual(failing(failure));
  });

  it('refuses the log proof of another version', async () => {
    const other = await (
      await service.fetch(
        `${BASE_URL}/v1/tenants/acme/snapshots/${String(service.snapshots[0]?.['snapshot_id'])}/log-proof`,
      )
    ).text();
    service.bend = (path, text) => (path.endsWith('log-proof') ? other : text);
    await expect(subjectOf(service, { trust: trusted() }).latest()).rejects.toEqual(failing('not_in_log'));
  });

  it('refuses a header that differs from the log entry', async () => {
    service.bend = (path, text) =>
      path.endsWith('latest') ? text.replace(/"created_at":"2026-01-03/, '"created_at":"2025-01-03') : text;
    await expect(subjectOf(service, { trust: trusted() }).latest()).rejects.toEqual(failing('not_in_log'));
  });

  it('refuses a log that is inconsistent with a checkpoint from acceptCheckpoint', async () => {
    const client = new IdentityState({ baseUrl: BASE_URL, fetch: service.fetch, now: () => NOW_MS, trust: trusted() });
    const fork = new FakeService(keys, 'acme-corp', ['another past']);
    fork.write('One');
    expect(await client.acceptCheckpoint(await fork.checkpoint())).toMatchObject({ origin: ORIGIN, size: 2 });
    await expect(client.tenant('acme').organization('acme-corp').latest()).rejects.toEqual(failing('forked'));
  });

  it('requests the proofs of a page concurrently', async () => {
    let waiting = 0;
    let most = 0;
    const fetch: typeof globalThis.fetch = async (...words) => {
      most = Math.max(most, ++waiting);
      const answer = await service.fetch(...words);
      waiting--;
      return answer;
    };
    const subject = subjectOf(service, { fetch, trust: trusted() });
    expect(await all(subject.history())).toHaveLength(3);
    expect(most).toBe(3);
  });

  it('refuses a second entry for the same version', async () => {
    const subject = subjectOf(service, { trust: trusted() });
    service.write('Four', new Date(NOW_MS));
    await subject.latest();
    service.logAgain(4);
    await expect(subject.latest()).rejects.toEqual(failing('logged_twice'));
  });

  it('refuses a new entry whose time is before a stored checkpoint', async () => {
    const subject = subjectOf(service, { trust: trusted() });
    await subject.latest();
    // The checkpoint was signed at ten. A version from fifty minutes earlier means only that the log was late.
    service.write('Four', new Date(NOW_MS - 3_000_000));
    expect((await subject.latest()).snapshot_version).toBe(4);
    service.write('Five', new Date(NOW_MS - 3_700_000));
    await expect(subject.latest()).rejects.toEqual(failing('backdated'));
    // A client without a stored checkpoint cannot detect this.
    expect((await subjectOf(service, { trust: trusted() }).latest()).snapshot_version).toBe(5);
  });

  it('refuses a checkpoint without the required signatures', async () => {
    service.cosign = false;
    await expect(subjectOf(service, { trust: trusted() }).latest()).rejects.toEqual(failing('checkpoint'));
    await subjectOf(service, { trust: { ...trusted(), quorum: 0 } }).latest();
    const strangers = { ...trusted(), vkeys: [(await makeKeys()).log.verifierKey] };
    await expect(subjectOf(service, { trust: strangers }).latest()).rejects.toEqual(failing('checkpoint'));
  });

  it('refuses a fork, with both checkpoints as evidence', async () => {
    const store = new MemoryTrustStore();
    const subject = subjectOf(service, { trust: { ...trusted(), store } });
    await subject.latest();
    const kept = await store.read(ORIGIN);
    // The log has the same keys, but another history.
    const fork = new FakeService(keys, 'acme-corp', ['another past']);
    for (const name of ['One', 'Two', 'Three', 'Four']) fork.write(name);
    const forked = subjectOf(fork, { trust: { ...trusted(), store } });
    await expect(forked.latest()).rejects.toEqual(
      expect.objectContaining({ failure: 'forked', evidence: [kept, await fork.checkpoint()] }),
    );
    // The other history has the same size.
    const twin = new FakeService(keys, 'acme-corp');
    for (const name of ['Eins', 'Zwei', 'Drei']) twin.write(name);
    await expect(subjectOf(twin, { trust: { ...trusted(), store } }).latest()).rejects.toEqual(failing('forked'));
    expect(await store.read(ORIGIN)).toBe(kept);
  });

  it('refuses a checkpoint that is older than the stored one', async () => {
    const subject = subjectOf(service, { trust: trusted() });
    const older = await service.checkpoint();
    service.log('more');
    await subject.latest();
    service.bend = (path, text) =>
      path.endsWith('log-proof') ? JSON.stringify({ ...JSON.parse(text), checkpoint: older }) : text;
    await expect(subject.latest()).rejects.toEqual(failing('checkpoint_older'));
  });

  it('accepts concurrent reads while the log grows', async () => {
    const subject = subjectOf(service, { trust: trusted() });
    await subject.latest();
    const reads = Array.from({ length: 20 }, (_, index) => {
      service.log(`entry ${index}`);
      return subject.version(1 + (index % 3));
    });
    expect(await Promise.all(reads)).toHaveLength(20);
  });

  it('refuses a checkpoint without a valid consistency proof', async () => {
    const subject = subjectOf(service, { trust: trusted() });
    await subject.latest();
    service.log('more');
    service.bend = (path, text) => (path === '/log/consistency' ? '{"proof":[]}' : text);
    await expect(subject.latest()).rejects.toEqual(failing('forked'));
  });

  it.each([
    ['accepts a log clock four minutes ahead', 240_000, null],
    ['refuses a log clock an hour ahead', 3_600_000, 'clock'],
    ['accepts a log clock an hour behind', -3_600_000, null],
  ])('%s', async (_what, aheadMs, failure) => {
    service.now = () => NOW_MS + aheadMs;
    const read = subjectOf(service, { trust: trusted() }).latest();
    if (failure === null) expect((await read).snapshot_version).toBe(3);
    else await expect(read).rejects.toEqual(failing(failure));
  });

  it('requires valid trust settings', async () => {
    await expect(subjectOf(service).latest({ verify: 'log' })).rejects.toThrow('Set `trust`.');
    await expect(subjectOf(service, { trust: {} }).latest()).rejects.toThrow('Set trust.policy or vkeys.');
    await expect(subjectOf(service, { trust: { ...trusted(), quorum: 2 } }).latest()).rejects.toThrow('quorum');
  });
});

describe('latest with asOf', () => {
  const day = (number: number): string => `2026-01-0${number}T12:00:00Z`;

  it('refuses a version from after that time', async () => {
    expect((await subjectOf(service).latest({ asOf: day(4) })).snapshot_version).toBe(3);
    for (const basis of ['recorded', 'effective'] as const) {
      await expect(subjectOf(service).latest({ asOf: day(2), basis })).rejects.toEqual(failing('as_of'));
    }
  });

  it('refuses a version that is older than a known one from before that time', async () => {
    const subject = subjectOf(service);
    await subject.version(2);
    service.bend = (path, text) => (path.endsWith('latest') ? JSON.stringify(service.snapshots[0]) : text);
    expect((await subject.latest({ asOf: day(1) })).snapshot_version).toBe(1);
    await expect(subject.latest({ asOf: day(2) })).rejects.toEqual(failing('as_of'));
    await expect(subject.latest({ asOf: '2026-01-02' })).rejects.toEqual(failing('as_of'));
  });
});

describe('a bundle', () => {
  it('proves every version and every erasure', async () => {
    service.erase(2);
    const versions = await all(subjectOf(service, { trust: trusted() }).export());
    expect(versions.map(({ envelope }) => envelope !== undefined)).toEqual([true, false, true]);
  });

  it('cannot hide a version behind the erasure of another one', async () => {
    service.erase(2);
    service.bend = (path, text) => {
      const lines: Record<string, unknown>[] = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const [, , erased, hidden] = lines;
      if (!path.endsWith('export') || erased === undefined || hidden === undefined) return text;
      const { envelope, ...snapshot } = Object(hidden['snapshot']);
      expect(envelope).toBeDefined();
      lines[3] = { ...erased, snapshot: { ...snapshot, erased: { erasure_id: 'e', erased_at: 't' } } };
      return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    };
    await expect(all(subjectOf(service, { trust: trusted() }).export())).rejects.toEqual(failing('not_in_log'));
  });

  it('is refused with forged content for an erased version', async () => {
    const [, , { envelope = null } = {}] = service.snapshots;
    service.erase(3, false);
    service.bend = (path, text) => {
      const lines: JsonObject[] = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      if (!path.endsWith('export')) return text;
      const forged = { ...Object(envelope), attributes: { legal: { legal_name: 'Forged' } } };
      const envelope_hash = createHash('sha256').update(canonicalize(forged)).digest('hex');
      const last = lines.at(-1) ?? {};
      lines[lines.length - 1] = { ...last, snapshot: { ...Object(last['snapshot']), envelope: forged, envelope_hash } };
      return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    };
    await expect(all(subjectOf(service, { trust: trusted() }).export())).rejects.toEqual(failing('not_in_log'));
  });

  it('is refused with an erasure that has no proof', async () => {
    service.erase(2);
    service.bend = (path, text) =>
      path.endsWith('export') ? text.replace(/"erased":\{"log_index"/, '"gone":{"log_index"') : text;
    await expect(all(subjectOf(service, { trust: trusted() }).export())).rejects.toEqual(
      expect.any(IdentityStateError),
    );
  });
});

describe('an erasure', () => {
  const read = (verify?: 'hash') => subjectOf(service, { trust: trusted(), ...(verify && { verify }) });
  const placesOf = (versions: readonly object[]): unknown[] =>
    versions.map((version) => verificationOf(version)?.log?.logIndex ?? null);

  it('is proved for a version in a history and for a single version', async () => {
    service.erase(2);
    expect(placesOf(await all(read().history()))).toEqual([2, 1, 0]);
    await expect(read().version(2)).rejects.toThrow(ErasedError);
    expect(service.asked).toContain(`snapshots/${String(service.snapshots[1]?.['snapshot_id'])}/log-proof`);
  });

  it('from an earlier release is proved by its log index alone', async () => {
    service.erase(2, false);
    expect(placesOf(await all(read().history()))).toEqual([2, null, 0]);
    expect(placesOf(await all(read().export()))).toEqual([0, null, 2]);
    await expect(read().version(2)).rejects.toThrow(ErasedError);
  });

  it('without a proof is refused', async () => {
    const claim = { erased: { erasure_id: 'e', erased_at: '2026-01-04T00:00:00.000Z' } };
    const [, second] = service.snapshots;
    service.bend = (path, text) => {
      if (path.endsWith('/history')) {
        const { items } = JSON.parse(text);
        delete items[1].envelope;
        return JSON.stringify({ items: [items[0], { ...items[1], ...claim }, items[2]], next_cursor: null });
      }
      if (!path.endsWith('/snapshots/2')) return text;
      const error = { code: 'erased', message: '', request_id: '', erased: { ...second, ...claim.erased } };
      return new Response(JSON.stringify({ error }), { status: 410 });
    };
    await expect(all(read().history())).rejects.toEqual(failing('envelope_missing'));
    await expect(read().version(2)).rejects.toEqual(failing('envelope_missing'));
    // Without `trust`, the client believes the service.
    await expect(read('hash').version(2)).rejects.toThrow(ErasedError);
  });

  it.each([
    ['snapshot_id', 'b1c2d3e4-0000-4000-8000-000000000000'],
    ['envelope_hash', 'ab'.repeat(32)],
    ['prev_hash', 'cd'.repeat(32)],
    ['created_at', '2020-01-01T00:00:00.000Z'],
  ])('with another %s is refused in a bundle and in a history', async (name, other) => {
    service.erase(2);
    const lied = (version: JsonObject): JsonObject => ({ ...version, [name]: other });
    service.bend = (path, text) => {
      if (path.endsWith('/history')) {
        const { items } = JSON.parse(text);
        return JSON.stringify({ items: [items[0], lied(items[1]), items[2]], next_cursor: null });
      }
      if (!path.endsWith('/export')) return text;
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      lines[2] = { ...lines[2], snapshot: lied(lines[2].snapshot) };
      return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    };
    for (const versions of [read().export(), read().history()]) {
      await expect(all(versions)).rejects.toThrow(IdentityStateError);
    }
  });

  it('for another version is refused', async () => {
    service.erase(2, false);
    service.erase(3, false);
    const [, second, third] = service.snapshots.map((snapshot) => String(snapshot['snapshot_id']));
    const fetch: typeof globalThis.fetch = (input) =>
      service.fetch(String(input).replace(String(second), String(third)));
    await expect(all(subjectOf(service, { trust: trusted(), fetch }).history())).rejects.toEqual(failing('not_in_log'));
  });
});

describe('FileTrustStore', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iss-trust-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps checkpoints for a later instance', async () => {
    const store = () => new FileTrustStore(join(folder, 'deep', 'trust.json'));
    await subjectOf(service, { trust: { ...trusted(), store: store() } }).latest();
    const twin = new FakeService(keys);
    for (const name of ['Eins', 'Zwei', 'Drei', 'Vier']) twin.write(name);
    await expect(subjectOf(twin, { trust: { ...trusted(), store: store() } }).latest()).rejects.toEqual(
      failing('forked'),
    );
  });

  it('lets only one of many concurrent replacements succeed', async () => {
    const stores = Array.from({ length: 8 }, () => new FileTrustStore(join(folder, 'shared.json')));
    const replaced = await Promise.all(stores.map((store, index) => store.replace('o', undefined, `note ${index}`)));
    expect(replaced.filter(Boolean)).toHaveLength(1);
  });
});
