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

/** From the first byte sent to the last one read. */
const TIMEOUT_MS = 5_000;
/** The same where nobody signs before it is known. */
const LOOK_TIMEOUT_MS = 2_000;
/** More than a note with every signature that a witness answers. */
const MAX_ANSWER_BYTES = 128 * 1024;
/** Between attempts, a witness is asked for the sizes that it says: other workers may be asking too. */
const MAX_ATTEMPTS = 3;

/** A signed checkpoint, and the proofs that it continues older ones. */
export interface Submission {
  readonly checkpoint: Checkpoint;
  readonly note: string;
  readonly proofFrom: (size: number) => Promise<readonly Uint8Array[]>;
}

/** What a witness says to a checkpoint. */
export type WitnessWord =
  /** By the names that the policy gives. */
  | { kind: 'cosigned'; signatures: ReadonlyMap<string, NoteSignature> }
  /** It has cosigned a larger one. */
  | { kind: 'ahead'; size: number }
  /** The proof does not lead from what it cosigned to this one. */
  | { kind: 'contradicted' };

/** A witness at its URL, C2SP tlog-witness. What it answers is bounded, in time and bytes, and believed only where it is signed. */
export class WitnessClient {
  /** What it cosigned last, as far as is known here. */
  private lastSize = 0;
  private readonly prefix: string;
  private readonly closing = new AbortController();

  /** `keys`: the witness's, with one URL: most have one. */
  constructor(
    url: string,
    private readonly keys: readonly PolicyWitness[],
  ) {
    this.prefix = url.replace(/\/+$/, '');
  }

  /** As the policy calls it. */
  get names(): readonly string[] {
    return this.keys.map(({ name }) => name);
  }

  /** Asks for cosignatures. Rejects when it gives none: it is away, slow, or answers what is none. */
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

  /** The newest checkpoint that it shows and one of these keys signed. Rejects when it shows none. */
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

  /** Breaks off what runs. */
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

  /** Node's own client, which goes through the proxy of the environment where it is told to (`NODE_USE_ENV_PROXY`). */
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
