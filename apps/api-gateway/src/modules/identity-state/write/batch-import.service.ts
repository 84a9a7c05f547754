import { type Actor, DomainError, type SentEnvelope } from '@iss/domain';
import { type SnapshotRecord, toDomainError } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Founders } from '../../../access/founders';
import { HeldPlaces } from '../../../access/held-places';
import type { RequestTrace } from '../../../request-trace';
import type { LineRefusal, SentLine } from '../../../sent-line';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { Work } from '../../../work/work';
import { EntityStateService, type KnownParent, type StoredState } from './entity-state.service';
import { LinePlaces } from './line-places';
import { LinesInFlight } from './lines-in-flight';

/** What became of a line: its snapshot, new or stored before, or why it was not stored. */
export type LineOutcome = { line: number } & ({ snapshot: SnapshotRecord; isNew: boolean } | LineRefusal);

/** What a line stored, on which the next one of its subject may build; null where it stored nothing. */
type Parent = KnownParent | null;

/** The sender of a batch, and the founder of its tenant. */
interface Sender {
  actor: Actor;
  trace: RequestTrace;
  founderId: string;
}

/** Batches that may be open for one whose lines in flight are all there may be: most of them wait for their clients. */
const OPEN_PER_FULL = 8;

/**
 * Direct writes by the line: each is a transaction of its own, as if it had been sent alone. Lines of different subjects are
 * written at the same time, in statements that they share; those of one subject one after the other, in their order.
 */
@Injectable()
export class BatchImportService implements OnModuleDestroy {
  /** Batches that are being read. */
  private readonly running = new Set<LinesInFlight<LineOutcome>>();
  private readonly open: HeldPlaces;
  private readonly places: LinePlaces;

  constructor(
    private readonly entityStates: EntityStateService,
    private readonly work: Work,
    private readonly founders: Founders,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const { batches } = settings.limits;
    this.open = new HeldPlaces(OPEN_PER_FULL * batches, batches);
    this.places = new LinePlaces(batches);
  }

  /** Has nothing more read: what was read is written and answered, and the answers end unfinished. */
  onModuleDestroy(): void {
    for (const inFlight of this.running) {
      inFlight.stop(new DomainError('unavailable', 'The service is stopping. Send the remaining lines again.'));
    }
  }

  /**
   * What becomes of the lines, in their order, in groups as they are known. Lines are read as far as outcomes are taken, but
   * for some that are in flight. Throws `unavailable` when too many batches are open; what it gives throws what `lines`
   * throws, once what was read before is answered.
   */
  async import(
    actor: Actor,
    trace: RequestTrace,
    lines: AsyncIterable<readonly SentLine[]>,
  ): Promise<AsyncGenerator<readonly LineOutcome[], void>> {
    const founderId = await this.founders.of(actor.tenantId);
    const close = this.open.take(actor.principalId, founderId);
    if (close === null) {
      throw new DomainError('unavailable', 'Too many batches are open, in total or by you. Try again shortly.');
    }
    return this.outcomes({ actor, trace, founderId }, lines, close);
  }

  private async *outcomes(
    sender: Sender,
    lines: AsyncIterable<readonly SentLine[]>,
    close: () => void,
  ): AsyncGenerator<readonly LineOutcome[], void> {
    const inFlight = new LinesInFlight<LineOutcome>();
    this.running.add(inFlight);
    try {
      inFlight.endWith(this.read(sender, lines, inFlight));
      yield* inFlight.outcomes();
    } finally {
      inFlight.stop();
      this.running.delete(inFlight);
      close();
    }
  }

  /** Has each line begun as soon as there is room for it. */
  private async read(
    { actor, trace, founderId }: Sender,
    lines: AsyncIterable<readonly SentLine[]>,
    inFlight: LinesInFlight<LineOutcome>,
  ): Promise<void> {
    const subjects = new Map<string, Promise<Parent>>();
    for await (const group of lines) {
      for (const sent of group) {
        const bytes = 'bytes' in sent ? sent.bytes.length : 0;
        if (!inFlight.hasRoom(bytes)) await inFlight.room(bytes);
        const taken = this.places.take(founderId, bytes);
        const giveBack = taken instanceof Promise ? await taken : taken;
        if (inFlight.isOver) return giveBack();
        const told = inFlight.begin(bytes);
        const settle = (outcome: LineOutcome): void => {
          giveBack();
          told(outcome);
        };
        // Large ones in a thread, one after the other: a batch has one thread at most.
        const parsed = this.parse(actor, sent);
        const envelope = parsed instanceof Promise ? await parsed : parsed;
        if ('error' in envelope) settle({ line: sent.line, ...envelope });
        else this.write(actor, trace, subjects, sent.line, envelope, settle);
      }
    }
  }

  private parse(
    { principalId }: Actor,
    sent: SentLine,
  ): SentEnvelope | LineRefusal | Promise<SentEnvelope | LineRefusal> {
    if ('refusal' in sent) return sent.refusal;
    try {
      const input = { bytes: sent.bytes, maxDepth: this.settings.limits.jsonDepth };
      const parsed = this.work.run({ principalId }, 'read_envelope', input);
      return parsed instanceof Promise ? parsed.catch((error: unknown) => this.refusal(error)) : parsed;
    } catch (error) {
      return this.refusal(error);
    }
  }

  /** Writes an envelope behind those of its subject that are in flight. */
  private write(
    actor: Actor,
    trace: RequestTrace,
    subjects: Map<string, Promise<Parent>>,
    line: number,
    envelope: SentEnvelope,
    settle: (outcome: LineOutcome) => void,
  ): void {
    const subject = `${envelope.header.subjectType}/${envelope.header.subjectId}`;
    const before = subjects.get(subject);
    const writing = this.outcomeOf(actor, trace, envelope, before).then((outcome): Parent => {
      settle('snapshot' in outcome ? { line, snapshot: outcome.snapshot, isNew: outcome.isNew } : { line, ...outcome });
      if (subjects.get(subject) === writing) subjects.delete(subject);
      return 'snapshot' in outcome ? outcome.asParent : null;
    });
    subjects.set(subject, writing);
  }

  private async outcomeOf(
    actor: Actor,
    trace: RequestTrace,
    envelope: SentEnvelope,
    before: Promise<Parent> | undefined,
  ): Promise<(StoredState & { isNew: boolean }) | LineRefusal> {
    try {
      return await this.entityStates.submitAgain(actor, trace, envelope, before === undefined ? null : await before);
    } catch (error) {
      return this.refusal(error, trace);
    }
  }

  private refusal(thrown: unknown, trace?: RequestTrace): LineRefusal {
    const error = toDomainError(thrown);
    if (error instanceof DomainError) return { error };
    this.logger.error({ err: error, request_id: trace?.requestId }, 'a line of a batch failed');
    return { error: new DomainError('internal_error', 'The service failed. Send this line again.') };
  }
}
