import { isJsonObject } from '@iss/domain/pure';
import { decodeUtf8, encodeBase64, encodeUtf8, type LogProof, parseLogProof, type Policy, toHex } from '@iss/tlog';
import { requireMembers } from './content';
import { judged, UnreadableError, VerificationError } from './errors';
import { decodeHashes, parsed, requireIncluded } from './inclusion';
import { KEYED_ENTRY_VERSION, leafOf, leafTextOf, type LoggedText } from './leaf';
import { Members } from './members';
import type { Proved } from './report';
import { type Floor, requireCheckpoint, requireNotBackdated } from './trust';

/** Parses a `.tlog-proof` file. @throws UnreadableError */
export function readProofFile(bytes: Uint8Array): LogProof {
  return judged('The proof', () => parseLogProof(decodeUtf8(bytes)));
}

/** Reads the JSON answer of `…/log-proof`. @throws UnreadableError */
export function readProofAnswer(answer: Members): LogProof & { readonly claims: Members } & Pick<LoggedText, 'keys'> {
  const checkpoint = answer.textOrNull('checkpoint');
  if (checkpoint === null) {
    throw new UnreadableError(
      'not_in_log',
      'The proof has no checkpoint, so it is not signed. Request a proof without tree_size.',
    );
  }
  const logged = answer.logged();
  return {
    extra: encodeUtf8(logged.entry),
    keys: logged.keys,
    index: answer.count('log_index'),
    inclusion: judged('The proof', () => decodeHashes(answer.texts('inclusion'))),
    checkpoint,
    claims: answer,
  };
}

/**
 * Verifies that an entry is in the log.
 *
 * @param entry the entry, if the proof does not contain it
 * @param since an earlier checkpoint. A later entry must not have an earlier time
 * @throws VerificationError
 */
export async function verifyEntryProof(
  proof: LogProof & { readonly claims?: Members } & Pick<LoggedText, 'keys'>,
  entry: Uint8Array | null,
  policy: Policy,
  since: Floor | null = null,
): Promise<Proved> {
  const logged = entry ?? proof.extra;
  if (logged === null) {
    throw new UnreadableError(
      'not_in_log',
      'The proof does not contain its entry. Name the file of the entry with --entry FILE.',
    );
  }
  const verified = await requireCheckpoint(proof.checkpoint, policy, 'The checkpoint');
  const { checkpoint } = verified;
  const whole = judged('The entry', () => decodeUtf8(logged));
  // The extra data of a proof file is the entry, or its leaf, or both on two lines. The leaf names the keys of the entry.
  const [text, leafText] = entry === null ? splitOnce(whole) : [whole, null];
  const shownLeaf = leafText ?? (entry === null ? null : lastLine(proof.extra));
  const keys = proof.keys ?? (shownLeaf === null ? null : keysOfLeaf(shownLeaf));
  if (leafText !== null && leafTextOf({ entry: text, keys }) !== leafText)
    throw new VerificationError('not_in_log', 'The second line of the extra data is not the leaf of the entry.');
  requireKeysOf(text, keys);
  const leaf = leafOf({ entry: text, keys });
  const inclusion = proof.inclusion.map(encodeBase64);
  requireIncluded('The entry', leaf, { log_index: proof.index, inclusion }, checkpoint);
  if (proof.claims !== undefined) requireClaims(proof.claims, { leaf, ...checkpoint });
  const members = membersOf(text);
  const moments = members.filter(([name]) => MOMENT.test(name));
  for (const [, time] of moments) requireNotBackdated('The entry:', proof.index, time, since);
  return {
    verified,
    shown: [['Entry', `${proof.index} of the log:`], ...members],
    json: { kind: 'entry', log_index: proof.index, leaf_hash: toHex(leaf), entry: text },
  };
}

function splitOnce(text: string): [first: string, rest: string | null] {
  const at = text.indexOf('\n');
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

function lastLine(extra: Uint8Array | null): string | null {
  return extra === null
    ? null
    : (judged('The entry', () => decodeUtf8(extra))
        .split('\n')
        .at(-1) ?? null);
}

/** Returns the keys that a public leaf names; null for any other text. */
function keysOfLeaf(leafText: string): string[] | null {
  const outer = parsed(leafText);
  if (!isJsonObject(outer) || outer['entry_version'] !== KEYED_ENTRY_VERSION || !('body' in outer)) return null;
  return Members.of('The leaf', outer).texts('keys');
}

/** Checks that an entry with keys is shown with them, and no other. @throws VerificationError */
function requireKeysOf(text: string, keys: readonly string[] | null): void {
  const entry = parsed(text);
  const isKeyed = isJsonObject(entry) && entry['entry_version'] === KEYED_ENTRY_VERSION && !('body' in entry);
  if (isKeyed === (keys !== null)) return;
  const why = isKeyed
    ? 'has keys in the map, but the proof names none'
    : 'has no keys in the map, but the proof names some';
  throw new VerificationError('not_in_log', `The entry ${why}.`);
}

/** Checks the other members of an answer. The proof does not need them, but a reader could trust them. */
function requireClaims(
  claims: Members,
  { leaf, origin, size }: { leaf: Uint8Array; origin: string; size: number },
): void {
  const found = {
    log_origin: claims.text('log_origin'),
    tree_size: claims.count('tree_size'),
    leaf_hash: claims.text('leaf_hash'),
  };
  requireMembers('The proof', found, { log_origin: origin, tree_size: size, leaf_hash: toHex(leaf) }, 'header');
}

/** Members with a past time. `expires_at` can be in the future. */
const MOMENT = /^ {2}(?:created|changed|revoked|erased)_at$/;

function membersOf(text: string): [string, string][] {
  const value = parsed(text);
  if (value === undefined) return [['  (no JSON)', JSON.stringify(text.slice(0, 200))]];
  if (!isJsonObject(value)) return [['  (no object)', JSON.stringify(value).slice(0, 200)]];
  return Object.entries(value)
    .filter(([name]) => name !== 'salt')
    .map(([name, member]) => [`  ${name}`, typeof member === 'string' ? member : JSON.stringify(member)]);
}
