import type { LogCheckpointStore } from '@iss/persistence';
import { watchFigure } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { WITNESS_ANSWERS, type WitnessAnswer } from './witnesses';

/** What the worker counts of its witnesses. */
@Injectable()
export class LogMetrics {
  private readonly answers: Counter<'witness' | 'answer'>;
  private readonly replacedPolicies: Counter;
  private readonly reached: Gauge;
  private readonly unknown: Gauge;

  constructor(private readonly registry: Registry) {
    this.answers = new Counter({
      name: 'log_witness_answers_total',
      help: 'What witnesses made of checkpoints: cosigned, contradicted (they say that they saw another log) or failed',
      labelNames: ['witness', 'answer'],
      registers: [registry],
    });
    this.replacedPolicies = new Counter({
      name: 'log_policies_replaced_total',
      help: 'Times that this worker published another policy in the place of the one that was published',
      registers: [registry],
    });
    this.reached = new Gauge({
      name: 'log_quorum_reached',
      help: 'Whether enough witnesses cosigned the newest checkpoint (1), or an older one is served (0)',
      registers: [registry],
    });
    this.reached.set(1);
    this.unknown = new Gauge({
      name: 'log_key_unknown',
      help: '1 while this worker signs nothing, since one of its keys is not announced; else 0',
      registers: [registry],
    });
    this.unknown.set(0);
  }

  /** What is published is read when it is asked for. */
  watch(checkpoints: Pick<LogCheckpointStore, 'newest'>): void {
    watchFigure(this.registry, {
      name: 'log_published_entries',
      help: 'Entries of the published transparency log',
      read: async () => (await checkpoints.newest())?.size ?? 0,
    });
    watchFigure(this.registry, {
      name: 'log_checkpoint_timestamp_seconds',
      help: 'When the newest checkpoint was published, in Unix time; 0: none was',
      read: async () => ((await checkpoints.newest())?.signedAt.getTime() ?? 0) / 1_000,
    });
  }

  /** Names the witnesses that will be asked: an alert on an increase needs the value before it. */
  expectWitnesses(names: readonly string[]): void {
    for (const witness of names) for (const answer of WITNESS_ANSWERS) this.answers.inc({ witness, answer }, 0);
  }

  /** A witness was asked; by the name that the policy gives it. */
  witness(witness: string, answer: WitnessAnswer): void {
    this.answers.inc({ witness, answer });
  }

  /** The policy of this worker took the place of another one. */
  policyReplaced(): void {
    this.replacedPolicies.inc();
  }

  /** A round has ended; whether a key of this worker is not announced. */
  keyUnknown(isUnknown: boolean): void {
    this.unknown.set(isUnknown ? 1 : 0);
  }

  /** A round has ended. */
  quorum(isReached: boolean): void {
    this.reached.set(isReached ? 1 : 0);
  }
}
