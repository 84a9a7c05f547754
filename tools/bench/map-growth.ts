// Grows a stored map by random keys with the worker's own statements: `npm run tool -- bench/map-growth 1000000`. The keys are not
// outputs of the VRF, which `--only map` measures.
import { randomBytes } from 'node:crypto';
import { formatLevels, insertKeys, readPaths, type RowReader } from '@iss/map';
import { MapReadStore, MapRound, openDatabase } from '@iss/persistence';
import { openStage } from './stage.ts';

const IDENTITY = { origin: 'log.example/growth', vrfKey: `VRF+${'A'.repeat(43)}=` };
/** Keys per round of a backlog, and rounds and keys of normal operation. */
const [BACKLOG, ROUNDS, EACH] = [2_000, 300, 500];
const upTo = Number(process.argv[2] ?? 100_000);

const stage = await openStage();
const database = await openDatabase({ url: stage.databaseUrl, poolSize: 2, applicationName: 'growth' });
try {
  let size = 0;
  const last: Uint8Array[] = [];
  const round = (count: number, hasRoot: boolean): Promise<void> =>
    database.sql.transaction(async (sql) => {
      const map = await MapRound.open(sql, IDENTITY, size);
      if (map === null || typeof map === 'string') throw new Error(`The map does not grow: ${String(map)}`);
      const keys = Array.from({ length: count }, (_, at) => ({ key: new Uint8Array(randomBytes(32)), logIndex: size + at }));
      last.splice(0, last.length, ...keys.slice(0, 25).map(({ key }) => key));
      size += count;
      await map.write(await insertKeys(keys, map), hasRoot ? size++ : null);
    });

  const startedAt = performance.now();
  while (size < upTo) await round(Math.min(BACKLOG, upTo - size), false);
  const perSecond = size / ((performance.now() - startedAt) / 1000);
  console.log(`${size.toLocaleString('en')} keys, ${perSecond.toFixed(0)} keys/s into the map`);
  await tellSize('after the backlog', size);
  for (let count = 0; count < ROUNDS; count++) {
    await round(EACH, true);
    // Published long ago, so that its copies of former rows are deleted.
    await stage.sql.query(
      `INSERT INTO log_checkpoints (origin, size, note, signed_at) VALUES ('x', $1, 'x', now() - interval '1 minute')`,
      [size],
    );
  }
  await tellSize(`after ${ROUNDS} rounds of ${EACH}`, upTo + ROUNDS * EACH);
  const path = await costOf(new MapReadStore(database.sql).at(size), last);
  console.log(`rows read for a path: ${path.rows.toFixed(2)}; its bytes: ${path.bytes.toFixed(0)}`);
  await stage.sql.query('VACUUM map_buckets, map_tiles');
  await tellSize('after VACUUM', upTo + ROUNDS * EACH);
} finally {
  await database.close();
  await stage.close();
}

async function tellSize(when: string, keys: number): Promise<void> {
  const { rows } = await stage.sql.query<{ name: string; bytes: number; hot: number }>(
    `SELECT relname AS name, pg_total_relation_size(relid)::float8 AS bytes, n_tup_hot_upd::float8 / greatest(n_tup_upd, 1) AS hot
       FROM pg_stat_user_tables WHERE relname IN ('map_buckets', 'map_tiles', 'map_former') ORDER BY 1`,
  );
  const parts = rows.map(({ name, bytes, hot }) => `${name} ${(bytes / keys).toFixed(1)} (${(100 * hot).toFixed(0)} % HOT)`);
  console.log(`bytes per key ${when}: ${parts.join(', ')}`);
}

/** Returns the average number of rows that the proof of one of these keys needs, and the average bytes of its path. */
async function costOf(reader: RowReader, keys: readonly Uint8Array[]): Promise<{ rows: number; bytes: number }> {
  let rows = 0;
  let bytes = 0;
  const counting: RowReader = {
    tiles: async (paths) => counted(await reader.tiles(paths)),
    buckets: async (paths) => counted(await reader.buckets(paths)),
  };
  const counted = <T>(found: readonly T[]): readonly T[] => {
    rows += found.length;
    return found;
  };
  for (const key of keys) {
    for (const { levels } of await readPaths([key], counting)) bytes += formatLevels(levels).length;
  }
  return { rows: rows / keys.length, bytes: bytes / keys.length };
}
