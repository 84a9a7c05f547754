import { type Actor, DomainError, type SentEnvelope } from '@iss/domain';
import { type SnapshotRecord, toDomainError } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Founders } from '../../../access/founders';
import { HeldPlaces } from '../../../access/held-places';
import type { RequestTrace } from '../../../request-trace';
import type { LineRefusal, SentLine } from '../../../sent-line';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { Work } from '../../../runtime/work';
import { EntityStateService, type KnownParent, type StoredState } from './entity-state.service';
import { LinePlaces } from './line-places';
import { LinesInFlight } from './lines-in-flight';

/** The outcome of a line: its snapshot, new or stored before, or why it was not stored. */
export type LineOutcome = { line: number } & ({ snapshot: SnapshotRecord; isNew: boolean } | LineRefusal);

/** The snapshot that a line stored, as the parent of the subject's next line; null if it stored nothing. */
type Parent = KnownParent | null;

/** The sender of a batch, and the founder of its tenant. */
interface Sender {
  actor: Actor;
  trace: RequestTrace;
  founderId: string;
}

/**
 * The number of open batches per batch whose lines all have a place. Most open batches wait for
 * their clients.
 */
const OPEN_PER_FULL = 8;

/**
 * Imports snapshots line by line. Each line is its own transaction, as if it had been sent alone. Lines of different
 * subjects are written concurrently and share statements. Lines of one subject are written one after another, in their
 * order.
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

  /** Stops reading. Lines that were read are still written and answered, and then the responses end unfinished. */
  onModuleDestroy(): void {
    for (const inFlight of this.running) {
      inFlight.stop(new DomainError('unavailable', 'The service is stopping. Send the remaining lines again.'));
    }
  }

  /**
   * Returns the outcomes of the lines in their order, in groups as they become known. Lines are read only as outcomes
   * are taken, except for the lines in flight. Throws `unavailable` if too many batches are open. The generator
   * rethrows errors of `lines` after the outcomes of the lines before them.
   */
  async import(
    actor: Actor,
    trace: RequestTrace,
    lines: AsyncIterable<readonly SentLine[]>,
  ): Promise<AsyncGenerator<readonly LineOutcome[], void>> {
    const founderId = await this.founders.of(actor.tenantId);
    const close = this.open.take(actor.principalId, founderId);
    if (close === null) {
      throw new DomainError('unavailable', 'Too many batches are open, yours or in total. Try again shortly.');
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

  /** Reads the lines, and starts each as soon as there is room for it. */
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
        const report = inFlight.begin(bytes);
        const settle = (outcome: LineOutcome): void => {
          giveBack();
          report(outcome);
        };
        // Large lines are parsed in a thread, one after another, so that a batch uses at most one thread.
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

  /** Writes an envelope after those of its subject that are in flight. */
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
