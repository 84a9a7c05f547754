import { type DueStatusList, type SignedStatusList, StatusListStore } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { signStatusList, STATUS_LIST_VALIDITY } from '@iss/attestation';
import { Inject, Injectable } from '@nestjs/common';
import { WorkerMetrics } from '../health/worker-metrics';
import { addJitter, Rounds } from '../rounds';
import { SETTINGS, type WorkerSettings } from '../settings';

/** Changes that are taken at once. */
const CHANGES = 1_000;
/** Readers of a list learn of a change after this time and the `ttl` of the list. */
const PAUSE_MS = 2_000;

/**
 * Signs the status lists of credentials: those in which a status changed, and those that would expire. Any number of
 * workers may do so.
 */
@Injectable()
export class StatusListService {
  private readonly rounds: Rounds;

  constructor(
    @Inject(StatusListStore) lists: Pick<StatusListStore, 'mark' | 'signNext'>,
    @Inject(WorkerMetrics) metrics: Pick<WorkerMetrics, 'statusListSigned'>,
    @Inject(SETTINGS) { secretBox, sweepIntervalMs }: Pick<WorkerSettings, 'secretBox' | 'sweepIntervalMs'>,
    @Inject(LOGGER) logger: Logger,
  ) {
    const sign = async ({ sealed, ...list }: DueStatusList): Promise<SignedStatusList> => {
      // The clock of an earlier signer may have been ahead.
      const signedAt = new Date(Math.max(Date.now(), list.signedAt.getTime()));
      const key = { ...list, privateKey: secretBox.open(sealed, list.kid) };
      const token = await signStatusList({ ...list, signedAt }, key);
      metrics.statusListSigned();
      return { token, signedAt, dueAt: new Date(signedAt.getTime() + STATUS_LIST_VALIDITY * 500) };
    };
    this.rounds = new Rounds({
      work: async (rounds) => {
        await rounds.repeat(async () => (await lists.mark(CHANGES)) === CHANGES);
        await rounds.repeat(() => lists.signNext(sign));
      },
      pauseMs: addJitter(Math.min(PAUSE_MS, sweepIntervalMs)),
      failure: 'A status list could not be signed; retrying',
      logger,
    });
  }

  start(): void {
    this.rounds.start();
  }

  /** Resolves when the current list is signed. */
  stop(): Promise<void> {
    return this.rounds.stop();
  }
}
