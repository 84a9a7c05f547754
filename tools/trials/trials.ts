import type { DebianPackage } from './frame/packages.ts';

export interface TrialPlan {
  readonly packages: readonly DebianPackage[];
  /** `hours`: not among those that `npm run test:trials` runs. */
  readonly takes: 'minutes' | 'hours';
}

/** Every trial, by its file in this folder; `npm run trial:<name>` runs it, and docs/trials.md says what it does. */
export const TRIALS = {
  failover: { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
} as const satisfies Record<string, TrialPlan>;
export type TrialName = keyof typeof TRIALS;
