import { parseEntryBundlePath, parseTilePath, type Tile, TlogError } from '@iss/tlog';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/**
 * Injects the tile in a path below `/log/`. Injects `entries` for a C2SP bundle of entries, which this log does not
 * serve, and null for an invalid path.
 */
export const TileParam = createParamDecorator((_: unknown, context: ExecutionContext): Tile | 'entries' | null => {
  const name = context.switchToHttp().getRequest<Request>().path.slice('/log/'.length);
  try {
    if (!name.startsWith('tile/entries/')) return parseTilePath(name);
    parseEntryBundlePath(name);
    return 'entries';
  } catch (error) {
    if (error instanceof TlogError) return null;
    throw error;
  }
});
