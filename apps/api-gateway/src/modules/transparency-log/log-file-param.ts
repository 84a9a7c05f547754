import { type EntryBundle, parseEntryBundlePath, parseTilePath, type Tile, TlogError } from '@iss/tlog';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** A public file of the log: a tile of hashes, or a bundle of entries. */
export type LogFile = { readonly tile: Tile } | { readonly bundle: EntryBundle };

/** Injects the file that a path below `/log/` names (C2SP tlog-tiles). Injects null for an invalid path. */
export const LogFileParam = createParamDecorator((_: unknown, context: ExecutionContext): LogFile | null => {
  const name = context.switchToHttp().getRequest<Request>().path.slice('/log/'.length);
  try {
    if (name.startsWith('tile/entries/')) return { bundle: parseEntryBundlePath(name) };
    return { tile: parseTilePath(name) };
  } catch (error) {
    if (error instanceof TlogError) return null;
    throw error;
  }
});
