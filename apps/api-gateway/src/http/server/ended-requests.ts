import { Counter, type Registry } from 'prom-client';

/** Why an open request was closed: its client was too slow, or too much unsent data waited. */
export const ENDED_CAUSES = ['slow_batch', 'slow_reader', 'slow_stream', 'unsent_bytes'] as const;
export type EndedCause = (typeof ENDED_CAUSES)[number];

/** Counts requests that were closed before they finished. */
export class EndedRequests {
  private readonly counts = new Map<EndedCause, number>(ENDED_CAUSES.map((cause) => [cause, 0]));

  add(cause: EndedCause): void {
    this.counts.set(cause, (this.counts.get(cause) ?? 0) + 1);
  }

  /** Registers the counter. Each cause has a value from the start. */
  register(metrics: Registry): void {
    const { counts } = this;
    new Counter({
      name: 'http_requests_ended_total',
      help: 'Requests that were closed because their clients sent or read too slowly, by cause',
      labelNames: ['cause'],
      registers: [metrics],
      collect() {
        this.reset();
        for (const [cause, count] of counts) this.inc({ cause }, count);
      },
    });
  }
}
