import type { LogCheckpointStore, LogCopyStore, MapReadStore } from '@iss/persistence';
import { watchFigure } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import type { NoteOutputs } from './vrf/vrf-threads';
import { WITNESS_ANSWERS, type WitnessOutcome } from './witnesses';

/** Measures the log and its witnesses. */
@Injectable()
export class LogMetrics {
  private readonly answers: Counter<'witness' | 'answer'>;
  private readonly replacedPolicies: Counter;
  private readonly reached: Gauge;
  private readonly unknown: Gauge;
  private readonly refused: Gauge;

  constructor(private readonly registry: Registry) {
    this.answers = new Counter({
      name: 'log_witness_answers_total',
      help: 'Answers of witnesses to checkpoints: cosigned, contradicted (they say that they saw another log) or failed',
      labelNames: ['witness', 'answer'],
      registers: [registry],
    });
    this.replacedPolicies = new Counter({
      name: 'log_policies_replaced_total',
      help: 'How often this worker replaced the published policy with another one',
      registers: [registry],
    });
    this.reached = new Gauge({
      name: 'log_quorum_reached',
      help: '1 if enough witnesses cosigned the newest checkpoint; 0 while an older one is served',
      registers: [registry],
    });
    this.reached.set(1);
    this.unknown = new Gauge({
      name: 'log_key_unknown',
      help: '1 while this worker signs nothing because one of its keys is not announced; otherwise 0',
      registers: [registry],
    });
    this.unknown.set(0);
    this.refused = new Gauge({
      name: 'log_copy_refused',
      help: '1 while LOG_PUBLISH_URL has another log, or more of it, than the database; otherwise 0',
      registers: [registry],
    });
    this.refused.set(0);
  }

  /** Registers metrics of the published log, which are read on demand. */
  watch(checkpoints: Pick<LogCheckpointStore, 'newest'>, map: Pick<MapReadStore, 'state'>): void {
    watchFigure(this.registry, {
      name: 'log_published_entries',
      help: 'Entries of the published transparency log',
      read: async () => (await checkpoints.newest())?.size ?? 0,
    });
    watchFigure(this.registry, {
      name: 'log_checkpoint_timestamp_seconds',
      help: 'When the newest checkpoint was published, in Unix time; 0 if none was',
      read: async () => ((await checkpoints.newest())?.signedAt.getTime() ?? 0) / 1_000,
    });
    watchFigure(this.registry, {
      name: 'log_map_keys',
      help: 'Keys of the map of the log; 0 without a map',
      read: async () => (await map.state())?.keyCount ?? 0,
    });
    watchFigure(this.registry, {
      name: 'log_map_backfill_entries',
      help: 'Entries from before the map that have no keys yet; 0 without a map',
      read: async () => {
        const state = await map.state();
        return state === null ? 0 : state.startsAt - state.backfilledTo;
      },
    });
  }

  /** Registers metrics of the copy of the log in object storage. */
  watchCopy(copy: Pick<LogCopyStore, 'copied'>): void {
    watchFigure(this.registry, {
      name: 'log_copy_entries',
      help: 'Entries of the log in LOG_PUBLISH_URL',
      read: async () => (await copy.copied()).size ?? 0,
    });
    watchFigure(this.registry, {
      name: 'log_copy_timestamp_seconds',
      help: 'When the checkpoint in LOG_PUBLISH_URL was published in the database, in Unix time; 0 if there is none',
      read: async () => ((await copy.copied()).signedAt?.getTime() ?? 0) / 1_000,
    });
  }

  /** Sets, after a round, whether the store has another log. */
  copyRefused(isRefused: boolean): void {
    this.refused.set(isRefused ? 1 : 0);
  }

  /** Initializes the counters of the witnesses, because an alert on an increase needs an initial value. */
  expectWitnesses(names: readonly string[]): void {
    for (const witness of names) for (const answer of WITNESS_ANSWERS) this.answers.inc({ witness, answer }, 0);
  }

  /** Counts an answer of a witness, by its name in the policy. */
  witness(witness: string, answer: WitnessOutcome): void {
    this.answers.inc({ witness, answer });
  }

  policyReplaced(): void {
    this.replacedPolicies.inc();
  }

  /** Sets, after a round, whether a key of this worker is not announced. */
  keyUnknown(isUnknown: boolean): void {
    this.unknown.set(isUnknown ? 1 : 0);
  }

  /** Sets, after a round, whether enough witnesses cosigned. */
  quorum(isReached: boolean): void {
    this.reached.set(isReached ? 1 : 0);
  }
}

/** Registers metrics of the VRF outputs that threads compute for the map, and returns what counts them. */
export function measureOutputs(registry: Registry): NoteOutputs {
  const outputs = new Counter({
    name: 'log_map_vrf_outputs_total',
    help: 'VRF outputs that threads of this worker computed for the map of the log',
    registers: [registry],
  });
  const time = new Counter({
    name: 'log_map_vrf_processor_seconds_total',
    help: 'Processor time of these VRF outputs',
    registers: [registry],
  });
  return (count, processorSeconds) => {
    outputs.inc(count);
    time.inc(processorSeconds);
  };
}
