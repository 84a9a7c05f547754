import { decodeHash, encodeBase64 } from '../encoding/base64';
import { parseDecimal } from '../encoding/decimal';
import { TlogError } from '../errors';
import { requireNoteText } from '../note/note';
import { requireHash } from '../tree/hashes';
import { requireTreeSize } from '../tree/subtrees';
import type { TreeHead } from '../tree/verify';

/** A log's statement about its tree (C2SP tlog-checkpoint). */
export interface Checkpoint extends TreeHead {
  /** The log's name, not empty. */
  readonly origin: string;
  /** Lines after the root, without their newlines; none is empty. Opaque, and not recommended by C2SP. */
  readonly extensionLines: readonly string[];
}

/**
 * Parses the text of a checkpoint (the `text` of a note): origin, size, root, and any extension lines (C2SP
 * tlog-checkpoint "Note text"). Inverse of `formatCheckpoint`.
 *
 * @throws TlogError `malformed`; `out_of_range` for a size above 2^53 - 1
 */
export function parseCheckpoint(text: string): Checkpoint {
  requireNoteText(text);
  const [origin, size, root, ...extensionLines] = text.slice(0, -1).split('\n');
  if (!origin || size === undefined || root === undefined || extensionLines.includes('')) throw malformed();
  return {
    origin,
    size: parseDecimal(size, 'tree size of the checkpoint'),
    root: decodeHash(root, 'root hash of the checkpoint'),
    extensionLines,
  };
}

/**
 * Formats the text of a checkpoint, which is the text that is signed.
 *
 * @throws TlogError `malformed` or `out_of_range` for values that a checkpoint cannot contain
 */
export function formatCheckpoint({ origin, size, root, extensionLines }: Checkpoint): string {
  requireTreeSize(size, 'tree size');
  requireHash(root, 'root');
  const lines = [origin, String(size), encodeBase64(root), ...extensionLines];
  if (lines.some((line) => line === '' || line.includes('\n'))) throw malformed();
  const text = `${lines.join('\n')}\n`;
  requireNoteText(text);
  return text;
}

function malformed(): TlogError {
  return new TlogError('malformed', 'Not a checkpoint: its lines are origin, tree size, root hash.');
}
