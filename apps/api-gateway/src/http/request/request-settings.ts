import type { Limits } from '@iss/platform';
import type { Express } from 'express';
import type { RateLimiter } from '../limits/rate-limiter';
import type { Cursors } from '../lists/cursors';

/** What those who read and answer a request need of the deployment. */
export interface RequestSettings {
  limits: Limits;
  cursors: Cursors;
  /** Is told what a request cost. */
  limiter: Pick<RateLimiter, 'window' | 'charge'>;
}

declare module 'express-serve-static-core' {
  interface Request {
    readonly settings: RequestSettings;
  }
}

/** Gives every request of the application its settings, by the prototype that they have in common: once, not each time. */
export function setRequestSettings(express: Express, settings: RequestSettings): void {
  Object.assign(express.request, { settings });
}
