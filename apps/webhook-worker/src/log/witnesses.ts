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

/** The pause after a first failure of a witness. It doubles with each further failure, up to the maximum. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** The result of asking a witness. */
export const WITNESS_ANSWERS = ['cosigned', 'contradicted', 'failed'] as const;
export type WitnessOutcome = (typeof WITNESS_ANSWERS)[number];

/**
 * Judges a witness's claim that the log lost entries or was changed. Throws if `shown` proves it. Returns whether an
 * unproven claim casts doubt on the log.
 */
export type Judge = (claim: Exclude<WitnessWord, { kind: 'cosigned' }>, shown: Checkpoint | null) => Promise<boolean>;

interface Asked {
  readonly client: WitnessClient;
  isBusy: boolean;
  failures: number;
  notBeforeMs: number;
  /** True if it claims, without proof, that the log differs from what it saw. */
  doubts: boolean;
}

/** Cosignatures of one checkpoint, by the names in the policy. More may be added. */
export type Cosignatures = Map<string, NoteSignature>;

/** The witnesses of a policy. Each is asked separately, so that a slow or unreachable one does not delay the others. */
export class Witnesses {
  private readonly all: readonly Asked[];

  constructor(
    private readonly policy: Policy,
    private readonly origin: string,
    private readonly verifiers: readonly Verifier[],
    private readonly count: (witness: string, answer: WitnessOutcome) => void,
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

  /**
   * Returns the checkpoints of this log that witnesses show and the log's keys signed. Skips witnesses that show none.
   */
  async newest(): Promise<Checkpoint[]> {
    const shown = await Promise.allSettled(this.all.map(({ client }) => client.newest(this.origin, this.verifiers)));
    return shown.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** True if the witnesses without doubts do not suffice for a quorum. */
  get refuse(): boolean {
    const trusting = this.all.filter(({ doubts }) => !doubts).flatMap(({ client }) => client.names);
    return !isQuorum(this.policy, new Set(trusting));
  }

  /**
   * Asks the witnesses whose cosignatures are missing, and adds their answers to `cosignatures`. Resolves when there is
   * a quorum, or when all have answered; later answers are still added. Rejects with the errors of `judge`.
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

  /** Aborts running requests. */
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
        this.countAnswer(one, 'cosigned');
        return;
      }
      const shown = await client.newest(this.origin, this.verifiers).catch(() => null);
      one.doubts = await judge(word, shown);
      if (word.kind === 'ahead' && !one.doubts) return;
      this.countAnswer(one, 'contradicted');
      this.pause(one);
      this.warn(
        `The witness ${client.names.join(', ')} does not cosign: ` +
          (word.kind === 'ahead' ? `it says that it saw ${word.size} entries` : 'it rejects the consistency proof'),
      );
    } finally {
      one.isBusy = false;
    }
  }

  private failed(one: Asked, error: unknown): null {
    this.countAnswer(one, 'failed');
    this.pause(one);
    this.warn(`The witness ${one.client.names.join(', ')} does not cosign; retrying`, error);
    return null;
  }

  private pause(one: Asked): void {
    one.notBeforeMs = performance.now() + Math.min(FIRST_PAUSE_MS * 2 ** one.failures, MAX_PAUSE_MS);
    one.failures = Math.min(one.failures + 1, 10);
  }

  private countAnswer({ client }: Asked, answer: WitnessOutcome): void {
    for (const name of client.names) this.count(name, answer);
  }
}
