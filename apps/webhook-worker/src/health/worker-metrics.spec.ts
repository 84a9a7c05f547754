import { Registry } from 'prom-client';
import { WorkerMetrics } from './worker-metrics';

it('WorkerMetrics starts its counters at zero, so that an alert sees the first increase', async () => {
  const registry = new Registry();
  new WorkerMetrics(registry).subscriptionDisabled('gone');
  expect(await registry.getSingleMetricAsString('webhook_attempts_total')).toContain('{status="dead"} 0');
  const text = await registry.getSingleMetricAsString('webhook_subscriptions_disabled_total');
  expect(text).toContain('{reason="gone"} 1');
  expect(text).toContain('{reason="failing"} 0');
});
