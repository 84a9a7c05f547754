import { isDeepStrictEqual } from 'node:util';
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { canonicalValue } from './canonical';
import { isText, type Row } from './database';
import { memberOf } from './envelopes';
import { type Found, notice, report } from './findings';

/** Finds by its index the update that made the version `n`; the version before is `p`. */
export const UPDATE_OF_VERSION = `
  LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.applied_snapshot_id = n.snapshot_id LIMIT 1) u ON true`;

/** Reads the version before only where an update made the version, and where there is something to compare. */
export const UPDATE_COLUMNS = `u.update_id, u.patch_ops,
       (u.subject_key, u.base_snapshot_version, u.base_snapshot_id) = (n.subject_key, n.snapshot_version - 1, p.snapshot_id),
       EXISTS (SELECT FROM erasures er
                WHERE er.erasure_id = u.erasure_id AND er.subject_key = u.subject_key AND er.status = 'erased'
                  AND (u.base_snapshot_version = ANY (er.versions) OR u.base_snapshot_version + 1 = ANY (er.versions))),
       CASE WHEN u.patch_ops IS NOT NULL AND n.envelope IS NOT NULL THEN p.envelope END`;

/** Members of an envelope that the server sets, whatever the operations make of them. */
const OF_SERVER = ['snapshot_id', 'snapshot_version', 'generated_at', 'audit', 'diff'];
/** More than the texts of all copies that the service makes for one update. */
const MAX_COPIED = 64 * 2 ** 20;
/** A value that rfc6902 does not clone as it is. */
const MISCLONED = /"__proto__":|"constructor":"function /;

/** What became of operations: `misread` where rfc6902 would not apply one as RFC 6902 says. */
type Outcome = 'applied' | 'refused' | 'misread';

/** That the version is what the operations of its update make of the version before. The row ends with UPDATE_COLUMNS. */
export function checkPatch(found: Found, where: string, row: Row, envelope: unknown): void {
  const [updateId, opsText, isOnVersionBefore, isErased, baseText] = row.slice(-5);
  if (!isText(updateId)) return;
  const fault = (what: string): void => report(found, 'patch', where, `update ${updateId}: ${what}`);
  if (isOnVersionBefore !== 't') {
    fault('it names another version as its base than the one before');
    return;
  }
  if (!isText(opsText) && isErased !== 't') {
    fault('its operations are not there, and no erasure took them');
    return;
  }
  const base = isText(baseText) ? canonicalValue(baseText) : undefined;
  if (!isText(opsText) || base === undefined || envelope === undefined) {
    found.unreplayed++;
    return;
  }
  const ops = canonicalValue(opsText);
  if (!Array.isArray(ops)) {
    fault('its operations are not the canonical form of an array');
    return;
  }
  if (!isDeepStrictEqual(memberOf(envelope, 'diff'), { format: 'rfc6902', ops })) {
    fault('diff does not hold its operations');
  }
  const outcome = replay(base, ops);
  if (outcome === 'misread') {
    found.unreplayed++;
    notice(found, where, `update ${updateId} has a name that rfc6902 applies wrongly: not applied again`);
    return;
  }
  found.replayed++;
  if (outcome === 'refused') {
    fault('its operations cannot be applied to the version before');
    return;
  }
  const others = Object.keys({ ...Object(base), ...Object(envelope) }).filter(
    (name) => !OF_SERVER.includes(name) && !isDeepStrictEqual(memberOf(base, name), memberOf(envelope, name)),
  );
  if (others.length > 0) fault(`its operations make another ${others.slice(0, 10).join(', ').slice(0, 200)}`);
}

/** Applies all operations to the document itself. */
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
    // A pointer without its first slash, or a value as deep as no envelope may be.
    return 'refused';
  }
}

/**
 * Looks places up by own members, which rfc6902 does not, and compares for `test`, which takes rfc6902 the square of an
 * array's length. A move is a removal and an addition, and a copy an addition (RFC 6902, sections 4.4 and 4.5): rfc6902
 * looks up where a move goes before it takes the value away.
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
  // rfc6902 passes over these names on its way, and would set a prototype by the first of them.
  const isMisread =
    tokens.includes('__proto__') || tokens.slice(0, -1).some((name) => name === 'constructor' || name === 'prototype');
  if (isMisread || ('value' in operation && MISCLONED.test(JSON.stringify(operation.value)))) return 'misread';
  return applyPatch(document, [operation]).every((error) => error === null) ? 'applied' : 'refused';
}

/** Own members and elements only; undefined where there is none. */
function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const name of Pointer.fromJSON(pointer).tokens.slice(1)) {
    value = Array.isArray(value) && name === 'length' ? undefined : memberOf(value, name);
  }
  return value;
}
