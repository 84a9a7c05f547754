import type { Warn } from '@iss/platform';
import {
  type Checkpoint,
  isQuorum,
  type NoteSignature,
  type Policy,
  type PolicyWitness,
  type Verifier,
} from '@iss/tlog';
import { type Submission, WitnessClient, type WitnessWord } from './witness-client';

/** A witness that failed is left alone for so long at first, and twice as long each time, up to the second figure. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** What came of asking a witness. */
export const WITNESS_ANSWERS = ['cosigned', 'contradicted', 'failed'] as const;
export type WitnessAnswer = (typeof WITNESS_ANSWERS)[number];

/** Judges a witness's word that the log lost its end or was changed. `proven`: throws. */
export type Judge = (claim: Exclude<WitnessWord, { kind: 'cosigned' }>, shown: Checkpoint | null) => Promise<boolean>;

interface Asked {
  readonly client: WitnessClient;
  isBusy: boolean;
  failures: number;
  notBeforeMs: number;
  /** It says, without a proof, that the log is not what it saw. */
  doubts: boolean;
}

/** Cosignatures of one checkpoint, by the names that the policy gives; they may still grow. */
export type Cosignatures = Map<string, NoteSignature>;

/** The witnesses of a policy, each asked on its own: one that is slow or away costs the others nothing. */
export class Witnesses {
  private readonly all: readonly Asked[];

  constructor(
    private readonly policy: Policy,
    private readonly origin: string,
    private readonly verifiers: readonly Verifier[],
    private readonly count: (witness: string, answer: WitnessAnswer) => void,
    private readonly warn: Warn,
  ) {
    const byUrl = new Map<string, PolicyWitness[]>();
    for (const witness of policy.witnesses) {
      if (witness.url !== null) byUrl.set(witness.url, [...(byUrl.get(witness.url) ?? []), witness]);
    }
    this.all = [...byUrl].map(([url, keys]) => ({
      client: new WitnessClient(url, keys),
      isBusy: false,
      failures: 0,
      notBeforeMs: 0,
      doubts: false,
    }));
  }

  /** What witnesses show of this log, as far as the log's keys signed it. Those that show nothing are left out. */
  async newest(): Promise<Checkpoint[]> {
    const shown = await Promise.allSettled(this.all.map(({ client }) => client.newest(this.origin, this.verifiers)));
    return shown.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** Whether no quorum can be had from those that do not say that the log is another one than they saw. */
  get refuse(): boolean {
    const trusting = this.all.filter(({ doubts }) => !doubts).flatMap(({ client }) => client.names);
    return !isQuorum(this.policy, new Set(trusting));
  }

  /**
   * Asks those whose cosignature is not there yet, and adds to `cosignatures` what they give, also after it has resolved: as
   * soon as the quorum is there, or nobody is left to wait for. Rejects with what `judge` throws.
   */
  collect(submission: Submission, cosignatures: Cosignatures, judge: Judge): Promise<void> {
    const nowMs = performance.now();
    const asked = this.all.filter(
      ({ client, isBusy, notBeforeMs }) =>
        !isBusy && notBeforeMs <= nowMs && client.names.some((name) => !cosignatures.has(name)),
    );
    return new Promise((resolve, reject) => {
      const settleIfQuorum = (): void => {
        if (isQuorum(this.policy, new Set(cosignatures.keys()))) resolve();
      };
      settleIfQuorum();
      const asking = asked.map(async (one) => {
        await this.ask(one, submission, cosignatures, judge);
        settleIfQuorum();
      });
      Promise.all(asking).then(() => resolve(), reject);
    });
  }

  /** Breaks off what runs. */
  close(): void {
    for (const { client } of this.all) client.close();
  }

  private async ask(one: Asked, submission: Submission, cosignatures: Cosignatures, judge: Judge): Promise<void> {
    const { client } = one;
    one.isBusy = true;
    try {
      const word = await client.submit(submission).catch((error: unknown) => this.failed(one, error));
      if (word === null) return;
      if (word.kind === 'cosigned') {
        for (const [name, signature] of word.signatures) cosignatures.set(name, signature);
        one.failures = 0;
        one.doubts = false;
        this.tell(one, 'cosigned');
        return;
      }
      const shown = await client.newest(this.origin, this.verifiers).catch(() => null);
      one.doubts = await judge(word, shown);
      if (word.kind === 'ahead' && !one.doubts) return;
      this.tell(one, 'contradicted');
      this.pause(one);
      this.warn(
        `The witness ${client.names.join(', ')} does not cosign: ` +
          (word.kind === 'ahead'
            ? `it says that it saw ${word.size} entries`
            : 'it does not take the consistency proof'),
      );
    } finally {
      one.isBusy = false;
    }
  }

  private failed(one: Asked, error: unknown): null {
    this.tell(one, 'failed');
    this.pause(one);
    this.warn(`The witness ${one.client.names.join(', ')} does not cosign; it is asked again`, error);
    return null;
  }

  private pause(one: Asked): void {
    one.notBeforeMs = performance.now() + Math.min(FIRST_PAUSE_MS * 2 ** one.failures, MAX_PAUSE_MS);
    one.failures = Math.min(one.failures + 1, 10);
  }

  private tell({ client }: Asked, answer: WitnessAnswer): void {
    for (const name of client.names) this.count(name, answer);
  }
}
