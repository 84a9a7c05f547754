import { randomBytes } from 'node:crypto';
import { LOG_SALT_BYTES, logEntryText } from '@iss/domain';
import type { LoggedFact, LogGrowth, LogTile, LogTree } from '@iss/persistence';
import { appendLeaves, equalBytes, leafHash, readRightEdge, rootOfEdge, TileHashes, tileHashReader } from '@iss/tlog';

/**
 * Appends a salted leaf for each fact, in their order. `edge` has the tree's incomplete tiles. Throws if tiles and tree
 * contradict each other, which means that somebody has changed one of them.
 */
export async function growTree(
  tree: LogTree,
  edge: readonly LogTile[],
  facts: readonly LoggedFact[],
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
  const salts = randomBytes(LOG_SALT_BYTES * facts.length);
  const leaves = facts.map((fact, place) =>
    leafHash(logEntryText(fact, salts.subarray(LOG_SALT_BYTES * place, LOG_SALT_BYTES * (place + 1)))),
  );
  const { edge: next, root, added } = appendLeaves(rightEdge, leaves);
  return { salts, added, tree: { size: next.size, root: Buffer.from(root) } };
}
