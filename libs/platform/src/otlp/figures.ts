import { ValueType } from '@opentelemetry/api';
import { hrTime, millisToHrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';

/** A metric in the registry's format. */
interface Figure {
  name: string;
  help: string;
  type: string;
  values: readonly Value[];
}
interface Value {
  value: number;
  labels: Readonly<Partial<Record<string, string | number>>>;
  /** For a histogram: its name with `_bucket`, `_sum` or `_count`. */
  metricName?: string;
}

/**
 * Reads the registry's metrics when they are sent. They have the same names and labels as in `/metrics`, so that
 * nothing is counted twice. The label `service` is omitted, because the resource has it.
 */
export class RegistryFigures implements MetricProducer {
  private readonly since = millisToHrTime(performance.timeOrigin);

  constructor(private readonly registry: Registry) {}

  async collect(): Promise<CollectionResult> {
    const figures: readonly Figure[] = (await this.registry.getMetricsAsJSON()).map((figure) => ({
      name: figure.name,
      help: figure.help,
      type: String(figure.type),
      values: figure.values,
    }));
    const metrics = figures.map((figure) => this.metricOf(figure)).filter((metric) => metric.dataPoints.length > 0);
    return {
      resourceMetrics: {
        resource: emptyResource(),
        scopeMetrics: [{ scope: { name: 'identity-state-service' }, metrics }],
      },
      errors: [],
    };
  }

  private metricOf({ name, help, type, values }: Figure): MetricData {
    const base = {
      descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    switch (type) {
      case 'histogram':
        return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: this.histogramsOf(values) };
      case 'counter':
        return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: this.pointsOf(values) };
      default:
        return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: this.pointsOf(values) };
    }
  }

  private pointsOf(values: readonly Value[]): DataPoint<number>[] {
    return values.map(({ value, labels }) => this.point(labelsOf(labels), value));
  }

  /** Converts cumulative buckets with upper bounds `le` to separate counts. The last bucket has no bound. */
  private histogramsOf(values: readonly Value[]): DataPoint<Histogram>[] {
    const series = new Map<
      string,
      { labels: Value['labels']; buckets: [number, number][]; sum: number; count: number }
    >();
    for (const { value, labels: all, metricName = '' } of values) {
      const { le, ...labels } = labelsOf(all);
      const key = JSON.stringify(Object.entries(labels).sort());
      const one = series.get(key) ?? { labels, buckets: [], sum: 0, count: 0 };
      series.set(key, one);
      if (le !== undefined) one.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
      else if (metricName.endsWith('_sum')) one.sum = value;
      else one.count = value;
    }
    return [...series.values()].map(({ labels, buckets, sum, count }) => {
      buckets.sort(([one], [other]) => one - other);
      const counts = buckets.map(([, value], index) => value - (buckets[index - 1]?.[1] ?? 0));
      const boundaries = buckets.map(([bound]) => bound).filter(Number.isFinite);
      return this.point(labels, { buckets: { boundaries, counts }, sum, count, hasMinMax: false });
    });
  }

  private point<T>(attributes: Value['labels'], value: T): DataPoint<T> {
    return { startTime: this.since, endTime: hrTime(), attributes: { ...attributes }, value };
  }
}

function labelsOf({ service: _, ...labels }: Value['labels']): Value['labels'] {
  return labels;
}
