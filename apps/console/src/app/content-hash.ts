import { isJsonObject, type JsonValue } from '@iss/domain/pure';
import { hashOf } from './hash-of.ts';
import { WorkerRoom } from './worker.ts';
import workerUrl from './hash.worker.ts?worker&url';

/** Larger content is hashed in a worker: the number of its values, plus one for each 64 characters of texts. */
const SMALL = 2_000;

const worker = new WorkerRoom<JsonValue, never, string>(workerUrl);

/** Returns the hash of an envelope. The page stays responsive, because a worker hashes large content. */
export async function hashContent(envelope: JsonValue): Promise<string> {
  return isSmall(envelope) ? hashOf(envelope) : worker.run(envelope);
}

function isSmall(content: JsonValue): boolean {
  let left = SMALL;
  const waiting = [content];
  for (let value = waiting.pop(); value !== undefined && left > 0; value = waiting.pop()) {
    left -= typeof value === 'string' ? 1 + value.length / 64 : 1;
    const members = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
    if (members.length > left) return false;
    waiting.push(...members);
  }
  return left > 0;
}
