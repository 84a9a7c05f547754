import { keyOfOutput, parseVrfSecretKey, vrfInput, type VrfKeys, MapError } from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import { EnvError, RecentMap } from '@iss/platform';
import { TlogError } from '@iss/tlog';
import type { Asker } from '../../runtime/asker';
import { TASKS } from '../../runtime/tasks';
import type { Work } from '../../runtime/work';

/** Up to twice as many are kept, each about 400 bytes. */
const MAX_PROOFS = 16_384;

/** The key of a number in a stream, and its VRF proof. */
export interface NumberProof {
  readonly key: Uint8Array;
  readonly proof: Uint8Array;
}

/** Proves keys of numbers. The proofs never change, so the most recent ones are remembered. */
export class VrfProofs {
  private readonly proofs = new RecentMap<string, NumberProof>(MAX_PROOFS);

  private constructor(
    private readonly keys: VrfKeys,
    private readonly work: Pick<Work, 'run'>,
  ) {}

  /** Throws EnvError for a key that cannot be used. */
  static async open(secretKey: string, work: Pick<Work, 'run'>): Promise<VrfProofs> {
    const group = await loadSodiumGroup();
    await TASKS.prove_numbers.prepare?.();
    try {
      return new VrfProofs(parseVrfSecretKey(group, secretKey), work);
    } catch (error) {
      if (error instanceof MapError || error instanceof TlogError)
        throw new EnvError([`LOG_VRF_KEY cannot be used: ${error.message}`]);
      throw error;
    }
  }

  get publicKey(): Uint8Array {
    return this.keys.publicKey;
  }

  /** Returns the proofs of these numbers, in their order. Several new ones are made in a thread. */
  async of(asker: Asker, origin: string, stream: string, numbers: readonly number[]): Promise<NumberProof[]> {
    const names = numbers.map((number) => `${number} ${stream}\n${origin}`);
    const known = names.map((name) => this.proofs.get(name));
    const missing = numbers.filter((_, place) => known[place] === undefined);
    const made = missing.length === 0 ? [] : await this.make(asker, origin, stream, missing);
    return names.map((name, place) => {
      const one = known[place] ?? made.shift();
      if (one === undefined) throw new Error('fewer numbers were proved than requested');
      this.proofs.set(name, one);
      return one;
    });
  }

  private async make(asker: Asker, origin: string, stream: string, numbers: readonly number[]): Promise<NumberProof[]> {
    const inputs = numbers.map((number) => vrfInput(origin, stream, number));
    const proved = await asker.measured(() => this.work.run(asker, 'prove_numbers', { keys: this.keys, inputs }));
    return proved.map(({ output, proof }) => ({ key: keyOfOutput(output), proof }));
  }
}
