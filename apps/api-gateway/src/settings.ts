import type { GatewayEnv } from '@iss/platform';

/** What the gateway was started with, injected by this token. */
export const SETTINGS = Symbol('SETTINGS');
export type GatewaySettings = GatewayEnv;

/** The process's logger, injected by this token. */
export const LOGGER = Symbol('LOGGER');
