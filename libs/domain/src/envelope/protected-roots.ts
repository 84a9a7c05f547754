import { DomainError, type ErrorDetail } from '../errors';
import type { PatchOperation } from '../json/patch';
import { MAX_PROBLEMS } from '../limits';

/** The members of an envelope that the server alone sets, contract "What a patch may touch". */
export const PROTECTED_ROOTS: readonly string[] = [
  'envelope_version',
  'snapshot_id',
  'snapshot_version',
  'generated_at',
  'subject',
  'audit',
  'diff',
];

/**
 * Stops a patch that would change a protected root of the envelope or the envelope as a whole (the pointer ""). A move
 * also removes what its `from` names; `test`, and `copy` from a protected root, only read.
 *
 * @param at JSON Pointer of the operations in the request body, as `/patch_ops`.
 * @throws DomainError `validation_error`, `details` naming each such operation (`/patch_ops/3`).
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

/** The places that an operation changes: where it puts something, and what it takes away. */
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

/** The first token as written: no protected name has a character that a pointer escapes. */
function rootOf(pointer: string): string {
  const end = pointer.indexOf('/', 1);
  return end === -1 ? pointer : pointer.slice(0, end);
}
