import type { Limits } from '@iss/platform';
import type { Express } from 'express';
import type { RateLimiter } from '../limits/rate-limiter';
import type { Work } from '../../work/work';
import type { EndedRequests } from '../answer/ended-requests';
import type { Cursors } from '../lists/cursors';
import type { LargeBodyAccess } from './large-body-access';

/** What those who read and answer a request need of the deployment. */
export interface RequestSettings {
  limits: Limits;
  cursors: Cursors;
  /** Is told what a request cost, and asked for the lines of a batch. */
  limiter: Pick<RateLimiter, 'window' | 'take' | 'charge'>;
  work: Work;
  largeBodies: LargeBodyAccess;
  /** Is told of requests that are ended before their time. */
  ended: EndedRequests;
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
