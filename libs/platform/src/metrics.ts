import { collectDefaultMetrics, Registry } from 'prom-client';

/** Upper bounds in seconds for histograms of requests and deliveries: from a cached read to a receiver that times out. */
export const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A registry of its own, with the process's figures (CPU, memory, event loop) and the label `service` on every figure. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}
