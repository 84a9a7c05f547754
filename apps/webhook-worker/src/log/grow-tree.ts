import { randomBytes } from 'node:crypto';
import { KEYED_ENTRY_VERSION, keyedLeafText, LOG_SALT_BYTES, logEntryText } from '@iss/domain';
import { formatMapRootEntry, insertKeys } from '@iss/map';
import {
  type GrowLog,
  KEY_PREFIX_BYTES,
  type LoggedFact,
  type LogIntegrationStore,
  type LogGrowth,
  type LogTile,
  type LogTree,
  type MapBatch,
} from '@iss/persistence';
import { appendLeaves, equalBytes, leafHash, readRightEdge, rootOfEdge, TileHashes, tileHashReader } from '@iss/tlog';
import { countsOf, type MapKeys, numbered, streamsOf } from './map-keys';

/**
 * Appends a salted leaf for each fact, in their order. `edge` has the tree's incomplete tiles. Throws if tiles and tree
 * contradict each other, which means that somebody has changed one of them.
 */
export const growTree: GrowLog = (tree, edge, facts) => {
  const salts = newSalts(facts);
  return grow(
    tree,
    edge,
    salts,
    facts.map((fact, place) => logEntryText(fact, saltAt(salts, place))),
  );
};

/** Returns a function that does the same, and also gives the entries keys and adds these to the map. */
export function growTreeAndMap(keys: MapKeys): GrowLog {
  return async (tree, edge, facts, batch) => {
    if (batch === null) return growTree(tree, edge, facts, null);
    const salts = newSalts(facts);
    const keysOfFacts = await keysOf(facts, batch, keys);
    const added = keysOfFacts.flatMap((ofFact, place) => ofFact.map((key) => ({ key, logIndex: tree.size + place })));
    const rows = await insertKeys(added, batch.map);
    const texts = facts.map((fact, place) =>
      keyedLeafText(logEntryText(fact, saltAt(salts, place), KEYED_ENTRY_VERSION), keysOfFacts[place] ?? []),
    );
    if (batch.endsWithRoot) texts.push(formatMapRootEntry({ covers: tree.size + facts.length, root: rows.root }));
    const prefixes = keysOfFacts.map((ofFact) => Buffer.concat(ofFact.map((key) => key.subarray(0, KEY_PREFIX_BYTES))));
    return { ...(await grow(tree, edge, salts, texts)), map: { prefixes, rows } };
  };
}

/** Returns the keys of each fact. */
async function keysOf(
  facts: readonly LoggedFact[],
  { map, granted }: MapBatch,
  keys: MapKeys,
): Promise<Uint8Array[][]> {
  const ofFacts = facts.map((fact, at) => streamsOf(fact, granted[at] ?? null));
  const places = ofFacts.flat();
  const counts = countsOf(places);
  const taken = await map.takeNumbers(counts);
  const before = new Map([...taken].map(([stream, last]) => [stream, last - (counts.get(stream) ?? 0)]));
  const all = await keys.keysOf(numbered(places, before));
  let at = 0;
  return ofFacts.map(({ length }) => all.slice(at, (at += length)));
}

/**
 * Computes the keys that the next round will probably need, before it takes the tree. Other processes may integrate the same facts
 * first; the round then computes what is missing. Returns the number of waiting facts.
 */
export async function prepareKeys(
  store: Pick<LogIntegrationStore, 'waiting' | 'lastNumbers'>,
  limit: number,
  keys: MapKeys,
): Promise<number> {
  const { facts, granted } = await store.waiting(limit);
  const places = facts.flatMap((fact, at) => streamsOf(fact, granted[at] ?? null));
  await keys.prepare(numbered(places, await store.lastNumbers([...countsOf(places).keys()])));
  return facts.length;
}

function newSalts(facts: readonly LoggedFact[]): Buffer {
  return randomBytes(LOG_SALT_BYTES * facts.length);
}

function saltAt(salts: Buffer, place: number): Buffer {
  return salts.subarray(LOG_SALT_BYTES * place, LOG_SALT_BYTES * (place + 1));
}

/** Appends leaves with these texts. Throws if tiles and tree contradict each other. */
export async function grow(
  tree: LogTree,
  edge: readonly LogTile[],
  salts: Buffer,
  texts: readonly string[],
): Promise<LogGrowth> {
  const read = tileHashReader(tree.size, async (tiles) =>
    tiles.map(({ level, index }) => {
      const tile = edge.find((found) => found.level === level && found.index === index);
      if (tile === undefined) throw new Error(`the log has no tile ${level}/${index}`);
      return new TileHashes(tile.hashes);
    }),
  );
  const rightEdge = await readRightEdge(tree.size, read);
  if (!equalBytes(rootOfEdge(rightEdge), tree.root))
    throw new Error(`the log's tiles do not lead to its root of ${tree.size} entries`);
  const {
    edge: next,
    root,
    added,
  } = appendLeaves(
    rightEdge,
    texts.map((text) => leafHash(text)),
  );
  return { salts, added, tree: { size: next.size, root: Buffer.from(root) } };
}
