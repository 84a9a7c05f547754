import type { JsonValue } from '@iss/domain/pure';
import {
  MapError,
  type MapErrorCode,
  type NumberInLog,
  parseMapProof,
  parseRecordLookUps,
  parseVrfPublicKey,
  verifyNewest,
  verifyNumbers,
  type VrfGroup,
} from '@iss/map';
import { nobleGroup } from '@iss/map/noble';
import { encodeBase64Url, type Policy, type VerifiedCheckpoint } from '@iss/tlog';
import { judged, UnreadableError, VerificationError, type VerificationFailure } from '../errors';
import { requireCheckpoint, requireFresh } from '../trust';

/** The keys that the reader trusts, and how old a checkpoint may be. */
export interface MapTrust {
  readonly policy: Policy;
  /** `VRF+<base64>`, from a source that the reader trusts. */
  readonly vrfKey: string;
  readonly maxAgeMs?: number | undefined;
  /** A faster implementation than the default, which runs everywhere. */
  readonly group?: VrfGroup | undefined;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: number | undefined;
}

/** The place of a proved number. */
export interface ProvedPlace {
  readonly logIndex: number;
  /** The key of the number, in base64url. */
  readonly key: string;
}

/** The proved newest number of a stream. */
export interface ProvedNewest {
  readonly verified: VerifiedCheckpoint;
  /** 0 if the stream is empty. */
  readonly number: number;
  /** Null if the stream is empty. */
  readonly head: ProvedPlace | null;
  /** Proves further numbers of the stream by their look-ups. @throws VerificationError */
  readonly placesOf: (lookUps: JsonValue) => readonly (ProvedPlace & { readonly number: number })[];
}

/**
 * Proves the newest number of a stream among the first `asOfSize` log entries: first the checkpoint by the policy, then that its last entry
 * is the root of the map, then each look-up, then that the look-ups are complete.
 *
 * @throws VerificationError, `not_newest` or `logged_twice` if the map says otherwise
 */
export async function proveNewest(
  stream: string,
  map: JsonValue,
  { policy, vrfKey, maxAgeMs, now = Date.now(), group = nobleGroup }: MapTrust,
  asOfSize?: number,
): Promise<ProvedNewest> {
  const proof = mapJudged('The proof', () => parseMapProof(map));
  const verified = await requireCheckpoint(proof.checkpoint, policy, 'The checkpoint', now);
  if (maxAgeMs !== undefined) requireFresh(verified, policy, maxAgeMs, now);
  const { checkpoint } = verified;
  const publicKey = publicKeyOf(vrfKey);
  const { origin } = checkpoint;
  const where = `The map of ${checkpoint.size} entries`;
  const trust = { group, publicKey, origin, tree: checkpoint };
  const { number, head } = mapJudged(where, () => verifyNewest(trust, stream, proof, asOfSize));
  return {
    verified,
    number,
    head: head && placeOf(head),
    placesOf: (json) =>
      mapJudged(where, () => {
        const lookUps = parseRecordLookUps(json);
        const found = verifyNumbers(trust, stream, proof, lookUps);
        return found.map((one, at) => ({ ...placeOf(one), number: lookUps[at]?.number ?? 0 }));
      }),
  };
}

function placeOf({ logIndex, key }: NumberInLog): ProvedPlace {
  return { logIndex, key: encodeBase64Url(key) };
}

/** The last key. The same bytes are returned for it, because a table of multiples belongs to them. */
let lastKey: { readonly text: string; readonly bytes: Uint8Array } | undefined;

function publicKeyOf(text: string): Uint8Array {
  if (lastKey?.text !== text) lastKey = { text, bytes: mapJudged('The VRF key', () => parseVrfPublicKey(text)) };
  return lastKey.bytes;
}

const FAILURES: Readonly<Record<MapErrorCode, VerificationFailure | null>> = {
  malformed: null,
  out_of_range: null,
  vrf_refused: 'not_newest',
  path_refused: 'not_newest',
  root_refused: 'not_newest',
  ladder_refused: 'not_newest',
  doubled: 'logged_twice',
};

/** Runs work on the map and adds the place to its errors. @throws VerificationError */
function mapJudged<T>(where: string, work: () => T): T {
  return judged(
    where,
    () => {
      try {
        return work();
      } catch (cause) {
        if (!(cause instanceof MapError)) throw cause;
        const failure = FAILURES[cause.code];
        if (failure === null) throw new UnreadableError('not_newest', `${where}: ${cause.message}`, { cause });
        throw new VerificationError(failure, `${where}: ${cause.message}`, { cause });
      }
    },
    'not_newest',
  );
}
