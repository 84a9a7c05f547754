import { ApiError } from '@identity-state/client';
import type { draftPatch } from './content.ts';

export interface Faults {
  /** The faults by pointer into the content. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  /** The faults by index of the operation. */
  readonly operations: ReadonlyMap<number, readonly string[]>;
}

/** A message about a place of the result: `in the result, /attributes/legal/legal_name must be a string`. */
const OF_RESULT = /^in the result, (\/\S+) (.*)$/su;
const OF_OPERATION = /^\/patch_ops\/(\d+)/u;

/** Finds the faults in a refusal. Its details name operations, and its messages name places of the result. */
export function faultsOf(error: Error | null, patch: ReturnType<typeof draftPatch>): Faults {
  const places = new Map<string, string[]>();
  const operations = new Map<number, string[]>();
  for (const { path, message } of error instanceof ApiError ? error.details : []) {
    const index = OF_OPERATION.exec(path)?.[1];
    const [, place, text] = OF_RESULT.exec(message) ?? [];
    const operation = index === undefined ? undefined : patch[Number(index)];
    if (index !== undefined) operations.set(Number(index), [...(operations.get(Number(index)) ?? []), message]);
    const at = place ?? operation?.path;
    if (at !== undefined) places.set(at, [...(places.get(at) ?? []), text ?? message]);
  }
  return { places, operations };
}
