import type { GatewayEnv } from '@iss/platform';

/** Injection token of the gateway's settings. */
export const SETTINGS = Symbol('SETTINGS');
export type GatewaySettings = GatewayEnv;
