import type { Limits } from '@iss/platform';
import type { Express } from 'express';
import type { RateLimiter } from '../limits/rate-limiter';
import type { Work } from '../../runtime/work';
import type { EndedRequests } from '../server/ended-requests';
import type { Cursors } from '../lists/cursors';
import type { LargeBodyAccess } from './large-body-access';

/** The deployment's settings and services for reading and answering requests. */
export interface RequestSettings {
  limits: Limits;
  cursors: Cursors;
  /** Charges requests and provides the lines of a batch. */
  limiter: Pick<RateLimiter, 'window' | 'take' | 'charge'>;
  work: Work;
  largeBodies: LargeBodyAccess;
  /** Counts requests that are closed before they finish. */
  ended: EndedRequests;
}

declare module 'express-serve-static-core' {
  interface Request {
    readonly settings: RequestSettings;
  }
}

/** Gives every request of the application its settings. Sets them once, on the requests' common prototype. */
export function setRequestSettings(express: Express, settings: RequestSettings): void {
  Object.assign(express.request, { settings });
}
