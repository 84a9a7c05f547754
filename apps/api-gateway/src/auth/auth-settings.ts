import type { GatewayEnv } from '@iss/platform';

export type AuthSettings = GatewayEnv['auth'];

export const AUTH_SETTINGS = Symbol('AUTH_SETTINGS');
