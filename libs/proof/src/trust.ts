import {
  isQuorum,
  keyLabel,
  parsePolicy,
  parseVerifierKey,
  type Policy,
  type PolicyLog,
  type VerifiedCheckpoint,
  type VerifierKey,
  verifyCheckpoint,
} from '@iss/tlog';
import { judgedLater, VerificationError } from './errors';
import { CLOCK_SKEW_MS, MAX_LOG_DELAY_MS } from './limits';

/** The largest time that JavaScript can represent. */
const MAX_SECONDS = 8.64e12;

/**
 * Parses a policy (C2SP tlog-policy), or a single verifier key, which requires no witness. Keys that this platform cannot verify are
 * ignored.
 *
 * @throws UnreadableError
 */
export async function readPolicy(text: string): Promise<Policy> {
  const line = text.trim();
  const isKey = line !== '' && !/\s/.test(line);
  const parsed = async (): Promise<Policy> => verifiableHere(isKey ? policyOfKeys([line]) : parsePolicy(text));
  return judgedLater(isKey ? 'The key' : 'The policy', parsed);
}

/** Returns the policy that accepts these keys of the log and requires a number of these witnesses. @throws TlogError */
export function policyOfKeys(vkeys: readonly string[], witnessKeys: readonly string[] = [], threshold = 0): Policy {
  const keyed = (vkey: string): PolicyLog => ({ key: parseVerifierKey(vkey), url: null });
  const logs = vkeys.map(keyed);
  const witnesses = witnessKeys.map((vkey, index) => ({ ...keyed(vkey), name: `w${index + 1}` }));
  const trusted = { logs, witnesses, vrfKey: null };
  if (threshold === 0) return { ...trusted, groups: [], quorum: null };
  const name = 'quorum';
  return { ...trusted, groups: [{ name, threshold, members: witnesses.map((one) => one.name) }], quorum: name };
}

/** Returns the policy without its quorum of witnesses, for a checkpoint that was verified before. */
export function withoutQuorum(policy: Policy): Policy {
  return { ...policy, quorum: null };
}

/** Removes ML-DSA-44 keys from the policy on a platform that cannot verify them. The quorum stays the same. */
export async function verifiableHere(policy: Policy): Promise<Policy> {
  const isPostQuantum = ({ key }: { readonly key: VerifierKey }): boolean => key.type === 'ml-dsa-44-cosignature';
  if (![...policy.logs, ...policy.witnesses].some(isPostQuantum) || (await knowsMlDsa())) return policy;
  const others = <One extends { readonly key: VerifierKey }>(all: readonly One[]): One[] =>
    all.filter((one) => !isPostQuantum(one));
  return { ...policy, logs: others(policy.logs), witnesses: others(policy.witnesses) };
}

async function knowsMlDsa(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey({ name: 'ML-DSA-44' }, false, ['sign', 'verify']);
    return true;
  } catch {
    return false;
  }
}

/**
 * Verifies a checkpoint by the policy. No signature may have a future time.
 *
 * @throws VerificationError
 */
export async function requireCheckpoint(
  note: string,
  policy: Policy,
  where: string,
  now = Date.now(),
): Promise<VerifiedCheckpoint> {
  const verified = await judgedLater(where, () => verifyCheckpoint(note, policy), 'checkpoint');
  for (const { key, time } of verified.signatures) {
    if (time === null || time * 1000 <= now + CLOCK_SKEW_MS) continue;
    throw new VerificationError('clock', `${where}: ${keyLabel(key)} signed it at ${timeText(time)}, in the future.`);
  }
  return verified;
}

/**
 * Checks that the witnesses dated a checkpoint at most `maxAgeMs` ago: those that did must meet the quorum by themselves, so that a fresh
 * cosignature cannot hide old ones.
 *
 * @throws VerificationError `stale`
 */
export function requireFresh(
  { cosignatures }: VerifiedCheckpoint,
  policy: Policy,
  maxAgeMs: number,
  now = Date.now(),
): void {
  const dated = cosignatures.flatMap(({ witness, signature: { time } }) => (time === null ? [] : [{ witness, time }]));
  const fresh = dated.filter(({ time }) => time * 1000 >= now - maxAgeMs);
  if (fresh.length > 0 && isQuorum(policy, new Set(fresh.map(({ witness }) => witness.name)))) return;
  const newest = Math.max(...dated.map(({ time }) => time));
  const why =
    dated.length === 0
      ? 'No trusted witness dated the checkpoint'
      : `Too few witnesses dated the checkpoint within ${Math.floor(maxAgeMs / 1000)} seconds; the newest time is ${timeText(newest)}`;
  throw new VerificationError('stale', `${why}. Request a newer proof.`);
}

/** Formats seconds since 1970. */
export function timeText(seconds: number): string {
  return new Date(Math.min(seconds, MAX_SECONDS) * 1000).toISOString();
}

/** An earlier checkpoint of a log. */
export interface Floor {
  readonly size: number;
  /** The earliest time of its signatures, in milliseconds since 1970; null if none has a time. */
  readonly at: number | null;
}

export function floorOf({ checkpoint, signatures }: VerifiedCheckpoint): Floor {
  const times = signatures.flatMap(({ time }) => time ?? []);
  return { size: checkpoint.size, at: times.length === 0 ? null : Math.min(...times) * 1000 };
}

/** @throws VerificationError `backdated` if an entry after an earlier checkpoint has a time before it */
export function requireNotBackdated(where: string, logIndex: number, createdAt: string, floor: Floor | null): void {
  if (floor === null || floor.at === null || logIndex < floor.size) return;
  if (Date.parse(createdAt) >= floor.at - MAX_LOG_DELAY_MS) return;
  const at = timeText(floor.at / 1000);
  throw new VerificationError('backdated', `${where} created ${createdAt}, but not logged at ${at}.`);
}
