import type { DebianPackage } from './frame/packages.ts';

export interface TrialPlan {
  readonly packages: readonly DebianPackage[];
  /** `npm run trial -- all` leaves out trials that take `hours`. */
  readonly takes: 'minutes' | 'hours';
}

/** Every trial by its file in this folder. `npm run trial -- <name>` runs it, and docs/trials.md describes it. */
export const TRIALS = {
  restore: { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  patroni: {
    packages: ['postgresql', 'patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'redis-server'],
    takes: 'minutes',
  },
  'disk-full': { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  'connection-limit': { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  'clock-skew': { packages: ['postgresql', 'redis-server', 'faketime'], takes: 'minutes' },
  'key-rotation': { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  archive: {
    packages: ['postgresql', 'memcached', 'swift-proxy', 'swift-account', 'swift-container', 'swift-object'],
    takes: 'minutes',
  },
  replica: { packages: ['postgresql'], takes: 'minutes' },
  partitions: { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  subjects: { packages: ['postgresql'], takes: 'hours' },
  failover: { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  pgbouncer: { packages: ['postgresql', 'redis-server', 'pgbouncer'], takes: 'minutes' },
  standby: { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  upgrade: { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  image: { packages: ['buildah', 'mmdebstrap', 'bubblewrap', 'postgresql', 'redis-server'], takes: 'minutes' },
  redis: { packages: ['postgresql', 'redis-server'], takes: 'minutes' },
  runtimes: { packages: [], takes: 'minutes' },
  rolling: { packages: ['postgresql', 'redis-server', 'haproxy'], takes: 'minutes' },
} as const satisfies Record<string, TrialPlan>;
export type TrialName = keyof typeof TRIALS;
