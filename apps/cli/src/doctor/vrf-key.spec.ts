import type { MapState } from '@iss/persistence';
import { TEST_VRF_KEY, TEST_VRF_SECRET, vrfSecretOf } from '../../../../tools/testing/vrf-key';
import { checkVrfKey } from './vrf-key';

const state: MapState = {
  ...{ origin: 'log.example', vrfKey: TEST_VRF_KEY, startsAt: 0, backfilledTo: 0 },
  ...{ keyCount: 0, root: Buffer.alloc(32), size: 0 },
};

it.each([
  [undefined, null, 'skipped', /and the log has no map$/],
  [undefined, state, 'skipped', /so the key of the map was not checked$/],
  [TEST_VRF_SECRET, null, 'ok', /will start with this LOG_VRF_KEY$/],
  [TEST_VRF_SECRET, state, 'ok', /is the key of the map$/],
  [vrfSecretOf(2), state, 'failed', /Restore the key whose public part is VRF\+/],
  ['PRIVATE+VRF+x', state, 'failed', /^LOG_VRF_KEY is invalid/],
])('checkVrfKey with LOG_VRF_KEY=%s and the map %j returns %s', async (secret, found, is, detail) => {
  expect(await checkVrfKey(secret, { state: () => Promise.resolve(found) })).toEqual({
    is,
    detail: expect.stringMatching(detail),
  });
});
