import {
  type Checkpoint,
  createVerifier,
  decideAddCheckpoint,
  formatCheckpoint,
  formatNote,
  formatSignatureLines,
  formatTreeSize,
  type NoteSignature,
  openNote,
  type ParsedAddCheckpoint,
  parseAddCheckpoint,
  refuseUnauthentic,
  type Signer,
  TlogError,
  TREE_SIZE_CONTENT_TYPE,
  type Verifier,
  type VerifierKey,
  type WitnessRefusal,
} from '@iss/tlog';
import type { WitnessState } from './witness-state';

/** An answer of the witness, with data for its log line. */
export interface WitnessAnswer {
  status: number;
  contentType: string;
  body: string;
  /** Present if a known log signed the request. */
  request?: Pick<ParsedAddCheckpoint, 'oldSize' | 'note'> & Pick<Checkpoint, 'origin' | 'size'>;
}

/** Returns why a checkpoint must not be cosigned, although it continues the log; null if it may be. */
export type CosignCheck = (checkpoint: Checkpoint) => Promise<{ status: 403 | 503; message: string } | null>;

const TEXT = 'text/plain; charset=utf-8';

/** Cosigns checkpoints that continue known logs (C2SP tlog-witness). */
export class Witness {
  private readonly logs = new Map<string, Verifier[]>();

  /** `signers` have cosignature types. `logs` are keys named after the origin of their log, one or more per log. */
  constructor(
    private readonly signers: readonly Signer[],
    logs: readonly VerifierKey[],
    private readonly state: WitnessState,
    /** Returns the time in milliseconds since 1970. */
    private readonly now: () => number = Date.now,
    private readonly audit: CosignCheck = () => Promise.resolve(null),
  ) {
    for (const key of logs) this.logs.set(key.name, [...(this.logs.get(key.name) ?? []), createVerifier(key)]);
  }

  /** Answers an add-checkpoint request. Before a 200, the checkpoint is saved to disk. */
  async addCheckpoint(body: string): Promise<WitnessAnswer> {
    let parsed: ParsedAddCheckpoint;
    try {
      parsed = parseAddCheckpoint(body);
    } catch (error) {
      if (error instanceof TlogError) return plainAnswer(400, error.message);
      throw error;
    }
    const stranger = await refuseUnauthentic(parsed, (origin) => this.logs.get(origin) ?? []);
    if (stranger !== null) return refused(stranger);
    const { oldSize, note, checkpoint } = parsed;
    const request = { oldSize, note, origin: checkpoint.origin, size: checkpoint.size };
    const early = decideAddCheckpoint(parsed, this.state.newest(checkpoint.origin));
    if (early.status !== 200) return { ...refused(early), request };
    const audited = await this.audit(checkpoint);
    if (audited !== null) return { ...plainAnswer(audited.status, audited.message), request };
    const { signed, cosignatures } = await this.cosign(parsed);
    // Another request may have been cosigned meanwhile. The rest runs without interruption.
    const decision = decideAddCheckpoint(parsed, this.state.newest(checkpoint.origin));
    if (decision.status !== 200) return { ...refused(decision), request };
    this.state.keep(checkpoint.origin, { size: checkpoint.size, root: checkpoint.root, note: signed });
    return { status: 200, contentType: TEXT, body: formatSignatureLines(cosignatures), request };
  }

  /** Answers with the last cosigned checkpoint of a log. */
  checkpointAt(path: string): WitnessAnswer {
    const note = this.state.shownAt(path);
    if (note === null) return plainAnswer(404, 'This witness has not cosigned such a log.');
    return { status: 200, contentType: TEXT, body: note };
  }

  private async cosign({ note, checkpoint }: ParsedAddCheckpoint) {
    const { text: signedText, verified } = await openNote(note, this.logs.get(checkpoint.origin) ?? []);
    const time = Math.floor(this.now() / 1000);
    // C2SP: ML-DSA-44 cosignatures do not state anything about extension lines.
    const withoutExtension = formatCheckpoint({ ...checkpoint, extensionLines: [] });
    const cosignatures: NoteSignature[] = await Promise.all(
      this.signers.map((signer) =>
        signer.sign(signer.key.type === 'ml-dsa-44-cosignature' ? withoutExtension : signedText, time),
      ),
    );
    return { signed: formatNote({ text: signedText, signatures: [...verified, ...cosignatures] }), cosignatures };
  }
}

function refused(refusal: WitnessRefusal): WitnessAnswer {
  if (refusal.status !== 409) return plainAnswer(refusal.status, refusal.message);
  return { status: 409, contentType: TREE_SIZE_CONTENT_TYPE, body: formatTreeSize(refusal.size) };
}

/** Returns a plain-text answer. */
export function plainAnswer(status: number, message: string): WitnessAnswer {
  return { status, contentType: TEXT, body: `${message}\n` };
}
