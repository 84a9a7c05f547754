import { isJsonObject, type JsonValue, parseJsonText } from '@iss/domain/pure';
import { decodeHash, decodeUtf8, leafHash, parseLogProof, toHex, verifyInclusion } from '@iss/tlog';
import { type Floor, requireNotBackdated } from '../verify/floor.ts';
import { requireCheckpoint } from './checkpoint.ts';
import { judged, RefusedError, UnreadableError } from './errors.ts';
import type { Members } from './members.ts';
import type { Proved } from './proved.ts';
import type { LogProof, Policy } from './types.ts';

/** Parses a `.tlog-proof` file. @throws UnreadableError, RefusedError */
export function readProofFile(bytes: Uint8Array): LogProof {
  return judged('The proof', () => parseLogProof(decodeUtf8(bytes)));
}

/** Reads the JSON answer of `…/log-proof`. @throws UnreadableError, RefusedError */
export function readProofAnswer(answer: Members): LogProof & { readonly claims: Members } {
  const checkpoint = answer.textOrNull('checkpoint');
  if (checkpoint === null) {
    throw new UnreadableError('The proof has no checkpoint, so it is not signed. Request a proof without tree_size.');
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
 * Verifies that an entry is in the log.
 *
 * @param entry the entry, if the proof does not contain it
 * @param since an earlier checkpoint. A later entry must not have an earlier time
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
    throw new UnreadableError('The proof does not contain its entry. Name the file of the entry with --entry FILE.');
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

/** Checks the other members of an answer. The proof does not need them, but a reader could trust them. */
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
    if (found !== expected) throw new RefusedError(`${name} is ${found} instead of ${expected}.`);
  }
}

/** Members with a past time. `expires_at` can be in the future. */
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
