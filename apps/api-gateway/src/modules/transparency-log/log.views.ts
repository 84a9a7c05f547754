import { keyedLeafText } from '@iss/domain';
import { formatLogProof } from '@iss/tlog';
import type { InclusionOfFact } from '../../log/log-proof.service';

/**
 * Returns the proof as a `.tlog-proof` file (C2SP tlog-proof). Its extra data is the entry, and the text of the leaf on a second line
 * if the entry has keys.
 */
export function proofFile({ inclusion, entry }: InclusionOfFact, checkpoint: string): string {
  const extra = entry.keys === null ? entry.text : `${entry.text}\n${keyedLeafText(entry.text, entry.keys)}`;
  return formatLogProof({ extra: Buffer.from(extra), index: entry.logIndex, inclusion, checkpoint });
}
