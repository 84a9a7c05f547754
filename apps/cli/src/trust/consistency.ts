import { type FetchConsistency, Members } from '@iss/proof';
import { below, fetchText, RefusedFetch } from '../fetch-text';
import { PublicLog } from '../map-audit/public-log';

/**
 * Returns a function that fetches consistency proofs of a log. A folder or bucket with files of the log has none, so they are made of its
 * tiles. It throws Failure or UnreadableError.
 */
export function fetchConsistencyOf(log: string, signal?: AbortSignal): FetchConsistency {
  return async (from, to) => {
    const url = below(log, `consistency?from=${from}&to=${to}`);
    try {
      return readConsistency(Buffer.from(await fetchText(url, signal)));
    } catch (error) {
      if (!(error instanceof RefusedFetch) || !NOT_THERE.includes(error.status)) throw error;
      return new PublicLog(log, signal).consistency(from, to);
    }
  };
}

/** A bucket that may not be listed answers 403 for a missing object. */
const NOT_THERE = [403, 404];

/** Parses an answer of `/log/consistency`. @throws UnreadableError */
export function readConsistency(answer: Buffer): string[] {
  return Members.parse('The consistency proof', answer).texts('proof');
}
