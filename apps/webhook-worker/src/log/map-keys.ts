import { ALL_SUBJECTS, type SubjectRef } from '@iss/domain';
import type { LoggedFact, MapIdentity } from '@iss/persistence';
import { EnvError } from '@iss/platform';
import {
  accessStream,
  auditStream,
  disclosureStream,
  erasureStream,
  formatVrfPublicKey,
  granteeStream,
  grantorStream,
  grantStream,
  MapError,
  mapKey,
  ownerStream,
  parseVrfSecretKey,
  versionStream,
  vrfInput,
} from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import { TlogError } from '@iss/tlog';
import { type NoteOutputs, type NumberedPlace, VrfThreads } from './vrf/vrf-threads';

/** Injection token of the keys of the map; null if this worker makes none. */
export const MAP_KEYS = Symbol('MAP_KEYS');

/** Up to this number, keys are computed immediately. More keys are computed in threads. */
const FEW = 8;

/** Makes the keys of the map. */
export interface MapKeys extends MapIdentity {
  /** Computes the key for a number of a stream; 32 bytes. It takes some 0.3 ms. */
  keyOf(stream: string, number: number): Uint8Array;
  /** Returns the keys of these places, in their order. Keys that were prepared cost nothing. */
  keysOf(places: readonly NumberedPlace[]): Promise<Uint8Array[]>;
  /** Computes keys that will probably be needed next, and forgets those that were prepared before. */
  prepare(places: readonly NumberedPlace[]): Promise<void>;
  /** Ends the threads. */
  close(): Promise<void>;
}

/** Returns null if this worker makes no map. Throws EnvError for a key that cannot be used. */
export async function openMapKeys(
  origin: string,
  vrfKey: string | undefined,
  note: NoteOutputs = () => undefined,
): Promise<MapKeys | null> {
  if (!vrfKey || origin === '') return null;
  const group = await loadSodiumGroup();
  try {
    const keys = parseVrfSecretKey(group, vrfKey);
    const keyOf = (stream: string, number: number): Uint8Array => mapKey(group, keys, vrfInput(origin, stream, number));
    return preparedKeys(
      { origin, vrfKey: formatVrfPublicKey(keys.publicKey) },
      keyOf,
      new VrfThreads({ origin, secret: vrfKey }, note),
    );
  } catch (error) {
    if (error instanceof MapError || error instanceof TlogError)
      throw new EnvError([`LOG_VRF_KEY cannot be used: ${error.message}`]);
    throw error;
  }
}

function preparedKeys(identity: MapIdentity, keyOf: MapKeys['keyOf'], threads: VrfThreads): MapKeys {
  let prepared: ReadonlyMap<string, Uint8Array> = new Map();
  const nameOf = ({ stream, number }: NumberedPlace): string => `${stream}\n${number}`;
  const keysOf = async (places: readonly NumberedPlace[]): Promise<Uint8Array[]> => {
    const missing = places.filter((place) => !prepared.has(nameOf(place)));
    const made =
      missing.length <= FEW
        ? missing.map(({ stream, number }) => keyOf(stream, number))
        : await threads.keysOf(missing);
    const rest = made.values();
    return places.map((place) => prepared.get(nameOf(place)) ?? rest.next().value ?? keyOf(place.stream, place.number));
  };
  return {
    ...identity,
    keyOf,
    keysOf,
    async prepare(places) {
      const keys = await keysOf(places);
      prepared = new Map(places.map((place, at) => [nameOf(place), keys[at] ?? keyOf(place.stream, place.number)]));
    },
    close: () => threads.close(),
  };
}

/** A stream that a fact extends. `number` is null if the integration assigns it. */
export interface StreamPlace {
  readonly stream: string;
  readonly number: number | null;
}

const next = (stream: string): StreamPlace => ({ stream, number: null });

/** Returns the streams that a fact extends by one key each, in the order of its keys. `granted` is the subject of a grant. */
export function streamsOf(fact: LoggedFact, granted: SubjectRef | null): StreamPlace[] {
  switch (fact.type) {
    case 'snapshot.created':
      return [{ stream: versionStream(fact.subjectType, fact.subjectId), number: fact.snapshotVersion }];
    case 'grant.created': {
      const { subjectType, subjectId, granteeTenantId } = fact;
      const ofGrantee = next(granteeStream(granteeTenantId, subjectType, subjectId));
      return [...accessStreams(fact.grantId, fact.tenantId, fact), ofGrantee];
    }
    case 'grant.changed':
    case 'grant.revoked':
      return accessStreams(fact.grantId, fact.tenantId, granted);
    case 'tenant.owner_changed':
      return [next(ownerStream(fact.tenantId))];
    case 'subject.erased':
      return [next(erasureStream(fact.subjectType, fact.subjectId))];
    case 'audit.recorded':
      return fact.records.map(() => next(auditStream(fact.tenantId)));
    case 'disclosures.recorded':
      return fact.records.map(({ subjectType, subjectId }) => next(disclosureStream(subjectType, subjectId)));
    case 'log.restarted':
    case 'log.key_announced':
    case 'view.committed':
      return [];
  }
}

/** Returns how many places of each stream have no number yet. */
export function countsOf(places: readonly StreamPlace[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { stream, number } of places) if (number === null) counts.set(stream, (counts.get(stream) ?? 0) + 1);
  return counts;
}

/** Gives each place without a number the next one of its stream. `last` has the last given number of each stream. */
export function numbered(places: readonly StreamPlace[], last: ReadonlyMap<string, number>): NumberedPlace[] {
  const given = new Map(last);
  return places.map(({ stream, number }) => {
    if (number !== null) return { stream, number };
    const next = (given.get(stream) ?? 0) + 1;
    given.set(stream, next);
    return { stream, number: next };
  });
}

function accessStreams(grantId: string, grantor: string, subject: SubjectRef | null): StreamPlace[] {
  if (subject === null) throw new Error(`the subject of grant ${grantId} is missing`);
  const { subjectType, subjectId } = subject;
  const isOnAll = subjectType === ALL_SUBJECTS.subjectType && subjectId === ALL_SUBJECTS.subjectId;
  return [next(grantStream(grantId)), next(isOnAll ? grantorStream(grantor) : accessStream(subjectType, subjectId))];
}
