import type { Limits } from '@iss/platform';
import type { Express } from 'express';
import type { Work } from '../../work/work';
import type { Cursors } from '../lists/cursors';
import type { LargeBodyAccess } from './large-body-access';

/** What parameter decorators need of the deployment to read a request. */
export interface RequestSettings {
  limits: Limits;
  cursors: Cursors;
  work: Work;
  largeBodies: LargeBodyAccess;
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
