import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import type { WitnessAnswer } from './witnesses';

/** What the worker counts of its witnesses. */
@Injectable()
export class LogMetrics {
  private readonly answers: Counter<'witness' | 'answer'>;
  private readonly reached: Gauge;

  constructor(registry: Registry) {
    this.answers = new Counter({
      name: 'log_witness_answers_total',
      help: 'What witnesses made of checkpoints: cosigned, contradicted (they say that they saw another log) or failed',
      labelNames: ['witness', 'answer'],
      registers: [registry],
    });
    this.reached = new Gauge({
      name: 'log_quorum_reached',
      help: 'Whether enough witnesses cosigned the newest checkpoint (1), or an older one is served (0)',
      registers: [registry],
    });
    this.reached.set(1);
  }

  /** A witness was asked; by the name that the policy gives it. */
  witness(witness: string, answer: WitnessAnswer): void {
    this.answers.inc({ witness, answer });
  }

  /** A round has ended. */
  quorum(isReached: boolean): void {
    this.reached.set(isReached ? 1 : 0);
  }
}
