import type { FailurePhase } from '@iss/domain';
import type { AttemptResult, BacklogStore, DisabledReason } from '@iss/persistence';
import { DURATION_BUCKETS_SECONDS, watchFigure } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Dispatcher } from '../delivery/dispatcher';

/** Registers metrics of deadlines, and of what waits for people of the tenants. */
export function watchDeadlines(
  registry: Registry,
  backlog: Pick<BacklogStore, 'oldestDeadlineMs' | 'waitingForPeople'>,
): void {
  watchFigure(registry, {
    name: 'deadline_lag_seconds',
    help: 'Time since the oldest deadline of a grant or refresh request passed without being recorded',
    read: async () => (await backlog.oldestDeadlineMs()) / 1_000,
  });
  watchFigure(registry, {
    name: 'waiting_for_people',
    help: 'Pending grants and overdue refresh requests, at most 1,000 of each',
    read: async () => {
      const { pendingGrants, overdueRefreshRequests } = await backlog.waitingForPeople();
      return { pending_grants: pendingGrants, overdue_refresh_requests: overdueRefreshRequests };
    },
  });
}

/** Counts attempts and measures the dispatcher. */
@Injectable()
export class WorkerMetrics {
  private readonly attempts: Histogram<'error_phase'>;
  private readonly results: Counter<'status'>;
  private readonly disabled: Counter<'reason'>;
  private readonly swept: Gauge;
  private readonly statusLists: Counter;

  constructor(private readonly registry: Registry) {
    this.attempts = new Histogram({
      name: 'webhook_attempt_duration_seconds',
      help: 'Time of one delivery attempt, by the phase in which it failed ("none" if it succeeded)',
      labelNames: ['error_phase'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    });
    this.results = new Counter({
      name: 'webhook_attempts_total',
      help: 'Recorded attempts, by the resulting state of the delivery: succeeded, pending (to be retried) or dead',
      labelNames: ['status'],
      registers: [registry],
    });
    this.disabled = new Counter({
      name: 'webhook_subscriptions_disabled_total',
      help: 'Subscriptions that this process disabled, by reason',
      labelNames: ['reason'],
      registers: [registry],
    });
    // An alert on an increase needs an initial value.
    for (const status of ['succeeded', 'pending', 'dead'] as const satisfies AttemptResult['status'][])
      this.results.inc({ status }, 0);
    for (const reason of ['gone', 'failing'] as const satisfies DisabledReason[]) this.disabled.inc({ reason }, 0);
    this.statusLists = new Counter({
      name: 'status_lists_signed_total',
      help: 'Status lists of credentials that this process signed',
      registers: [registry],
    });
    this.swept = new Gauge({
      name: 'webhook_last_sweep_timestamp_seconds',
      help: 'When this process last finished a sweep for leftover work, in Unix time',
      registers: [registry],
    });
  }

  statusListSigned(): void {
    this.statusLists.inc();
  }

  subscriptionDisabled(reason: string): void {
    this.disabled.inc({ reason });
  }

  sweepEnded(): void {
    this.swept.setToCurrentTime();
  }

  /** Measures an attempt that was sent. */
  attempt(errorPhase: FailurePhase | 'none', latencyMs: number): void {
    this.attempts.observe({ error_phase: errorPhase }, latencyMs / 1_000);
  }

  /** Counts an attempt that was recorded. */
  delivered(status: AttemptResult['status']): void {
    this.results.inc({ status });
  }

  /** Registers metrics of the dispatcher, which are read on demand. */
  watch(
    dispatcher: Pick<Dispatcher, 'load' | 'slotsHeld' | 'skippedTurns' | 'oldestRunnableMs' | 'heldReceivers'>,
  ): void {
    watchFigure(this.registry, {
      name: 'webhook_runnable_delivery_seconds',
      help: 'How long the oldest delivery that only lacks a slot of this process has been due',
      read: async () => dispatcher.oldestRunnableMs() / 1_000,
    });
    new Gauge({
      name: 'webhook_held_delivery_seconds',
      help: 'How long the oldest delivery that waits for earlier attempts at its own receiver has been due, for the ten oldest',
      labelNames: ['tenant_id', 'target_host'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { tenantId, targetHost, dueForMs } of dispatcher.heldReceivers())
          this.set({ tenant_id: tenantId, target_host: targetHost }, dueForMs / 1_000);
      },
    });
    watchFigure(this.registry, {
      name: 'webhook_deliveries_in_process',
      help: 'Deliveries in this process, running and waiting',
      read: async () => dispatcher.load(),
    });
    watchFigure(this.registry, {
      name: 'webhook_slots_held',
      help: 'Running attempts of this process, by the kind of their endpoints: proven, unproven or failing',
      read: async () => dispatcher.slotsHeld(),
    });
    watchFigure(this.registry, {
      name: 'webhook_turns_skipped',
      help: 'Turns skipped since the process started because their founder held its share of these slots',
      read: async () => dispatcher.skippedTurns(),
    });
  }
}
