import { DataPointType } from '@opentelemetry/sdk-metrics';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { RegistryFigures } from './figures';

it('RegistryFigures exports the figures of the registry, with separate counts per bucket', async () => {
  const registry = new Registry();
  registry.setDefaultLabels({ service: 'test' });
  const registers = [registry];
  new Counter({ name: 'things_total', help: 'Things', labelNames: ['kind'], registers }).inc({ kind: 'a' }, 3);
  new Gauge({ name: 'level', help: 'Level', registers }).set(-1.5);
  new Gauge({ name: 'unset', help: 'Nothing yet', labelNames: ['of'], registers });
  const times = new Histogram({ name: 'seconds', help: 'Time', labelNames: ['of'], buckets: [0.1, 1], registers });
  for (const [of, value] of [
    ['x', 0.05],
    ['x', 0.5],
    ['x', 0.7],
    ['y', 9],
  ] as const) {
    times.observe({ of }, value);
  }

  const { resourceMetrics, errors } = await new RegistryFigures(registry).collect();
  expect(errors).toEqual([]);
  const { metrics } = resourceMetrics.scopeMetrics[0] ?? { metrics: [] };
  expect(
    metrics.map(({ descriptor, dataPointType, dataPoints }) => ({
      name: descriptor.name,
      dataPointType,
      points: dataPoints.map(({ attributes, value }) => ({ attributes, value })),
    })),
  ).toEqual([
    {
      name: 'things_total',
      dataPointType: DataPointType.SUM,
      points: [{ attributes: { kind: 'a' }, value: 3 }],
    },
    { name: 'level', dataPointType: DataPointType.GAUGE, points: [{ attributes: {}, value: -1.5 }] },
    {
      name: 'seconds',
      dataPointType: DataPointType.HISTOGRAM,
      points: [
        {
          attributes: { of: 'x' },
          value: { buckets: { boundaries: [0.1, 1], counts: [1, 2, 0] }, sum: 1.25, count: 3, hasMinMax: false },
        },
        {
          attributes: { of: 'y' },
          value: { buckets: { boundaries: [0.1, 1], counts: [0, 0, 1] }, sum: 9, count: 1, hasMinMax: false },
        },
      ],
    },
  ]);
});
