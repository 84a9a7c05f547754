// For Node: libsodium verifies a proof of the newest version several times faster. The package `libsodium-wrappers-sumo` must be installed.
export { loadSodiumGroup } from '@iss/map/sodium';
export type { VrfGroup } from '@iss/map';
