import { requireInteger, parseDecimal } from '../encoding/decimal';
import { TlogError } from '../errors';
import { TILE_WIDTH } from './new-tiles';

const MAX_LEVEL = 63;
/** An index has 16 digits at most, so its path has six elements of three. */
const MAX_PATH_LENGTH = 64;

/**
 * A tile of C2SP tlog-tiles: the `width` hashes from `index` · 256 on at the tree's level 8 · `level`. A full one has 256.
 */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

/**
 * The path of a tile below the log's prefix, C2SP tlog-tiles "Merkle Tree": `tile/<L>/<N>[.p/<W>]`, as
 * `tile/0/x001/x234/067.p/5`.
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
 * The tile of a path, which must be the very one that `formatTilePath` makes: no leading slash, no other encoding of the
 * same tile. Entry bundles (`tile/entries/…`) are none of these tiles.
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
    'That is no path of a tile: it is tile/<L>/<N>[.p/<W>], N in three digits each, as tile/0/x001/x234/067.p/5.',
  );
}
