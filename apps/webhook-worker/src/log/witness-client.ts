import {
  type Checkpoint,
  createVerifier,
  formatAddCheckpoint,
  formatNote,
  type NoteSignature,
  openNote,
  parseCheckpoint,
  parseNote,
  parseSignatureLines,
  parseTreeSize,
  type PolicyWitness,
  type Verifier,
  witnessedCheckpointPath,
} from '@iss/tlog';

/** From the first byte sent to the last byte read. */
const TIMEOUT_MS = 5_000;
/** The same for reading the newest checkpoint, for which signing waits. */
const LOOK_TIMEOUT_MS = 2_000;
/** More than a note with every signature of a witness needs. */
const MAX_ANSWER_BYTES = 128 * 1024;
/**
 * Attempts per submission. Each uses the size that the witness named last, which another worker may change in the
 * meantime.
 */
const MAX_ATTEMPTS = 3;

/** A signed checkpoint, and the proofs that it continues earlier ones. */
export interface Submission {
  readonly checkpoint: Checkpoint;
  readonly note: string;
  readonly proofFrom: (size: number) => Promise<readonly Uint8Array[]>;
}

/** A witness's answer to a checkpoint. */
export type WitnessWord =
  /** The signatures by the names of their keys in the policy. */
  | { kind: 'cosigned'; signatures: ReadonlyMap<string, NoteSignature> }
  /** It has cosigned a larger checkpoint. */
  | { kind: 'ahead'; size: number }
  /** The proof does not lead from the checkpoint that it cosigned to this one. */
  | { kind: 'contradicted' };

/**
 * A client of one witness (C2SP tlog-witness). Limits its responses in time and size, and accepts only signed ones.
 */
export class WitnessClient {
  /** The size of the last checkpoint that it cosigned, as far as is known here. */
  private lastSize = 0;
  private readonly prefix: string;
  private readonly closing = new AbortController();

  /** `keys`: the keys of the witness at this URL, usually one. */
  constructor(
    url: string,
    private readonly keys: readonly PolicyWitness[],
  ) {
    this.prefix = url.replace(/\/+$/, '');
  }

  /** The names of the witness in the policy. */
  get names(): readonly string[] {
    return this.keys.map(({ name }) => name);
  }

  /** Asks for cosignatures. Rejects if the witness is unreachable or slow, or if its answer is not valid. */
  async submit({ checkpoint, note, proofFrom }: Submission): Promise<WitnessWord> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const oldSize = Math.min(this.lastSize, checkpoint.size);
      const isPlain = oldSize === 0 || oldSize === checkpoint.size;
      const consistency = isPlain ? [] : await proofFrom(oldSize);
      const body = formatAddCheckpoint({ oldSize, consistency, note });
      const answer = await this.exchange('/add-checkpoint', { method: 'POST', body }, TIMEOUT_MS);
      if (answer.status === 200) {
        const signatures = await this.cosignaturesOf(note, answer.text);
        this.lastSize = checkpoint.size;
        return { kind: 'cosigned', signatures };
      }
      if (answer.status === 422) return { kind: 'contradicted' };
      if (answer.status !== 409) throw new Error(`it answered ${answer.status}: ${answer.text.slice(0, 200)}`);
      const size = parseTreeSize(answer.text);
      if (size > checkpoint.size) return { kind: 'ahead', size };
      this.lastSize = size;
    }
    throw new Error(`it named another size at each of ${MAX_ATTEMPTS} attempts`);
  }

  /** Returns the newest checkpoint that the witness shows and one of these keys signed. Rejects if it shows none. */
  async newest(origin: string, verifiers: readonly Verifier[]): Promise<Checkpoint> {
    const { status, text } = await this.exchange(
      `/${witnessedCheckpointPath(origin)}`,
      { method: 'GET' },
      LOOK_TIMEOUT_MS,
    );
    if (status !== 200) throw new Error(`it answered ${status} and shows no checkpoint`);
    const checkpoint = parseCheckpoint((await openNote(text, verifiers)).text);
    if (checkpoint.origin !== origin) throw new Error(`it shows a checkpoint of ${checkpoint.origin}`);
    return checkpoint;
  }

  /** Aborts running requests. */
  close(): void {
    this.closing.abort();
  }

  private async cosignaturesOf(note: string, lines: string): Promise<Map<string, NoteSignature>> {
    const own = parseSignatureLines(lines).filter((line) => this.witnessOf(line) !== undefined);
    if (own.length === 0) throw new Error('it did not sign with the key that the policy names');
    const { text } = parseNote(note);
    const verifiers = this.keys.map(({ key }) => createVerifier(key));
    const { verified } = await openNote(formatNote({ text, signatures: own }), verifiers);
    if (verified.some(({ time }) => time === 0)) throw new Error('its cosignature has no time');
    return new Map(
      verified.map(({ name, keyId, signature }) => {
        const line = { name, keyId, signature };
        return [this.witnessOf(line)?.name ?? name, line];
      }),
    );
  }

  private witnessOf({ name, keyId }: NoteSignature): PolicyWitness | undefined {
    return this.keys.find(({ key }) => key.name === name && key.keyId === keyId);
  }

  /** Uses Node's own client, which uses the proxy of the environment if `NODE_USE_ENV_PROXY` is set. */
  private async exchange(
    path: string,
    init: RequestInit,
    timeoutMs: number,
  ): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.any([this.closing.signal, AbortSignal.timeout(timeoutMs)]);
    const response = await fetch(this.prefix + path, { ...init, redirect: 'error', signal });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > MAX_ANSWER_BYTES) throw new Error(`it answers more than ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
    return { status: response.status, text: Buffer.concat(chunks).toString('utf8') };
  }
}
