import { isDeepStrictEqual } from 'node:util';
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { canonicalValue } from './canonical';
import { isText, type Row } from '../database';
import { checkChangedPaths } from './changed-paths';
import { memberOf } from './envelopes';
import { type Found, notice, report } from '../findings';

/** Joins the update `u` that made the version `n`, using an index. */
export const UPDATE_OF_VERSION = `
  LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.applied_snapshot_id = n.snapshot_id LIMIT 1) u ON true`;

/** The columns for {@link checkPatch}. The previous version `p` is read only if there is an update to replay. */
export const UPDATE_COLUMNS = `u.update_id, u.patch_ops,
       (u.subject_key, u.base_snapshot_version, u.base_snapshot_id) = (n.subject_key, n.snapshot_version - 1, p.snapshot_id),
       EXISTS (SELECT FROM erasures er
                WHERE er.erasure_id = u.erasure_id AND er.subject_key = u.subject_key AND er.status = 'erased'
                  AND (u.base_snapshot_version = ANY (er.versions) OR u.base_snapshot_version + 1 = ANY (er.versions))),
       n.pack_id IS NOT NULL OR p.pack_id IS NOT NULL,
       CASE WHEN u.patch_ops IS NOT NULL AND n.envelope IS NOT NULL THEN p.envelope END,
       CASE WHEN u.patch_ops IS NOT NULL THEN (SELECT v.changed_paths FROM snapshot_provenance v
         WHERE v.subject_key = n.subject_key AND v.snapshot_version = n.snapshot_version) END`;

/** Members of an envelope that the server sets, regardless of the operations. */
const OF_SERVER = ['snapshot_id', 'snapshot_version', 'generated_at', 'change_kind', 'audit', 'diff'];
/** Above the total text length of copies that the service allows in one update. */
const MAX_COPIED = 64 * 2 ** 20;
/** A value that rfc6902 clones wrongly. */
const MISCLONED = /"__proto__":|"constructor":"function /;

/** The result of operations. `misread` means that rfc6902 would violate RFC 6902. */
type Outcome = 'applied' | 'refused' | 'misread';

/** Replays the update of a version and compares the result, unless a text is in the archive. The row ends with UPDATE_COLUMNS. */
export function checkPatch(found: Found, where: string, row: Row, envelope: unknown): void {
  const [updateId, opsText, isOnVersionBefore, isErased, isArchived, baseText, changedPaths] = row.slice(-7);
  if (!isText(updateId)) return;
  const fault = (what: string): void => report(found, 'patch', where, `update ${updateId}: ${what}`);
  if (isOnVersionBefore !== 't') {
    fault('its base is not the previous version');
    return;
  }
  if (!isText(opsText) && isErased !== 't') {
    fault('its operations are missing without an erasure');
    return;
  }
  if (isArchived === 't' && isText(opsText)) {
    found.archivedUpdates++;
    return;
  }
  const base = isText(baseText) ? canonicalValue(baseText) : undefined;
  if (!isText(opsText)) {
    found.unreplayed++;
    return;
  }
  replayUpdate(found, where, { updateId, opsText, changedPaths: changedPaths ?? null }, base, envelope);
}

/** An update with its operations, and the stored paths of what it changed. */
export interface StoredUpdate {
  readonly updateId: string;
  readonly opsText: string;
  readonly changedPaths: string | null;
}

/** Replays an update on the value of its base, which changes. Either value is undefined if there is no text to compare. */
export function replayUpdate(
  found: Found,
  where: string,
  { updateId, opsText, changedPaths }: StoredUpdate,
  base: unknown,
  envelope: unknown,
): void {
  const fault = (what: string): void => report(found, 'patch', where, `update ${updateId}: ${what}`);
  if (base === undefined || envelope === undefined) {
    found.unreplayed++;
    return;
  }
  const ops = canonicalValue(opsText);
  if (!Array.isArray(ops)) {
    fault('its operations are not a canonical JSON array');
    return;
  }
  if (!isDeepStrictEqual(memberOf(envelope, 'diff'), { format: 'rfc6902', ops })) {
    fault('diff does not contain its operations');
  }
  // This check comes first, because the operations will change the base in place.
  if (isText(changedPaths)) checkChangedPaths(found, where, changedPaths, base, envelope);
  const outcome = replay(base, ops);
  if (outcome === 'misread') {
    found.unreplayed++;
    notice(found, where, `update ${updateId} was not replayed, because rfc6902 would apply it wrongly`);
    return;
  }
  found.replayed++;
  if (outcome === 'refused') {
    fault('its operations cannot be applied to the previous version');
    return;
  }
  const others = Object.keys({ ...Object(base), ...Object(envelope) }).filter(
    (name) => !OF_SERVER.includes(name) && !isDeepStrictEqual(memberOf(base, name), memberOf(envelope, name)),
  );
  if (others.length > 0) fault(`its operations give another ${others.slice(0, 10).join(', ').slice(0, 200)}`);
}

/** Applies operations to the document in place. */
export function replay(document: unknown, ops: readonly unknown[]): Outcome {
  let copied = 0;
  try {
    for (const operation of ops) {
      const [outcome, more] = applyOne(document, operation);
      copied += more;
      if (outcome !== 'applied') return outcome;
      if (copied > MAX_COPIED) return 'refused';
    }
    return 'applied';
  } catch {
    // A pointer without its first slash, or a value deeper than any envelope.
    return 'refused';
  }
}

/**
 * Applies one operation and returns the length of copied text. It looks up own members only, which rfc6902 does not, and evaluates `test`
 * itself, because rfc6902 needs quadratic time for arrays. A move becomes a removal and an addition (RFC 6902, section 4.4), because rfc6902
 * resolves the target before the removal. A copy becomes an addition (section 4.5).
 */
function applyOne(document: unknown, operation: unknown): [outcome: Outcome, copied: number] {
  const [op, path, from] = ['op', 'path', 'from'].map((name) => memberOf(operation, name));
  const value = memberOf(operation, 'value');
  if (typeof path !== 'string') return ['refused', 0];
  const there = valueAt(document, path);
  switch (op) {
    case 'test':
      return [there !== undefined && isDeepStrictEqual(there, value) ? 'applied' : 'refused', 0];
    case 'remove':
      return [there === undefined ? 'refused' : change(document, { op, path }), 0];
    case 'replace':
      return [there === undefined || value === undefined ? 'refused' : change(document, { op, path, value }), 0];
    case 'add':
      return [value === undefined ? 'refused' : change(document, { op, path, value }), 0];
    case 'copy':
    case 'move': {
      const taken = typeof from === 'string' ? valueAt(document, from) : undefined;
      if (typeof from !== 'string' || taken === undefined) return ['refused', 0];
      const put: Operation = { op: 'add', path, value: taken };
      if (op === 'copy') return [change(document, put), JSON.stringify(taken).length];
      if (path.startsWith(`${from}/`)) return ['refused', 0];
      const removed = change(document, { op: 'remove', path: from });
      return [removed === 'applied' ? change(document, put) : removed, 0];
    }
    default:
      return ['refused', 0];
  }
}

function change(document: unknown, operation: Operation): Outcome {
  const { tokens } = Pointer.fromJSON(operation.path);
  const parent = valueAt(document, operation.path.slice(0, Math.max(0, operation.path.lastIndexOf('/'))));
  if (typeof parent !== 'object' || parent === null) return 'refused';
  // rfc6902 skips these names in a path, and the first one would set a prototype.
  const isMisread =
    tokens.includes('__proto__') || tokens.slice(0, -1).some((name) => name === 'constructor' || name === 'prototype');
  if (isMisread || ('value' in operation && MISCLONED.test(JSON.stringify(operation.value)))) return 'misread';
  return applyPatch(document, [operation]).every((error) => error === null) ? 'applied' : 'refused';
}

/** Returns the value at a pointer, using own members and elements only; else undefined. */
function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const name of Pointer.fromJSON(pointer).tokens.slice(1)) {
    value = Array.isArray(value) && name === 'length' ? undefined : memberOf(value, name);
  }
  return value;
}
