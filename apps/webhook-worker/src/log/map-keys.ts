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

/** Injection token of the keys of the map; null if this worker makes none. */
export const MAP_KEYS = Symbol('MAP_KEYS');

/** Makes the keys of the map. */
export interface MapKeys extends MapIdentity {
  /** Returns the key for a number of a stream; 32 bytes. It takes some 0.3 ms. */
  keyOf(stream: string, number: number): Uint8Array;
}

/** Returns null if this worker makes no map. Throws EnvError for a key that cannot be used. */
export async function openMapKeys(origin: string, vrfKey: string | undefined): Promise<MapKeys | null> {
  if (!vrfKey || origin === '') return null;
  const group = await loadSodiumGroup();
  try {
    const keys = parseVrfSecretKey(group, vrfKey);
    return {
      origin,
      vrfKey: formatVrfPublicKey(keys.publicKey),
      keyOf: (stream, number) => mapKey(group, keys, vrfInput(origin, stream, number)),
    };
  } catch (error) {
    if (error instanceof MapError || error instanceof TlogError)
      throw new EnvError([`LOG_VRF_KEY cannot be used: ${error.message}`]);
    throw error;
  }
}

/** A stream that a fact extends. `number` is null if the integration gives it. */
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
      return [];
  }
}

function accessStreams(grantId: string, grantor: string, subject: SubjectRef | null): StreamPlace[] {
  if (subject === null) throw new Error(`the subject of grant ${grantId} is missing`);
  const { subjectType, subjectId } = subject;
  const isOnAll = subjectType === ALL_SUBJECTS.subjectType && subjectId === ALL_SUBJECTS.subjectId;
  return [next(grantStream(grantId)), next(isOnAll ? grantorStream(grantor) : accessStream(subjectType, subjectId))];
}
