import {
  createVerifier,
  equalBytes,
  hashesAtTileLevel,
  openNote,
  parseCheckpoint,
  type Policy,
  readRoot,
  TILE_WIDTH,
  TileHashes,
  tileHashReader,
  type TileReader,
  TlogError,
  type Verifier,
  verifyCheckpoint,
} from '@iss/tlog';
import { type AuditReader, isText } from '../database';
import { CLOCK_SKEW_MS, type SignedSizes } from './times';
import { apiTime } from './entry-text';
import { type Found, nothingFound, notice, report } from '../findings';

/** The tree as stored in log_tree. */
export interface StoredTree {
  readonly size: number;
  readonly root: Uint8Array;
}

/** Cached tiles. Consecutive checkpoints share nearly all of theirs. */
const KEPT_TILES = 256;
const PAGE = 500;

export async function storedTree(reader: AuditReader): Promise<StoredTree | null> {
  const [row] = await reader.rows(`SELECT size, encode(root, 'base64') FROM log_tree WHERE is_one`);
  return row === undefined ? null : { size: Number(row[0]), root: Buffer.from(row[1] ?? '', 'base64') };
}

/** Returns when each size was first signed, and until when the log was then complete. */
export async function signedSizes(reader: AuditReader): Promise<SignedSizes> {
  const [sizes, atMs, completeMs]: [number[], number[], number[]] = [[], [], []];
  await reader.each(
    `SELECT size, extract(epoch FROM min(signed_at)) * 1000, extract(epoch FROM max(complete_at)) * 1000 FROM log_checkpoints
      WHERE marked_at IS NULL GROUP BY size ORDER BY size`,
    [],
    ([size, at, complete]) => {
      sizes.push(Number(size));
      atMs.push(Number(at));
      completeMs.push(Math.max(completeMs.at(-1) ?? -Infinity, isText(complete) ? Number(complete) : -Infinity));
    },
  );
  return {
    sizes: Float64Array.from(sizes),
    atMs: Float64Array.from(atMs),
    completeMs: Float64Array.from(completeMs),
  };
}

/** Checks the higher levels of the tree: hashes, widths and root, and that nothing lies beyond its size. */
export async function checkTree(reader: AuditReader, tree: StoredTree): Promise<Found> {
  const found = nothingFound();
  const tiles = new StoredTiles(reader);
  for (let level = 1; hashesAtTileLevel(tree.size, level) > 0; level++)
    await checkLevel(tiles, tree.size, level, found);
  const [beyond] = await reader.rows(`SELECT max(log_index), count(*) FROM log_entries WHERE log_index >= $1`, [
    tree.size,
  ]);
  if (beyond?.[1] !== '0') {
    report(found, 'entry_beyond', `entry ${beyond?.[0]}`, `${beyond?.[1]} entries lie beyond a tree of ${tree.size}`);
  }
  await reader.each(
    `SELECT level, tile_index FROM log_tiles WHERE tile_index * 256 >= $1::bigint >> (8 * level::int)`,
    [tree.size],
    ([level, index]) => report(found, 'tile', `tile ${level}/${index}`, `it is beyond a tree of ${tree.size} entries`),
  );
  const root = await rootAt(tiles, tree.size);
  if (typeof root === 'string') report(found, 'root', 'log_tree', root);
  else if (!equalBytes(root, tree.root))
    report(found, 'root', 'log_tree', `the tiles of ${tree.size} entries have another root`);
  return found;
}

async function checkLevel(tiles: StoredTiles, size: number, level: number, found: Found): Promise<void> {
  const hashes = hashesAtTileLevel(size, level);
  for (let index = 0; index * TILE_WIDTH < hashes; index++) {
    const where = `tile ${level}/${index}`;
    const width = Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH);
    const tile = await tiles.tile(level, index);
    if (tile?.width !== width) {
      report(found, 'tile', where, `it has ${tile?.width ?? 0} hashes instead of ${width}`);
    } else if (width === TILE_WIDTH) {
      const parent = await tiles.tile(level + 1, Math.floor(index / TILE_WIDTH));
      const place = index % TILE_WIDTH;
      const isSame = parent !== undefined && parent.width > place && equalBytes(parent.node(0, place), tile.node(8, 0));
      if (!isSame) report(found, 'tree', where, `hash ${place} of the tile above does not match it`);
    }
  }
}

/**
 * Checks each stored checkpoint: its tree, signature, order and time. Checkpoints that are marked as signed by mistake are only
 * notices.
 */
export async function checkCheckpoints(
  reader: AuditReader,
  tree: StoredTree,
  policy: Policy | null,
): Promise<Found & { checkpoints: number }> {
  const found = { ...nothingFound(), checkpoints: 0 };
  const tiles = new StoredTiles(reader);
  const verifiers = await logKeys(reader, policy, found);
  let [after, size, newest] = ['0', 0, ''];
  for (;;) {
    const page = await reader.rows(
      `SELECT checkpoint_id, origin, size, note, signed_at > now() + $3::int * interval '1 ms',
              marked_by, marked_at
         FROM log_checkpoints WHERE checkpoint_id > $1::bigint ORDER BY checkpoint_id LIMIT $2`,
      [after, PAGE, CLOCK_SKEW_MS],
    );
    const signatures = await Promise.all(page.map(([, , , note]) => signatureFault(note ?? '', verifiers)));
    for (const [place, [id, origin, stored, note, isToCome, markedBy, markedAt]] of page.entries()) {
      const where = `checkpoint ${id}, of ${stored} entries`;
      const fault =
        signatures[place] ??
        (await contentFault(tiles, tree, note ?? '', { origin: origin ?? '', size: Number(stored) }));
      [after, found.checkpoints] = [id ?? '', found.checkpoints + 1];
      if (isText(markedAt)) {
        const why = isText(fault) ? `: ${fault}` : '';
        notice(found, where, `${markedBy} marked it as signed by mistake, ${apiTime(markedAt)}${why}`);
        continue;
      }
      if (isText(fault)) report(found, 'checkpoint', where, fault);
      if (isToCome === 't') report(found, 'checkpoint', where, 'its signed_at is in the future');
      if (Number(stored) < size)
        report(found, 'checkpoint', where, `a checkpoint of ${size} entries was published before it`);
      [size, newest] = [Number(stored), note ?? ''];
    }
    if (page.length < PAGE) break;
  }
  if (policy !== null && newest !== '') {
    const fault = await refusal(() => verifyCheckpoint(newest, policy));
    if (fault !== null) report(found, 'checkpoint', `the newest checkpoint, of ${size} entries`, fault);
  }
  return found;
}

/** Returns the keys of the policy, if there is one. Keys in the database may have been replaced by an attacker. */
async function logKeys(reader: AuditReader, policy: Policy | null, found: Found): Promise<Verifier[]> {
  if (policy !== null) return policy.logs.map(({ key }) => createVerifier(key));
  const verifiers: Verifier[] = [];
  for (const [vkey] of await reader.rows('SELECT vkey FROM log_keys UNION SELECT vkey FROM log_key_announcements')) {
    try {
      verifiers.push(createVerifier(vkey ?? ''));
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      report(found, 'checkpoint', `log_keys, ${vkey?.slice(0, 100)}`, error.message);
    }
  }
  return verifiers;
}

function signatureFault(note: string, verifiers: readonly Verifier[]): Promise<string | null> {
  return refusal(() => openNote(note, verifiers));
}

async function contentFault(
  tiles: StoredTiles,
  tree: StoredTree,
  note: string,
  row: { origin: string; size: number },
): Promise<string | null> {
  const checkpoint = parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));
  if (checkpoint.size !== row.size || checkpoint.origin !== row.origin) {
    return `its note names ${checkpoint.size} entries of ${checkpoint.origin}`;
  }
  if (checkpoint.size > tree.size) return `the tree has only ${tree.size} entries: its end is lost`;
  const root = await rootAt(tiles, checkpoint.size);
  if (typeof root === 'string') return root;
  return equalBytes(root, checkpoint.root) ? null : 'its root does not match the tiles: another history was signed';
}

async function rootAt(tiles: StoredTiles, size: number): Promise<Uint8Array | string> {
  try {
    return await readRoot(size, tileHashReader(size, tiles.read));
  } catch (error) {
    if (error instanceof TlogError || error instanceof MissingTile) return error.message;
    throw error;
  }
}

async function refusal(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof TlogError) return error.message;
    throw error;
  }
}

class MissingTile extends Error {}

class StoredTiles {
  private readonly kept = new Map<string, TileHashes | undefined>();

  constructor(private readonly reader: AuditReader) {}

  /** Returns a stored tile; undefined if it is missing. */
  async tile(level: number, index: number): Promise<TileHashes | undefined> {
    const name = `${level}/${index}`;
    if (!this.kept.has(name)) {
      if (this.kept.size >= KEPT_TILES) this.kept.clear();
      const [row] = await this.reader.rows(
        `SELECT encode(hashes, 'base64') FROM log_tiles WHERE level = $1 AND tile_index = $2`,
        [level, index],
      );
      const hashes = Buffer.from(row?.[0] ?? '', 'base64');
      this.kept.set(name, hashes.length === 0 ? undefined : new TileHashes(hashes));
    }
    return this.kept.get(name);
  }

  readonly read: TileReader = async (wanted) => {
    const tiles: TileHashes[] = [];
    for (const { level, index } of wanted) {
      const tile = await this.tile(level, index);
      if (tile === undefined) throw new MissingTile(`the log has no tile ${level}/${index}`);
      tiles.push(tile);
    }
    return tiles;
  };
}
