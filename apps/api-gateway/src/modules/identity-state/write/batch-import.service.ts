import { type Actor, DomainError, type SentEnvelope } from '@iss/domain';
import { type SnapshotRecord, toDomainError } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { RequestTrace } from '../../../request-trace';
import type { LineRefusal, SentLine } from '../../../sent-line';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { Work } from '../../../work/work';
import { EntityStateService, type KnownParent, type StoredState } from './entity-state.service';
import { LinesInFlight } from './lines-in-flight';

/** What became of a line: its snapshot, new or stored before, or why it was not stored. */
export type LineOutcome = { line: number } & ({ snapshot: SnapshotRecord; isNew: boolean } | LineRefusal);

/** What a line stored, on which the next one of its subject may build; null where it stored nothing. */
type Parent = KnownParent | null;

/**
 * Direct writes by the line: each is a transaction of its own, as if it had been sent alone. Lines of different subjects are
 * written at the same time, in statements that they share; those of one subject one after the other, in their order.
 */
@Injectable()
export class BatchImportService implements OnModuleDestroy {
  /** Batches that are being read, with their principals. */
  private readonly running = new Map<LinesInFlight<LineOutcome>, string>();

  constructor(
    private readonly entityStates: EntityStateService,
    private readonly work: Work,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Has nothing more read: what was read is written and answered, and the answers end unfinished. */
  onModuleDestroy(): void {
    for (const inFlight of this.running.keys()) {
      inFlight.stop(new DomainError('unavailable', 'The service stops. Send the rest again.'));
    }
  }

  /**
   * What becomes of the lines, in their order, in groups as they are known. Lines are read as far as outcomes are taken, but
   * for some that are in flight. Throws `unavailable` when too many batches are being read; what it gives throws what `lines`
   * throws, once what was read before is answered.
   */
  import(
    actor: Actor,
    trace: RequestTrace,
    lines: AsyncIterable<readonly SentLine[]>,
  ): AsyncGenerator<readonly LineOutcome[], void> {
    const { batches } = this.settings.limits;
    const ofPrincipal = [...this.running.values()].filter((one) => one === actor.principalId).length;
    if (this.running.size >= batches || ofPrincipal >= Math.ceil(batches / 2)) {
      throw new DomainError('unavailable', 'Too many batches are being read at the moment. Try again shortly.');
    }
    return this.outcomes(actor, trace, lines);
  }

  private async *outcomes(
    actor: Actor,
    trace: RequestTrace,
    lines: AsyncIterable<readonly SentLine[]>,
  ): AsyncGenerator<readonly LineOutcome[], void> {
    const inFlight = new LinesInFlight<LineOutcome>();
    this.running.set(inFlight, actor.principalId);
    try {
      inFlight.endWith(this.read(actor, trace, lines, inFlight));
      yield* inFlight.outcomes();
    } finally {
      inFlight.stop();
      this.running.delete(inFlight);
    }
  }

  /** Has each line begun as soon as there is room for it. */
  private async read(
    actor: Actor,
    trace: RequestTrace,
    lines: AsyncIterable<readonly SentLine[]>,
    inFlight: LinesInFlight<LineOutcome>,
  ): Promise<void> {
    const subjects = new Map<string, Promise<Parent>>();
    for await (const group of lines) {
      for (const sent of group) {
        const bytes = 'bytes' in sent ? sent.bytes.length : 0;
        if (!inFlight.hasRoom(bytes)) await inFlight.room(bytes);
        if (inFlight.isOver) return;
        const settle = inFlight.begin(bytes);
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
