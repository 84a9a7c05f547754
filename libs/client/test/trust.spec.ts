import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys } from '@iss/tlog';
import { ConfigurationError, MemoryTrustStore, type TrustStore, TrustStoreError } from '../src/index.ts';
import { FileTrustStore } from '../src/node.ts';
import { policyOf, storeOf } from '../src/verify/trust.ts';

let log: string;
let witnesses: string[];
beforeAll(async () => {
  const vkeyOf = async (name: string, type: 'ed25519' | 'ed25519-cosignature'): Promise<string> =>
    (await generateKeys(name, type)).verifierKey;
  log = await vkeyOf('log.example/a', 'ed25519');
  witnesses = [await vkeyOf('w.example/1', 'ed25519-cosignature'), await vkeyOf('w.example/2', 'ed25519-cosignature')];
});

describe('policyOf', () => {
  it('requires all witnesses by default, or the given quorum', async () => {
    for (const [quorum, threshold] of [
      [undefined, 2],
      [1, 1],
      [2, 2],
    ] as const) {
      const { logs, groups, quorum: name } = await policyOf({ vkeys: [log], witnesses, quorum });
      expect(logs.map(({ key }) => key.name)).toEqual(['log.example/a']);
      expect([groups, name]).toEqual([[{ name: 'quorum', threshold, members: ['w1', 'w2'] }], 'quorum']);
    }
  });

  it.each([[{ witnesses: [] }], [{ quorum: 0 }]])('requires no witness with %j', async (trust) => {
    expect(await policyOf({ vkeys: [log], witnesses, ...trust })).toMatchObject({ groups: [], quorum: null });
  });

  it('prefers the policy over named keys', async () => {
    const text = `log ${log}\nwitness one ${witnesses[0] ?? ''}\nquorum one\n`;
    const policy = await policyOf({ policy: text, vkeys: [], witnesses, quorum: 9 });
    expect(policy).toMatchObject({ witnesses: [{ name: 'one' }], quorum: 'one' });
  });

  it.each([-1, 3, 0.5, NaN])('refuses a quorum of %d of two', async (quorum) => {
    await expect(policyOf({ vkeys: [log], witnesses, quorum })).rejects.toThrow('quorum must be 0 to 2');
  });

  it('refuses an empty trust and invalid keys', async () => {
    await expect(policyOf({})).rejects.toThrow('Set trust.policy or vkeys.');
    for (const trust of [{}, { vkeys: ['key'] }, { policy: 'nonsense' }]) {
      await expect(policyOf(trust)).rejects.toThrow(ConfigurationError);
    }
  });
});

it('storeOf reports a failure of the store as TrustStoreError', async () => {
  const broken = async (): Promise<never> => {
    throw new SyntaxError('Unexpected end of JSON input');
  };
  const store = storeOf({ store: { read: broken, replace: broken } });
  for (const failed of [store.read('o'), store.replace('o', undefined, 'n')]) {
    await expect(failed).rejects.toThrow(TrustStoreError);
    await expect(failed).rejects.toThrow('The store of checkpoints failed (Unexpected end of JSON input).');
  }
});

describe('a store of checkpoints', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iss-stores-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string): string => join(folder, name, 'trust.json');

  it.each<[string, () => TrustStore]>([
    ['in memory', () => new MemoryTrustStore()],
    ['in a file', () => new FileTrustStore(file('plain'))],
  ])('%s replaces a note only if it is still the expected one, per log', async (_what, make) => {
    const store = make();
    expect(await store.read('a')).toBeUndefined();
    expect(await store.replace('a', 'other', '1')).toBe(false);
    expect(await store.replace('a', undefined, '1')).toBe(true);
    expect(await store.replace('a', undefined, '2')).toBe(false);
    expect(await store.replace('a', '1', '2')).toBe(true);
    expect(await store.replace('b', undefined, '3')).toBe(true);
    expect([await store.read('a'), await store.read('b')]).toEqual(['2', '3']);
  });

  it('is a file that only its owner can read', async () => {
    await new FileTrustStore(file('mode')).replace('a', undefined, '1');
    expect(statSync(file('mode')).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file('mode'), 'utf8'))).toEqual({ a: '1' });
  });

  it('refuses a file that is not a store', async () => {
    mkdirSync(join(folder, 'broken'));
    writeFileSync(file('broken'), '{');
    const store = new FileTrustStore(file('broken'));
    await expect(store.read('a')).rejects.toThrow(SyntaxError);
    await expect(store.replace('a', undefined, '1')).rejects.toThrow(SyntaxError);
    expect(readFileSync(file('broken'), 'utf8')).toBe('{');
  });

  it('removes the lock of a process that ended', async () => {
    mkdirSync(join(folder, 'locked'));
    const lock = `${file('locked')}.lock`;
    writeFileSync(lock, '');
    utimesSync(lock, new Date(0), new Date(0));
    expect(await new FileTrustStore(file('locked')).replace('a', undefined, '1')).toBe(true);
    expect(() => statSync(lock)).toThrow('ENOENT');
  });
});
