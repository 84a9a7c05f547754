import { isJsonObject, type JsonValue, parseJsonText } from '@iss/domain/pure';
import { decodeHash, decodeUtf8, leafHash, parseLogProof, toHex, verifyInclusion } from '@iss/tlog';
import { type Floor, requireNotBackdated } from '../verify/floor.ts';
import { requireCheckpoint } from './checkpoint.ts';
import { judged, RefusedError, UnreadableError } from './errors.ts';
import type { Members } from './members.ts';
import type { Proved } from './proved.ts';
import type { LogProof, Policy } from './types.ts';

/** A proof of one entry: the bytes of a `.tlog-proof` file. */
export function readProofFile(bytes: Uint8Array): LogProof {
  return judged('The proof', () => parseLogProof(decodeUtf8(bytes)));
}

/** The same as `…/log-proof` answers it in JSON. */
export function readProofAnswer(answer: Members): LogProof & { readonly claims: Members } {
  const checkpoint = answer.textOrNull('checkpoint');
  if (checkpoint === null) {
    throw new UnreadableError('The proof has no checkpoint, so nobody signed it. Ask for one without tree_size.');
  }
  return {
    extra: new TextEncoder().encode(answer.text('entry')),
    index: answer.count('log_index'),
    inclusion: judged('The proof', () =>
      answer.texts('inclusion').map((hash) => decodeHash(hash, 'hash of the proof')),
    ),
    checkpoint,
    claims: answer,
  };
}

/**
 * Verifies that an entry is in the log. `entry` is what was named beside the proof; the proof's own otherwise. `since` is what the
 * log had shown before: an entry that came later must not say that it is older.
 *
 * @throws RefusedError, UnreadableError
 */
export async function verifyEntryProof(
  proof: LogProof & { readonly claims?: Members },
  entry: Uint8Array | null,
  policy: Policy,
  since: Floor | null = null,
): Promise<Proved> {
  const logged = entry ?? proof.extra;
  if (logged === null) {
    throw new UnreadableError('The proof does not hold its entry: name the file of the entry, --entry FILE.');
  }
  const verified = await requireCheckpoint(proof.checkpoint, policy, 'The checkpoint');
  const { checkpoint } = verified;
  const leaf = leafHash(logged);
  judged('The entry', () => verifyInclusion(leaf, proof.index, checkpoint, proof.inclusion));
  if (proof.claims !== undefined) requireClaims(proof.claims, { leaf, ...checkpoint });
  const text = judged('The entry', () => decodeUtf8(logged));
  const members = membersOf(text);
  if (since !== null) {
    const moments = members.filter(([name]) => MOMENT.test(name));
    for (const [, time] of moments) judged('', () => requireNotBackdated('The entry:', proof.index, time, since));
  }
  return {
    verified,
    shown: [['Entry', `${proof.index} of the log:`], ...members],
    json: { kind: 'entry', log_index: proof.index, leaf_hash: toHex(leaf), entry: text },
  };
}

/** What stands beside the proof in an answer is not needed for it; where it is wrong, somebody may believe it. */
function requireClaims(
  claims: Members,
  { leaf, origin, size }: { leaf: Uint8Array; origin: string; size: number },
): void {
  const rows: readonly (readonly [string, string | number, string | number])[] = [
    ['log_origin', claims.text('log_origin'), origin],
    ['tree_size', claims.count('tree_size'), size],
    ['leaf_hash', claims.text('leaf_hash'), toHex(leaf)],
  ];
  for (const [name, found, expected] of rows) {
    if (found !== expected) throw new RefusedError(`${name} is ${found} and has to be ${expected}.`);
  }
}

/** When it happened; an `expires_at` is of a time to come. */
const MOMENT = /^ {2}(?:created|changed|revoked|erased)_at$/;

function membersOf(text: string): [string, string][] {
  let value: JsonValue;
  try {
    value = parseJsonText(text);
  } catch {
    return [['  (no JSON)', JSON.stringify(text.slice(0, 200))]];
  }
  if (!isJsonObject(value)) return [['  (no object)', JSON.stringify(value).slice(0, 200)]];
  return Object.entries(value)
    .filter(([name]) => name !== 'salt')
    .map(([name, member]) => [`  ${name}`, typeof member === 'string' ? member : JSON.stringify(member)]);
}
