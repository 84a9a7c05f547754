import { type FetchConsistency, Members } from '@iss/proof';
import { below, fetchText } from '../fetch-text';

/** Returns a function that fetches consistency proofs of a log. It throws Failure or UnreadableError. */
export function fetchConsistencyOf(log: string, signal?: AbortSignal): FetchConsistency {
  return async (from, to) => {
    const url = below(log, `consistency?from=${from}&to=${to}`);
    return readConsistency(Buffer.from(await fetchText(url, signal)));
  };
}

/** Parses an answer of `/log/consistency`. @throws UnreadableError */
export function readConsistency(answer: Buffer): string[] {
  return Members.parse('The consistency proof', answer).texts('proof');
}
