// Measures the first audit of a map: `npm run tool -- bench/map-audit 1000000`. The log is made in memory, and not fetched.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatMapRootEntry, rootOfSorted, valueOf } from '@iss/map';
import { appendLeaves, decodeHash, EMPTY_EDGE, encodeBase64, leafHash, rootOfEdge, TILE_WIDTH } from '@iss/tlog';
import { MapAudit } from '../../apps/cli/dist/map-audit/map-audit.js';
import { MapFile } from '../../apps/cli/dist/map-audit/map-file.js';

const ORIGIN = 'log.example/measured';
const [count = 100_000, mapRoot, treeRoot] = [Number(process.argv[2] ?? 100_000), process.argv[3], process.argv[4]];

const keyOf = (index: number): Buffer => hash('sha256', `key ${index}`, 'buffer');
const textOf = (index: number): string =>
  `{"body":"${hash('sha256', `body ${index}`, 'base64url')}","entry_version":"iss_log_entry_v2","keys":["${keyOf(index).toString('base64url')}"]}`;

/** Yields the entries of the log, bundle by bundle. */
function* bundles(root: Uint8Array): Generator<{ from: number; entries: Buffer[] }> {
  for (let from = 0; from <= count; from += TILE_WIDTH) {
    const entries = Array.from({ length: Math.min(TILE_WIDTH, count + 1 - from) }, (_, place) => {
      const index = from + place;
      return Buffer.from(index === count ? formatMapRootEntry({ covers: count, root }) : textOf(index));
    });
    yield { from, entries };
  }
}

/** Audits in this process, which has made nothing else. */
async function audit(map: Uint8Array, tree: Uint8Array): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'iss-measure-'));
  const file = MapFile.open(join(folder, 'map'), ORIGIN);
  const log = {
    mapStartsAt: () => Promise.resolve(0),
    rightEdge: () => Promise.resolve(EMPTY_EDGE),
    async *entries() {
      yield* bundles(map);
    },
  };
  const before = process.resourceUsage().maxRSS;
  const startedAt = performance.now();
  await new MapAudit(ORIGIN, log, file, () => undefined).audit({ size: count + 1, root: tree });
  const seconds = (performance.now() - startedAt) / 1000;
  file.close();
  const mebibytes = (kibibytes: number): string => (kibibytes / 1024).toFixed(0);
  const peak = process.resourceUsage().maxRSS;
  console.log(
    `${count} keys: ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(0)} keys/s, peak memory ${mebibytes(peak)} MiB ` +
      `(${mebibytes(before)} MiB before), file ${mebibytes(statSync(join(folder, 'map')).size / 1024)} MiB`,
  );
  rmSync(folder, { recursive: true });
}

if (mapRoot !== undefined && treeRoot !== undefined) {
  await audit(decodeHash(mapRoot, 'root'), decodeHash(treeRoot, 'root'));
} else {
  const leaves = Array.from({ length: count }, (_, index) => ({ key: keyOf(index), value: valueOf([index]) }));
  const map = rootOfSorted(leaves.sort((one, other) => Buffer.compare(one.key, other.key)));
  let edge = EMPTY_EDGE;
  for (const { entries } of bundles(map)) ({ edge } = appendLeaves(edge, entries.map((entry) => leafHash(entry))));
  const roots = [map, rootOfEdge(edge)].map((root) => encodeBase64(root));
  const words = [...process.execArgv, fileURLToPath(import.meta.url), String(count), ...roots];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
