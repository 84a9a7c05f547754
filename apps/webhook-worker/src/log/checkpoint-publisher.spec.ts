import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogTree } from '@iss/persistence';
import {
  createVerifier,
  formatSignatureLines,
  generateKeys,
  parseAddCheckpoint,
  parseCheckpoint,
  parseNote,
  parsePolicy,
  type Signer,
} from '@iss/tlog';
import { ORIGIN, type SignedLog, signedLog, witness } from '../../../../tools/testing/signed-log';
import { waitFor } from '../../../../tools/testing/wait-for';
import {
  CheckpointPublisher,
  LogKeyUnknown,
  LogOriginEnded,
  LogRolledBack,
  type LogStores,
} from './checkpoint-publisher';
import type { LogIdentity } from './log-identity';

type Stored = Awaited<ReturnType<LogStores['checkpoints']['newest']>>;

const FACTS = ['a', 'b', 'c', 'd', 'e'];
/** The time before which everything is in the tree. */
const COMPLETE_AT = new Date('2026-01-15T09:00:00Z');

let folder: string;
let log: SignedLog;
/** Another history of the log, which its key signed. */
let other: SignedLog;
/** The size of the tree in the database. */
let size: number;
let newest: Stored;
let restarts: Awaited<ReturnType<LogStores['checkpoints']['restarts']>>;
let unannounced: string[];
let published: Parameters<LogStores['checkpoints']['publish']>[0][];
/** How often the tree was read. */
let reads: number;
let identity: LogIdentity;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-publisher-'));
  const keys = generateKeys(ORIGIN, 'ed25519');
  log = await signedLog(FACTS, ORIGIN, keys);
  other = await signedLog(['1', '2', '3', '4', '5', '6', '7', '8', '9'], ORIGIN, keys);
  [size, newest, restarts, unannounced, published, reads] = [FACTS.length, null, [], [], [], 0];
  identity = { origin: ORIGIN, signers: [log.signer], verifiers: [createVerifier(log.vkey)], policy: null };
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const sizeOf = (note: string): number => parseCheckpoint(parseNote(note).text).size;

async function treeOf(count: number): Promise<LogTree> {
  const { root } = parseCheckpoint(parseNote(await log.checkpoint(count)).text);
  return { size: count, root: Buffer.from(root) };
}

async function storedOf(count: number): Promise<NonNullable<Stored>> {
  return { origin: ORIGIN, size: count, note: await log.checkpoint(count), signedAt: new Date() };
}

function open(change: Partial<LogIdentity> = {}): Promise<CheckpointPublisher> {
  const stores: LogStores = {
    integration: {
      tree: () => {
        reads++;
        return treeOf(size);
      },
    },
    checkpoints: {
      newest: async () => newest,
      marked: async () => [],
      publish: async (checkpoint) => published.push(checkpoint) > 0,
      keys: async () => [],
      unannounced: async () => unannounced,
      announceFirst: async () => false,
      useKeys: async () => undefined,
      restarts: async () => restarts,
      policy: async () => null,
      usePolicy: async () => undefined,
    },
    tiles: { read: async (tiles) => tiles.map((tile) => Buffer.from(log.tile(tile))) },
  };
  const settings = {
    ...{ origin: ORIGIN, signingKeys: [], pqSigningKey: undefined, policyFile: undefined },
    ...{ checkpointIntervalMs: 10, checkpointMaxAgeMs: 60_000, checkpointFile: join(folder, 'checkpoint') },
  };
  return CheckpointPublisher.open(
    { ...identity, ...change },
    settings,
    stores,
    () => undefined,
    () => undefined,
  );
}

const fileSize = (): number => sizeOf(readFileSync(join(folder, 'checkpoint'), 'utf8'));
const publish = async (publisher: CheckpointPublisher, count: number): Promise<boolean> =>
  publisher.publish(await treeOf(count), COMPLETE_AT);

/** The answer of a witness to a note; null for none. */
type Answer = (note: string) => Promise<Response>;

/** Makes a policy that requires one of these witnesses, and answers for them. */
async function withWitnesses(answers: Readonly<Record<string, { post: Answer; shows?: string }>>, threshold = 1) {
  const names = Object.keys(answers);
  const all = await Promise.all(names.map((name) => witness(name)));
  const lines = all.map(({ line }, at) => `${line} http://${names[at]}`);
  const group = `group g ${threshold} ${names.join(' ')}`;
  const policy = parsePolicy(`${[`log ${log.vkey}`, ...lines, group, 'quorum g'].join('\n')}\n`);
  const sent: { name: string; note: string }[] = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const { hostname: name } = new URL(String(input));
    const { post, shows } = answers[name] ?? {};
    if (init?.method !== 'POST')
      return shows === undefined || sent.length === 0 ? new Response('', { status: 404 }) : new Response(shows);
    const { note } = parseAddCheckpoint(String(init.body));
    sent.push({ name, note });
    return (await post?.(note)) ?? new Response('', { status: 500 });
  });
  const cosign = async (name: string, note: string): Promise<Response> => {
    const { signatures } = parseNote((await all[names.indexOf(name)]?.cosign(note)) ?? '');
    return new Response(formatSignatureLines(signatures.slice(-1)));
  };
  return { policy, sent, cosign };
}

it('publishes a tree once, with the time before which it is complete', async () => {
  const publisher = await open();
  expect([await publish(publisher, 3), await publish(publisher, 3)]).toEqual([true, true]);
  expect(published).toMatchObject([{ origin: ORIGIN, size: 3, completeAt: COMPLETE_AT }]);
});

it('signs no smaller tree than the one that it signed last', async () => {
  const publisher = await open();
  await publish(publisher, 3);
  await publish(publisher, 2);
  expect([fileSize(), published.map((one) => one.size)]).toEqual([3, [3]]);
});

it('signs nothing after the log was restarted under another origin', async () => {
  const publisher = await open();
  await publish(publisher, 2);
  restarts = [{ origin: 'log.example/next', previousOrigin: ORIGIN }];
  await expect(publish(publisher, 3)).rejects.toBeInstanceOf(LogOriginEnded);
  expect(fileSize()).toBe(2);
});

it('ignores a checkpoint of a former origin', async () => {
  const former = await signedLog(FACTS, 'log.example/former');
  newest = { origin: 'log.example/former', size: 5, note: await former.checkpoint(), signedAt: new Date() };
  restarts = [{ origin: ORIGIN, previousOrigin: 'log.example/former' }];
  size = 2;
  expect(await publish(await open(), 2)).toBe(true);
});

it('signs nothing after its key was ended', async () => {
  const publisher = await open();
  await publish(publisher, 2);
  unannounced = [log.vkey];
  await expect(publish(publisher, 3)).rejects.toBeInstanceOf(LogKeyUnknown);
  expect(fileSize()).toBe(2);
});

it('publishes no checkpoint that does not satisfy its own policy', async () => {
  const { verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  const publisher = await open({ policy: parsePolicy(`log ${verifierKey}\nquorum none\n`) });
  await expect(publish(publisher, 3)).rejects.toThrow();
  expect(published).toEqual([]);
});

it('counts a checkpoint without a quorum as published only if another worker published a larger one', async () => {
  const { policy } = await withWitnesses({ away: { post: () => Promise.reject(new Error('away')) } });
  const publisher = await open({ policy });
  const outcomes: boolean[] = [];
  for (const stored of [null, await storedOf(2), await storedOf(3), await storedOf(4)]) {
    newest = stored;
    outcomes.push(await publish(publisher, 3));
  }
  expect(outcomes).toEqual([false, false, false, true]);
});

it('keeps its tree if a witness saw more entries and the database has them', async () => {
  const { policy } = await withWitnesses({ ahead: { post: async () => new Response('5\n', { status: 409 }) } });
  const publisher = await open({ policy });
  expect(await publish(publisher, 3)).toBe(false);
  size = 4;
  await expect(publish(publisher, 3)).rejects.toBeInstanceOf(LogRolledBack);
});

it('signs nothing more while the witnesses refuse, and sends them the last checkpoint again', async () => {
  const { policy, sent, cosign } = await withWitnesses({
    doubting: {
      post: (note) => (sent.length < 3 ? Promise.resolve(new Response('', { status: 422 })) : cosign('doubting', note)),
    },
  });
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const publisher = await open({ policy });
  await expect(publish(publisher, 2)).rejects.toBeInstanceOf(LogRolledBack);
  clock.mockReturnValue(10_000);
  await expect(publish(publisher, 3)).rejects.toBeInstanceOf(LogRolledBack);
  expect([fileSize(), sent.map(({ note }) => sizeOf(note))]).toEqual([2, [2, 2]]);
  clock.mockReturnValue(20_000);
  expect(await publish(publisher, 3)).toBe(true);
  expect(published.map((one) => one.size)).toEqual([2]);
  expect(await publish(publisher, 3)).toBe(true);
  expect(published.map((one) => one.size)).toEqual([2, 3]);
});

it('remembers a contradicting checkpoint that a witness shows while the next tree is signed', async () => {
  let answerLate = (_: Response): void => undefined;
  const late = new Promise<Response>((resolve) => (answerLate = resolve));
  const { policy, sent, cosign } = await withWitnesses({
    quick: { post: (note) => cosign('quick', note) },
    slow: {
      shows: await other.checkpoint(),
      post: () => (sent.filter(({ name }) => name === 'slow').length === 1 ? late : Promise.reject(new Error('away'))),
    },
  });
  let isLate = false;
  const signer: Signer = {
    ...log.signer,
    sign: async (...given) => {
      if (isLate) {
        const before = reads;
        answerLate(new Response('9\n', { status: 409 }));
        await waitFor(() => reads >= before + 2, { what: 'the judgement' });
      }
      return log.signer.sign(...given);
    },
  };
  const publisher = await open({ policy, signers: [signer] });
  expect(await publish(publisher, 2)).toBe(true);
  isLate = true;
  await publish(publisher, 3);
  for (let round = 0; round < 3; round++) await expect(publish(publisher, 3)).rejects.toBeInstanceOf(LogRolledBack);
});
