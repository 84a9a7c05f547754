import { keyedLeafText } from '@iss/domain';
import type { LogKey, MapState } from '@iss/persistence';
import { formatLogProof, formatVerifierKey, parsePolicy, quorumSize } from '@iss/tlog';
import { LogKeys } from '@iss/contract';
import type { LogProof } from '../../log/log-proof.service';

/** Returns the keys, and the policy both as text and in parsed form. `map` is null for a log without a map. */
export function logKeys(
  logOrigin: string,
  vkeys: readonly LogKey[],
  policy: string | null,
  map: Pick<MapState, 'vrfKey' | 'startsAt'> | null,
): LogKeys {
  const parsed = policy === null ? null : parsePolicy(policy);
  return LogKeys.of({
    logOrigin,
    vkeys,
    witnesses: (parsed?.witnesses ?? []).map(({ key, url }) => ({ vkey: formatVerifierKey(key), url })),
    quorum: parsed === null ? 0 : quorumSize(parsed),
    policy: policy === null || map === null || parsed?.vrfKey !== null ? policy : withVrfLine(policy, map.vrfKey),
    vrfKey: map?.vrfKey ?? null,
    mapStartsAt: map?.startsAt ?? null,
  });
}

/** Adds the VRF key to a policy whose operator did not write it there. */
function withVrfLine(policy: string, vrfKey: string): string {
  return `${policy}${policy.endsWith('\n') ? '' : '\n'}vrf ${vrfKey}\n`;
}

/**
 * Returns the proof as a `.tlog-proof` file (C2SP tlog-proof). Its extra data is the entry, and the text of the leaf on a second line
 * if the entry has keys.
 */
export function proofFile({ inclusion, entry }: LogProof, checkpoint: string): string {
  const extra = entry.keys === null ? entry.text : `${entry.text}\n${keyedLeafText(entry.text, entry.keys)}`;
  return formatLogProof({ extra: Buffer.from(extra), index: entry.logIndex, inclusion, checkpoint });
}
