import { formatVrfPublicKey, MapError, parseVrfSecretKey } from '@iss/map';
import { nobleGroup } from '@iss/map/noble';
import type { MapReadStore } from '@iss/persistence';
import { TlogError } from '@iss/tlog';
import type { CheckResult } from './finding';

/** Checks that LOG_VRF_KEY is the key of the map. */
export async function checkVrfKey(secret: string | undefined, map: Pick<MapReadStore, 'state'>): Promise<CheckResult> {
  const state = await map.state();
  if (!secret) {
    return {
      is: 'skipped',
      detail: `LOG_VRF_KEY is not set here, ${state === null ? 'and the log has no map' : 'so the key of the map was not checked'}`,
    };
  }
  let key: string;
  try {
    key = formatVrfPublicKey(parseVrfSecretKey(nobleGroup, secret.trim()).publicKey);
  } catch (error) {
    if (error instanceof MapError || error instanceof TlogError)
      return { is: 'failed', detail: `LOG_VRF_KEY is invalid: ${error.message}` };
    throw error;
  }
  if (state === null) return { is: 'ok', detail: 'the map of the log will start with this LOG_VRF_KEY' };
  if (state.vrfKey === key) return { is: 'ok', detail: 'LOG_VRF_KEY is the key of the map' };
  return {
    is: 'failed',
    detail: `LOG_VRF_KEY is not the key of the map, so workers log nothing. Restore the key whose public part is ${state.vrfKey}`,
  };
}
