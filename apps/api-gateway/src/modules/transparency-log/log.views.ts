import type { LogKey } from '@iss/persistence';
import { formatLogProof, formatVerifierKey, parsePolicy, quorumSize } from '@iss/tlog';
import { LogKeys } from '@iss/contract';
import type { LogProof } from '../../log/log-proof.service';

/** Returns keys and policy, the latter also in parsed form. */
export function logKeys(logOrigin: string, vkeys: readonly LogKey[], policy: string | null): LogKeys {
  const parsed = policy === null ? null : parsePolicy(policy);
  return LogKeys.of({
    logOrigin,
    vkeys,
    witnesses: (parsed?.witnesses ?? []).map(({ key, url }) => ({ vkey: formatVerifierKey(key), url })),
    quorum: parsed === null ? 0 : quorumSize(parsed),
    policy,
  });
}

/** Returns the proof as a `.tlog-proof` file whose extra data is the entry (C2SP tlog-proof). */
export function proofFile({ inclusion, entry }: LogProof, checkpoint: string): string {
  return formatLogProof({ extra: Buffer.from(entry.text), index: entry.logIndex, inclusion, checkpoint });
}
