import { proveContinued, proveSignature, proveWitnesses } from './checkpoint-steps';
import { isPartial, proveChain, proveContent } from './content-steps';
import { ofCheckpoint, proveEntry, proveInclusion, proveView } from './log-steps';
import { type Prover, runStep, type Step, type StepName, type VersionEvidence } from './step';

/** Recomputes the proof of a version. Each step runs on its own, so that all failures are shown. */
export async function* prove(evidence: VersionEvidence): AsyncGenerator<Step, void, undefined> {
  const steps: readonly (readonly [StepName, Prover])[] = [
    ['content', proveContent],
    ['chain', proveChain],
    ['entry', proveEntry],
    ...(isPartial(evidence.snapshot) ? [['view', proveView] as const] : []),
    ['inclusion', proveInclusion],
    ['checkpoint', proveSignature],
    ['witnesses', proveWitnesses],
    ['consistency', ofCheckpoint(proveContinued)],
  ];
  for (const [name, step] of steps) yield runStep(name, async (inputs) => step(evidence, inputs));
}
