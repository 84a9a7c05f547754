import type { GatewayEnv } from '@iss/platform';

/** How tokens are checked, as the environment says it. */
export type AuthSettings = GatewayEnv['auth'];

export const AUTH_SETTINGS = Symbol('AUTH_SETTINGS');
