import type { JsonValue } from '@iss/domain/pure';

export type StepName =
  'content' | 'chain' | 'entry' | 'view' | 'inclusion' | 'checkpoint' | 'witnesses' | 'consistency' | 'newest';
/** `open`: neither proved nor refused. */
export type StepState = 'holds' | 'fails' | 'open';

/** The values that a step compares or recomputes. */
export type InputName =
  | 'canonical'
  | 'payload'
  | 'computed'
  | 'claimed'
  | 'previousHash'
  | 'prevHash'
  | 'entry'
  | 'mapKeys'
  | 'leaf'
  | 'index'
  | 'path'
  | 'root'
  | 'size'
  | 'note'
  | 'keys'
  | 'signedBy'
  | 'witnessKeys'
  | 'cosignedBy'
  | 'kept'
  | 'consistency'
  | 'vrfKey'
  | 'mapRoot';

/** The result of a step of a proof. */
export interface Step {
  readonly name: StepName;
  readonly state: StepState;
  readonly why: string;
  readonly inputs: readonly (readonly [name: InputName, value: string])[];
}

/** A response, or the reason why there is none. */
export type Fetched<T> = { readonly got: T } | { readonly not: string };

/** The inputs of a version's proof, as the service returned them. None of them is trusted. */
export interface VersionEvidence {
  readonly subjectType: string;
  readonly subjectId: string;
  readonly version: number;
  /** The snapshot; of an erased version, the members of its receipt. */
  readonly snapshot: JsonValue;
  /** Null for the first version. */
  readonly previous: Fetched<JsonValue> | null;
  /** The response of `…/log-proof`; of an erased version, the proof in its receipt. */
  readonly proof: Fetched<JsonValue>;
  /** A policy or a key. */
  readonly trusted: string;
  readonly isTrustOfService: boolean;
  /** The checkpoint that the reader kept of the log, or null. */
  readonly kept: string | null;
  /** The consistency proof between the kept checkpoint and the proof's, in either order; null if none is needed. */
  readonly consistency: Fetched<readonly string[]> | null;
}

export type ContentEvidence = Pick<VersionEvidence, 'subjectType' | 'subjectId' | 'version' | 'snapshot'>;
export type Done = Omit<Step, 'name'>;
export type Inputs = [InputName, string][];
/** Proves one thing about a version, and adds the values that it uses to `inputs`. */
export type Prover = (evidence: VersionEvidence, inputs: Inputs) => Promise<Done> | Done;

/** Runs a step. An error becomes the failure of the step. */
export async function runStep(name: StepName, step: (inputs: Inputs) => Promise<Done>): Promise<Step> {
  const inputs: Inputs = [];
  try {
    return { name, ...(await step(inputs)) };
  } catch (error) {
    return { name, ...fails(error instanceof Error ? error.message : String(error), inputs) };
  }
}

export const holds = (why: string, inputs: Inputs): Done => ({ state: 'holds', why, inputs });
export const fails = (why: string, inputs: Inputs): Done => ({ state: 'fails', why, inputs });
export const open = (why: string, inputs: Inputs): Done => ({ state: 'open', why, inputs });
/** Returns the result of a step that rests on keys of the service: its own keys prove nothing to others. */
export const holdsBy = (
  { isTrustOfService }: Pick<VersionEvidence, 'isTrustOfService'>,
  why: string,
  inputs: Inputs,
): Done =>
  isTrustOfService
    ? open(`${why} These keys come from the service being checked. Use independent keys to close this step.`, inputs)
    : holds(why, inputs);
