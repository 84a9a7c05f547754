import { createHash } from 'node:crypto';
import canonicalizeOracle from 'canonicalize';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../json/value';
import { hashText, seal } from './seal';
import { type StoredSnapshot, verificationOfDiff, verifyStoredSnapshot } from './verify';

function snapshotId(version: number): string {
  return `4f2c7a1e-9a3b-4c5d-8e6f-${String(version).padStart(12, '0')}`;
}

/** Returns a sealed chain, newest first: `history[0]` and its parents. */
function history(length: number, attributes: JsonValue = {}): StoredSnapshot[] {
  const snapshots: StoredSnapshot[] = [];
  for (let version = 1; version <= length; version++) {
    const sealed = seal({ snapshot_id: snapshotId(version), snapshot_version: version, subject: {}, attributes });
    snapshots.unshift({
      snapshotId: snapshotId(version),
      snapshotVersion: version,
      envelopeText: sealed.text,
      envelopeHash: sealed.hash,
      prevHash: snapshots[0]?.envelopeHash ?? null,
    });
  }
  return snapshots;
}

function chainOf(snapshots: StoredSnapshot[], depth?: number) {
  const [snapshot, ...parents] = snapshots;
  if (snapshot === undefined) throw new Error('A chain has a snapshot.');
  return verifyStoredSnapshot('chain', snapshot, parents, depth);
}

function withChange(snapshots: StoredSnapshot[], version: number, change: Partial<StoredSnapshot>): StoredSnapshot[] {
  return snapshots.map((snapshot) => (snapshot.snapshotVersion === version ? { ...snapshot, ...change } : snapshot));
}

/** JSON objects that doubles and UTF-8 can represent. */
const attributes = fc
  .dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }))
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)));

describe('seal', () => {
  it('returns the RFC 8785 text and its SHA-256', () => {
    fc.assert(
      fc.property(attributes, (value) => {
        const { text, hash } = seal(value);
        expect(text).toBe(canonicalizeOracle(value));
        expect(hash).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
        expect(seal(JSON.parse(text))).toEqual({ text, hash });
      }),
    );
  });
});

describe('verifyStoredSnapshot in mode hash', () => {
  it('verifies a sealed snapshot without its chain', () => {
    fc.assert(
      fc.property(attributes, (value) => {
        const [snapshot] = history(1, value);
        if (snapshot === undefined) throw new Error('unreachable');
        const { envelopeHash: stored } = snapshot;
        expect(verifyStoredSnapshot('hash', snapshot, [])).toEqual({
          mode: 'hash',
          chain_supported: true,
          hash: { alg: 'sha-256', value: stored, stored, valid: true },
          chain: { prev_hash: null, valid: null, depth: 0, complete: null },
        });
      }),
    );
  });

  it.each([1_220, 50_000])('verifies an envelope that is %i levels deep, beyond the limit for new ones', (depth) => {
    for (const leaf of ['1', '"\\n"']) {
      const envelopeText = `{"attributes":${'['.repeat(depth)}${leaf}${']'.repeat(depth)},"snapshot_id":"${snapshotId(1)}","snapshot_version":1}`;
      const stored = { snapshotId: snapshotId(1), snapshotVersion: 1, envelopeText, prevHash: null };
      const envelopeHash = hashText(envelopeText);
      expect(verifyStoredSnapshot('chain', { ...stored, envelopeHash }, [])).toMatchObject({
        hash: { value: envelopeHash, valid: true },
        chain: { valid: true },
      });
    }
  });

  it('detects a change of any character of the text', () => {
    const [snapshot] = history(1, { a: [1, 'é', '😀', null], b: { c: true } });
    if (snapshot === undefined) throw new Error('unreachable');
    const text = snapshot.envelopeText ?? '';
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.string({ minLength: 0, maxLength: 2 }), (at, replacement) => {
        const envelopeText = text.slice(0, at) + replacement + text.slice(at + 1);
        fc.pre(envelopeText !== text);
        expect(verifyStoredSnapshot('hash', { ...snapshot, envelopeText }, []).hash.valid).toBe(false);
      }),
    );
  });

  it.each<[string, (snapshot: StoredSnapshot) => Partial<StoredSnapshot>]>([
    [
      'a text that is not canonical, with its own hash',
      ({ envelopeText }) => ({ envelopeText: ` ${envelopeText}`, envelopeHash: hashText(` ${envelopeText}`) }),
    ],
    [
      'a text that is not canonical, with the hash of the canonical text',
      ({ envelopeText }) => ({ envelopeText: `${envelopeText}\n` }),
    ],
    ['another stored hash', () => ({ envelopeHash: '0'.repeat(64) })],
    ['the hash in upper case', ({ envelopeHash }) => ({ envelopeHash: envelopeHash?.toUpperCase() ?? null })],
    [
      'the text of another version',
      () => {
        const { text, hash } = seal({ snapshot_id: snapshotId(1), snapshot_version: 2 });
        return { envelopeText: text, envelopeHash: hash };
      },
    ],
    [
      'the text of another snapshot',
      () => {
        const { text, hash } = seal({ snapshot_id: snapshotId(9), snapshot_version: 1 });
        return { envelopeText: text, envelopeHash: hash };
      },
    ],
    ['JSON that is not an envelope', () => ({ envelopeText: '[]', envelopeHash: hashText('[]') })],
  ])('refuses %s', (_, change) => {
    const [snapshot] = history(1);
    if (snapshot === undefined) throw new Error('unreachable');
    expect(verifyStoredSnapshot('hash', { ...snapshot, ...change(snapshot) }, []).hash.valid).toBe(false);
  });

  it('reports a stored text that is not JSON as invalid', () => {
    const [snapshot] = withChange(history(1), 1, { envelopeText: '{' });
    if (snapshot === undefined) throw new Error('unreachable');
    expect(verifyStoredSnapshot('hash', snapshot, []).hash).toMatchObject({ value: null, valid: false });
  });

  it('returns valid: null for an import without a hash', () => {
    const [sealed] = history(1);
    if (sealed === undefined) throw new Error('unreachable');
    const verification = verifyStoredSnapshot('hash', { ...sealed, envelopeHash: null }, []);
    expect(verification).toMatchObject({
      chain_supported: false,
      hash: { value: sealed.envelopeHash, stored: null, valid: null },
    });
  });

  it('accepts an id in upper case', () => {
    const id = 'ABCDEF00-9A3B-4C5D-8E6F-0123456789AB';
    const { text, hash } = seal({ snapshot_id: id, snapshot_version: 1 });
    const snapshot = {
      snapshotId: id.toLowerCase(),
      snapshotVersion: 1,
      envelopeText: text,
      envelopeHash: hash,
      prevHash: null,
    };
    expect(verifyStoredSnapshot('hash', snapshot, []).hash.valid).toBe(true);
  });
});

describe('verifyStoredSnapshot in mode chain', () => {
  it.each([
    [1, 1, 0],
    [2, 1, 1],
    [5, 2, 2],
    [5, 10, 4],
  ])('verifies %i versions at depth %i', (length, depth, followed) => {
    expect(chainOf(history(length).slice(0, depth + 1), depth)).toMatchObject({
      mode: 'chain',
      hash: { valid: true },
      chain: { valid: true, depth: followed, complete: followed === length - 1 },
    });
  });

  it('detects a change of any stored column in any version', () => {
    const intact = history(6);
    const changes = fc.constantFrom<Partial<StoredSnapshot>>(
      { envelopeHash: 'f'.repeat(64) },
      { envelopeHash: null },
      { prevHash: 'f'.repeat(64) },
      { envelopeText: '{}' },
      { snapshotVersion: 7 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), changes, (version, change) =>
        expect(chainOf(withChange(intact, version, change), 6).chain.valid).not.toBe(true),
      ),
    );
  });

  it('detects by the next version that an envelope and its hash were changed together', () => {
    const { text, hash } = seal({ snapshot_id: snapshotId(2), snapshot_version: 2, attributes: { forged: true } });
    const forged = withChange(history(3), 2, { envelopeText: text, envelopeHash: hash });
    expect(chainOf(forged, 1)).toMatchObject({ hash: { valid: true }, chain: { valid: false } });
    expect(chainOf(forged.slice(1), 1).hash.valid).toBe(true);
  });

  it('refuses a gap, a missing tail and a first version with a parent', () => {
    expect(
      chainOf(
        history(4).filter(({ snapshotVersion }) => snapshotVersion !== 3),
        3,
      ).chain.valid,
    ).toBe(false);
    expect(chainOf(history(4).slice(0, 3), 3).chain).toMatchObject({ valid: false, depth: 2, complete: false });
    expect(chainOf(history(4).slice(0, 1)).chain.valid).toBe(false);
    expect(chainOf(withChange(history(1), 1, { prevHash: 'f'.repeat(64) })).chain.valid).toBe(false);
    expect(chainOf(withChange(history(2), 1, { prevHash: 'f'.repeat(64) })).chain.valid).toBe(false);
  });

  it('refuses a second version without prev_hash', () => {
    expect(chainOf(withChange(history(2), 2, { prevHash: null })).chain.valid).toBe(false);
  });

  it('detects two swapped parents', () => {
    const [first, second, third, fourth] = history(4).reverse();
    if (!first || !second || !third || !fourth) throw new Error('unreachable');
    const swapped = [
      { ...fourth, prevHash: second.envelopeHash },
      { ...second, snapshotId: third.snapshotId, snapshotVersion: 3, prevHash: third.envelopeHash },
      { ...third, snapshotId: second.snapshotId, snapshotVersion: 2, prevHash: first.envelopeHash },
      first,
    ];
    expect(chainOf(swapped, 3)).toMatchObject({ hash: { valid: true }, chain: { valid: false } });
  });

  it('accepts a parent whose id was sent in upper case', () => {
    const id = 'ABCDEF00-9A3B-4C5D-8E6F-0123456789AB';
    const { text, hash } = seal({ snapshot_id: id, snapshot_version: 1, subject: {} });
    const parent = { snapshotId: id.toLowerCase(), envelopeText: text, envelopeHash: hash };
    const chain = withChange(withChange(history(2), 1, parent), 2, { prevHash: hash });
    expect(chainOf(chain).chain).toEqual({ prev_hash: hash, valid: true, depth: 1, complete: true });
  });

  it('returns valid: null for a chain of imports without hashes', () => {
    const imported = history(2).map((snapshot) => ({ ...snapshot, envelopeHash: null, prevHash: null }));
    expect(chainOf(imported).chain).toEqual({ prev_hash: null, valid: null, depth: 1, complete: true });
  });
});

describe('verificationOfDiff', () => {
  it('returns both verifications, and is valid only if both are', () => {
    const [third, second, first] = history(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error('unreachable');
    const to = verifyStoredSnapshot('chain', third, [second]);
    expect(verificationOfDiff(verifyStoredSnapshot('chain', first, []), to)).toMatchObject({
      mode: 'chain',
      chain_supported: true,
      hash: {
        alg: 'sha-256',
        from: { value: first.envelopeHash, valid: true },
        to: { value: third.envelopeHash, valid: true },
      },
      chain: {
        prev_hash: second.envelopeHash,
        valid: true,
        from: { prev_hash: null, valid: true },
        to: { valid: true },
      },
    });
    const broken = verifyStoredSnapshot('chain', { ...first, envelopeText: '{}' }, []);
    expect(verificationOfDiff(broken, to)).toMatchObject({
      hash: { from: { valid: false } },
      chain: { valid: false, to: { valid: true } },
    });
  });
});
