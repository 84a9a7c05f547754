import type { JsonObject, JsonValue } from '@iss/domain/pure';
import { Members, VerificationError } from '@iss/proof';
import { UsageError } from '../command';
import type { KnownCheckpoint } from './monitor';
import { MonitorState } from './state';

/** The last proof of a stream of a subject. */
export interface KnownNumber {
  /** The newest number; 0 if the stream is empty. */
  readonly number: number;
  /** The log index of its entry; null if the stream is empty. */
  readonly logIndex: number | null;
  /** The whole answer, which is evidence if a later one contradicts it. */
  readonly answer: JsonObject;
}

/** A JSON file with the newest checkpoint of a log and the last proofs of a subject. Changes are written by {@link save}. */
export class SubjectState implements KnownCheckpoint {
  private readonly file: MonitorState;
  private content: { checkpoint: string | null; streams: Record<string, KnownNumber> } | undefined;

  constructor(
    private readonly path: string,
    private readonly subject: string,
  ) {
    this.file = new MonitorState(path);
  }

  async read(): Promise<string | null> {
    return (await this.loaded()).checkpoint;
  }

  async write(note: string): Promise<void> {
    (await this.loaded()).checkpoint = note;
  }

  /** Returns the last proof of a stream; null if there is none. */
  async known(stream: string): Promise<KnownNumber | null> {
    return (await this.loaded()).streams[stream] ?? null;
  }

  async keep(stream: string, proved: KnownNumber): Promise<void> {
    (await this.loaded()).streams[stream] = proved;
  }

  /** Writes all changes at once. */
  async save(): Promise<void> {
    const { checkpoint, streams } = await this.loaded();
    const shown = Object.entries(streams).map(([stream, { number, logIndex, answer }]) => [
      stream,
      { number, log_index: logIndex, answer },
    ]);
    await this.file.write(
      `${JSON.stringify({ subject: this.subject, checkpoint, streams: Object.fromEntries(shown) })}\n`,
    );
  }

  /** Forgets changes that were not saved. */
  discard(): void {
    this.content = undefined;
  }

  keepEvidence(known: string, shown: string): Promise<string[]> {
    return this.file.keepEvidence(known, shown);
  }

  private async loaded() {
    this.content ??= await this.parsed();
    return this.content;
  }

  private async parsed() {
    const text = await this.file.read();
    if (text === null) return { checkpoint: null, streams: {} };
    try {
      const state = Members.parse('The state file', text);
      if (state.text('subject') !== this.subject) {
        throw new UsageError(
          `${this.path} is of the subject ${state.text('subject')}. Name another file with --state.`,
        );
      }
      const streams = Object.entries(state.object('streams').all).map(([stream, known]) => [stream, knownOf(known)]);
      return { checkpoint: state.textOrNull('checkpoint'), streams: Object.fromEntries(streams) };
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      throw new UsageError(
        `${this.path} is not the state of a subject: ${error.message} Name another file with --state.`,
      );
    }
  }
}

function knownOf(value: JsonValue): KnownNumber {
  const known = Members.of('The state file', value);
  return {
    number: known.count('number'),
    logIndex: known.value('log_index') === null ? null : known.count('log_index'),
    answer: known.object('answer').all,
  };
}
