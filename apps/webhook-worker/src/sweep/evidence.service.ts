import { setTimeout as wait } from 'node:timers/promises';
import { attestationStatusOf, DomainError } from '@iss/domain';
import { type DueList, EvidenceStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { AttestationProblem, MAX_STATUS_LIST_BYTES, readStatusList, STATUS_LIST_MEDIA_TYPE } from '@iss/attestation';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { DeliveryFailure } from '../delivery/delivery-failure';
import { WebhookClient } from '../delivery/webhook-client';
import { Recorder } from '../projections/recorder';
import { SETTINGS, type WorkerSettings } from '../settings';

type Evidence = Pick<EvidenceStore, 'claimLists' | 'setStatuses' | 'failed' | 'announceRevoked'>;
type Client = Pick<WebhookClient, 'fetchText'>;

/** The number of lists that are read at the same time: at most two of one founder. */
const LISTS = 8;
/** How often free places are filled while lists are read. */
const FILL_MS = 500;

/**
 * Reads the status lists of attestations through the guarded client, and announces revoked evidence. Any number of workers may
 * do so.
 */
@Injectable()
export class EvidenceService extends Recorder {
  private readonly reads: ListReads;

  constructor(
    @Inject(EvidenceStore) evidence: Evidence,
    @Inject(WebhookClient) client: Client,
    @Inject(EventQueue) queue: Pick<EventQueue, 'wakeFanout'>,
    @Inject(LOGGER) logger: Logger,
    @Inject(SETTINGS) { sweepIntervalMs }: Pick<WorkerSettings, 'sweepIntervalMs'>,
  ) {
    const reads = new ListReads(evidence, client, rarely(warnTo(logger)));
    const readLists = async () => ({ eventIds: [], isMore: await reads.fill() });
    const steps = [readLists, (limit: number) => evidence.announceRevoked(limit)];
    super(steps, FAILURE, queue, logger, sweepIntervalMs);
    this.reads = reads;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.reads.ended();
  }
}

const FAILURE = 'The status of attestations could not be read; retrying';

/** Lists that are being read. A slow list delays only further lists of its founder. */
class ListReads {
  private readonly underWay = new Map<Promise<void>, string>();

  constructor(
    private readonly evidence: Evidence,
    private readonly client: Client,
    private readonly warn: Warn,
  ) {}

  /** Begins to read due lists while places are free. Returns false if none is read. */
  async fill(): Promise<boolean> {
    const shares = [...this.underWay.values()];
    const busy = shares.filter((share, place) => shares.indexOf(share, place + 1) >= 0);
    const free = LISTS - shares.length;
    const lists = free === 0 ? [] : await this.evidence.claimLists(free, busy);
    for (const list of lists) this.start(list);
    if (lists.length === 0 && this.underWay.size > 0) await Promise.race([...this.underWay.keys(), wait(FILL_MS)]);
    return this.underWay.size > 0;
  }

  /** Resolves when no list is read any more. */
  async ended(): Promise<void> {
    await Promise.all(this.underWay.keys());
  }

  private start(list: DueList): void {
    const read = readList(this.evidence, this.client, list)
      .catch((error: unknown) => this.warn(FAILURE, error))
      .finally(() => this.underWay.delete(read));
    this.underWay.set(read, list.share);
  }
}

async function readList(evidence: Evidence, client: Client, list: DueList): Promise<void> {
  const { issuer, uri, issuedAt, trusted } = list;
  try {
    if (trusted === null)
      throw new AttestationProblem('untrusted_issuer', 'is of an issuer that the tenant no longer trusts');
    const token = await client.fetchText(uri, STATUS_LIST_MEDIA_TYPE, MAX_STATUS_LIST_BYTES);
    const keys = { issuer, jwks: [...trusted.keys], roots: trusted.roots };
    const read = await readStatusList(token, uri, keys, issuedAt, new Date());
    const isWhole = await evidence.setStatuses(list, read.issuedAt, (idx) => {
      const value = read.at(idx);
      return value === null ? null : attestationStatusOf(value);
    });
    if (!isWhole) throw new AttestationProblem('invalid_format', 'is too short for the index of a credential');
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
