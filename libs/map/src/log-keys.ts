import { formatVerifierKey, parsePolicy, quorumSize } from '@iss/tlog';

/** A key that signs a log. */
interface SigningKey {
  readonly vkey: string;
  readonly from: Date | null;
  readonly until: Date | null;
}

/**
 * Returns what verifiers of a log read at `/log/keys`: its keys, and the policy both as text and in parsed form. `map` is null for a
 * log without a map.
 */
export function logKeys(
  origin: string,
  keys: readonly SigningKey[],
  policy: string | null,
  map: { readonly vrfKey: string; readonly startsAt: number } | null,
) {
  const parsed = policy === null ? null : parsePolicy(policy);
  return {
    log_origin: origin,
    vkeys: keys.map(({ vkey, from, until }) => ({
      vkey,
      from: from?.toISOString() ?? null,
      until: until?.toISOString() ?? null,
    })),
    witnesses: (parsed?.witnesses ?? []).map(({ key, url }) => ({ vkey: formatVerifierKey(key), url })),
    quorum: parsed === null ? 0 : quorumSize(parsed),
    policy: policy === null || map === null || parsed?.vrfKey !== null ? policy : withVrfLine(policy, map.vrfKey),
    vrf_key: map?.vrfKey ?? null,
    map_starts_at: map?.startsAt ?? null,
  };
}

/** Adds the VRF key to a policy whose operator did not write it there. */
function withVrfLine(policy: string, vrfKey: string): string {
  return `${policy}${policy.endsWith('\n') ? '' : '\n'}vrf ${vrfKey}\n`;
}
