import { parseTilePath, type Tile, TlogError } from '@iss/tlog';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Injects the tile of a path below `/log/`; `entries` for the one kind of C2SP tlog-tiles that is not there; else null. */
export const TileParam = createParamDecorator((_: unknown, context: ExecutionContext): Tile | 'entries' | null => {
  const name = context.switchToHttp().getRequest<Request>().path.slice('/log/'.length);
  if (name.startsWith('tile/entries/')) return 'entries';
  try {
    return parseTilePath(name);
  } catch (error) {
    if (error instanceof TlogError) return null;
    throw error;
  }
});
