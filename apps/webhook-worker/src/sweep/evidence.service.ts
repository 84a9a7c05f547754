import { attestationStatusOf, DomainError } from '@iss/domain';
import { type DueList, EvidenceStore } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { AttestationProblem, MAX_STATUS_LIST_BYTES, readStatusList, STATUS_LIST_MEDIA_TYPE } from '@iss/attestation';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { DeliveryFailure } from '../delivery/delivery-failure';
import { WebhookClient } from '../delivery/webhook-client';
import { Recorder } from '../projections/recorder';
import { SETTINGS, type WorkerSettings } from '../settings';

/** The number of lists that are read at the same time. */
const LISTS = 8;

/**
 * Reads the status lists of attestations through the guarded client, and announces revoked evidence. Any number of workers may
 * do so.
 */
@Injectable()
export class EvidenceService extends Recorder {
  constructor(
    evidence: EvidenceStore,
    client: WebhookClient,
    @Inject(EventQueue) queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) { sweepIntervalMs }: Pick<WorkerSettings, 'sweepIntervalMs'>,
  ) {
    const readLists = async () => {
      const lists = await evidence.claimLists(LISTS);
      await Promise.all(lists.map((list) => readList(evidence, client, list)));
      return { eventIds: [], isMore: lists.length === LISTS };
    };
    const steps = [readLists, (limit: number) => evidence.announceRevoked(limit)];
    super(steps, 'The status of attestations could not be read; retrying', queue, logger, sweepIntervalMs);
  }
}

async function readList(evidence: EvidenceStore, client: WebhookClient, list: DueList): Promise<void> {
  const { issuer, uri, issuedAt, trusted } = list;
  try {
    if (trusted === null)
      throw new AttestationProblem('untrusted_issuer', 'is of an issuer that the tenant no longer trusts');
    const token = await client.fetchText(uri, STATUS_LIST_MEDIA_TYPE, MAX_STATUS_LIST_BYTES);
    const keys = { issuer, jwks: [...trusted.keys], roots: trusted.roots };
    const read = await readStatusList(token, uri, keys, issuedAt, new Date());
    await evidence.setStatuses(list, read.issuedAt, (idx) => attestationStatusOf(read.at(idx)));
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    await evidence.failed(list, problem);
  }
}

/** Returns the message for the tenant; null for an error of the service itself. */
function problemOf(error: unknown): string | null {
  if (error instanceof AttestationProblem) return `The status list ${error.message}.`;
  return error instanceof DeliveryFailure || error instanceof DomainError ? error.message : null;
}
