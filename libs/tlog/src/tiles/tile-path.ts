import { requireInteger, parseDecimal } from '../encoding/decimal';
import { TlogError } from '../errors';
import { TILE_WIDTH } from './new-tiles';

const MAX_LEVEL = 63;
/** An index has at most 16 digits, so its path has six elements of three digits. */
const MAX_PATH_LENGTH = 64;

/**
 * A tile of C2SP tlog-tiles: `width` hashes from `index` · 256 on, at level 8 · `level` of the tree. A full tile has
 * 256.
 */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

/**
 * Returns the path of a tile below the log's prefix (C2SP tlog-tiles "Merkle Tree"): `tile/<L>/<N>[.p/<W>]`, for
 * example `tile/0/x001/x234/067.p/5`.
 *
 * @throws TlogError `out_of_range`
 */
export function formatTilePath({ level, index, width }: Tile): string {
  requireInteger(level, 'level of the tile', 0, MAX_LEVEL);
  requireInteger(index, 'index of the tile', 0, Number.MAX_SAFE_INTEGER);
  requireInteger(width, 'width of the tile', 1, TILE_WIDTH);
  const digits = String(index);
  const threes = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g)!;
  const elements = threes.map((three, at) => (at === threes.length - 1 ? three : `x${three}`));
  return `tile/${level}/${elements.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/**
 * Parses the path of a tile. It must be exactly the path that `formatTilePath` returns, without a leading slash. Entry
 * bundles (`tile/entries/…`) are refused.
 *
 * @throws TlogError `malformed` or `out_of_range`
 */
export function parseTilePath(path: string): Tile {
  const match =
    path.length <= MAX_PATH_LENGTH &&
    /^tile\/([0-9]{1,2})\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/.exec(path);
  if (!match) throw noTilePath();
  const [, level = '', elements = '', width] = match;
  const tile = {
    level: parseDecimal(level, 'level of the tile'),
    index: Number(elements.replace(/[x/]/g, '')),
    width: width === undefined ? TILE_WIDTH : parseDecimal(width, 'width of the tile'),
  };
  if (formatTilePath(tile) !== path) throw noTilePath();
  return tile;
}

function noTilePath(): TlogError {
  return new TlogError(
    'malformed',
    'Not a tile path: it is tile/<L>/<N>[.p/<W>], N in groups of three digits, as tile/0/x001/x234/067.p/5.',
  );
}
