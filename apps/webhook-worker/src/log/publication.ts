import { LogCheckpointStore, LogIntegrationStore, type LogRound, LogTileStore } from '@iss/persistence';
import { type DependencyCheck, LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { formatPolicy } from '@iss/tlog';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type WorkerSettings } from '../settings';
import { CheckpointPublisher, LogKeyUnknown, LogOriginEnded, LogRolledBack } from './checkpoint-publisher';
import { LOG_IDENTITY, type LogIdentity } from './log-identity';
import { LogMetrics } from './log-metrics';

/** Checkpoints deleted per statement. */
const THIN_BATCH = 500;

/** The states of the log: whether committed facts are integrated, signed and published, and the remedy if not. */
const STATES = {
  ok: { status: 'ok' },
  unsigned: {
    status: 'degraded',
    reason: 'unsigned',
    detail: 'nothing is signed: set LOG_ORIGIN and LOG_SIGNING_KEY (docs/operations/log.md, "The transparency log")',
  },
  unknown_key: {
    status: 'degraded',
    reason: 'unknown_key',
    detail: 'nothing is signed: a key of this worker is not announced (docs/operations/keys.md, "The keys of the log")',
  },
  no_quorum: {
    status: 'degraded',
    reason: 'no_quorum',
    detail:
      'too few witnesses cosign: the last checkpoint with enough cosignatures is served (docs/operations/log.md, "Witnesses")',
  },
  backfill: {
    status: 'degraded',
    reason: 'backfill',
    detail: 'nothing is integrated until npm run db:migrate has marked all older snapshots: run it again',
  },
  no_vrf_key: {
    status: 'degraded',
    reason: 'no_vrf_key',
    detail:
      'nothing is integrated: the log has a map, so set LOG_VRF_KEY and LOG_ORIGIN (docs/operations/log.md, "The map")',
  },
  unknown_vrf_key: {
    status: 'degraded',
    reason: 'unknown_vrf_key',
    detail:
      'nothing is integrated: the map was made with another LOG_VRF_KEY or LOG_ORIGIN (docs/operations/log.md, "The map")',
  },
  map_backfill: {
    status: 'degraded',
    reason: 'map_backfill',
    detail: 'older entries get keys; proofs by the map begin afterwards (docs/operations/log.md, "The map")',
  },
  behind: { status: 'degraded', reason: 'behind', detail: 'the last round failed; the worker retries' },
  rolled_back: {
    status: 'failed',
    reason: 'rolled_back',
    detail:
      'the database is not the one that was signed; nothing more is signed (docs/operations/log.md, "The transparency log")',
  },
  origin_ended: {
    status: 'failed',
    reason: 'origin_ended',
    detail:
      'the log was restarted under another LOG_ORIGIN; nothing is signed (docs/operations/log.md, "A new origin")',
  },
} as const satisfies Record<string, DependencyCheck>;
type LogState = keyof typeof STATES;

/** The states of the integration. */
export type IntegrationState = Extract<
  LogState,
  'ok' | 'backfill' | 'behind' | 'no_vrf_key' | 'unknown_vrf_key' | 'map_backfill'
>;

/** Signs and publishes checkpoints of the log. Any number of workers may do so. */
@Injectable()
export class LogPublication {
  private readonly warn: Warn;
  private publisher: CheckpointPublisher | null = null;
  private publishing: Promise<void> | null = null;
  private published: LogState = 'ok';
  /** Keys of this worker that are not announced. */
  private unknownKeys: readonly string[] = [];
  private isStopping = false;

  constructor(
    private readonly integration: LogIntegrationStore,
    private readonly checkpoints: LogCheckpointStore,
    private readonly tiles: LogTileStore,
    private readonly metrics: LogMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'log'>,
    @Inject(LOG_IDENTITY) private readonly identity: LogIdentity | null,
  ) {
    this.warn = rarely(warnTo(logger));
    const asked = identity?.policy?.witnesses.filter(({ url }) => url !== null) ?? [];
    metrics.expectWitnesses(asked.map(({ name }) => name));
  }

  /** Publishes the tree after this round, unless it still publishes an earlier one. Witnesses may take long. */
  publish(round: LogRound): void {
    if (!this.isStopping) this.publishing ??= this.publishRound(round).finally(() => (this.publishing = null));
  }

  /** Aborts the requests to witnesses. Resolves when nothing is published any more. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.publisher?.close();
    await this.publishing;
  }

  /** Returns the state for readiness. `integrated` is the state of the integration. */
  status(integrated: IntegrationState): DependencyCheck {
    const { published } = this;
    const state = integrated === 'ok' || STATES[published].status === 'failed' ? published : integrated;
    if (state !== 'unknown_key') return STATES[state];
    return { ...STATES.unknown_key, detail: `${STATES.unknown_key.detail}: ${announcing(this.unknownKeys)}` };
  }

  private async publishRound(round: LogRound): Promise<void> {
    const before = this.published;
    const after = await this.publishOrSayWhy(round);
    // The requests to witnesses were aborted, so the result means nothing.
    if (this.isStopping) return;
    this.published = after;
    this.metrics.quorum(this.published !== 'no_quorum');
    this.metrics.keyUnknown(this.published === 'unknown_key');
    if (this.published === 'no_quorum' && before !== 'no_quorum')
      this.logger.warn('Too few witnesses cosign; the last checkpoint with enough cosignatures is served');
    if (before === 'unknown_key' && this.published === 'ok')
      this.logger.info('The keys are announced; the log is signed');
    if (before === 'no_quorum' && this.published === 'ok') this.logger.info('Enough witnesses cosign again');
  }

  private async publishOrSayWhy({ tree, takenAt }: LogRound): Promise<LogState> {
    if (this.identity === null) return 'unsigned';
    try {
      this.publisher ??= await this.open(this.identity);
      if (this.isStopping) return this.published;
      const isPublished = await this.publisher.publish(tree, takenAt);
      if (isPublished) await this.checkpoints.thin(THIN_BATCH);
      return isPublished ? 'ok' : 'no_quorum';
    } catch (error) {
      if (error instanceof LogKeyUnknown) return this.refuseToSign(error.vkeys);
      const why =
        error instanceof LogRolledBack ? 'rolled_back' : error instanceof LogOriginEnded ? 'origin_ended' : null;
      if (why === null) {
        this.warn('Log publication failed; retrying', error);
        return 'behind';
      }
      if (this.published !== why) this.logger.error({ err: error }, 'Nothing more is signed');
      return why;
    }
  }

  private refuseToSign(vkeys: readonly string[]): LogState {
    if (this.unknownKeys.join() !== vkeys.join() || this.published !== 'unknown_key')
      this.logger.error(
        { vkeys },
        `Nothing is signed: a key of this worker is not announced. If it is a key of the log, ${announcing(vkeys)}`,
      );
    this.unknownKeys = vkeys;
    return 'unknown_key';
  }

  private async open(identity: LogIdentity): Promise<CheckpointPublisher> {
    const { integration, checkpoints, tiles } = this;
    const publisher = await CheckpointPublisher.open(
      identity,
      this.settings.log,
      { integration, checkpoints, tiles },
      (witness, answer) => this.metrics.witness(witness, answer),
      this.warn,
    );
    if (publisher.replacedPolicy !== null) {
      this.metrics.policyReplaced();
      const policy = identity.policy === null ? null : formatPolicy(identity.policy);
      this.logger.error({ former: publisher.replacedPolicy, policy }, 'The published policy of the log was replaced');
    }
    return publisher;
  }
}

/** Returns the command with which an operator announces the keys. */
function announcing(vkeys: readonly string[]): string {
  return `run ${vkeys.map((vkey) => `iss log-key add ${vkey}`).join(' and ')}`;
}
