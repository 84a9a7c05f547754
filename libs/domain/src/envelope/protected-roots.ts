import { DomainError, type ErrorDetail } from '../errors';
import type { PatchOperation } from '../json/patch';
import { MAX_PROBLEMS } from '../limits';

/** The members of an envelope that only the server sets (contract, "What a patch may touch"). */
export const PROTECTED_ROOTS: readonly string[] = [
  'envelope_version',
  'snapshot_id',
  'snapshot_version',
  'generated_at',
  'subject',
  'audit',
  'change_kind',
  'diff',
];

/**
 * Refuses a patch that changes a protected root or the whole envelope (the pointer ""). A move also changes the place
 * named by its `from`. A `test` and a `copy` from a protected root only read.
 *
 * @param at JSON Pointer to the operations in the request body, for example `/patch_ops`.
 * @throws DomainError `validation_error`; `details` names each such operation (`/patch_ops/3`).
 */
export function requirePatchAllowed(operations: readonly PatchOperation[], at: string): void {
  const problems: ErrorDetail[] = [];
  operations.forEach((operation, index) => {
    const pointer = changedPointers(operation).find(isProtected);
    if (pointer === undefined) return;
    const message = pointer === '' ? 'must not change the whole envelope' : `must not change ${rootOf(pointer)}`;
    problems.push({ path: `${at}/${index}`, message, code: 'protected_path' });
  });
  if (problems.length === 0) return;
  throw new DomainError(
    'validation_error',
    'A patch can change only attributes, evidence, attribute_paths and additional members. The server sets ' +
      'the others.',
    problems.slice(0, MAX_PROBLEMS),
  );
}

/** Returns the places that an operation changes: its target, and the source of a move. */
export function changedPointers(operation: PatchOperation): string[] {
  switch (operation.op) {
    case 'test':
      return [];
    case 'move':
      return [operation.path, operation.from];
    case 'add':
    case 'remove':
    case 'replace':
    case 'copy':
      return [operation.path];
  }
}

function isProtected(pointer: string): boolean {
  return pointer === '' || PROTECTED_ROOTS.includes(rootOf(pointer).slice(1));
}

/** Returns the first token without unescaping it: no protected name contains a character that a pointer escapes. */
function rootOf(pointer: string): string {
  const end = pointer.indexOf('/', 1);
  return end === -1 ? pointer : pointer.slice(0, end);
}
