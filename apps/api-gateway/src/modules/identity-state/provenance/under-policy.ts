import { DomainError, type EvidencePolicy } from '@iss/domain';

/** What became of a write: refused ones say what the tenant demands at this moment. */
type Outcome = { kind: string; evidencePolicy?: EvidencePolicy | null };

/** A policy changes by hand, hardly ever while a write runs. */
const MAX_TRIES = 3;

/**
 * Writes what was held to the policy of its tenant. The write itself says where that is another policy than was assumed:
 * nothing is kept of it from one request to the next, and a tenant that demands nothing is asked nothing more. What was
 * refused for that is tried again under the policy in force.
 */
export async function underPolicy<O extends Outcome>(
  assumed: EvidencePolicy,
  attempt: (policy: EvidencePolicy) => Promise<O>,
): Promise<O> {
  let policy = assumed;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const outcome = await attempt(policy);
    const demanded = outcome.kind === 'refused' ? (outcome.evidencePolicy ?? policy) : policy;
    if (demanded === policy) return outcome;
    policy = demanded;
  }
  throw new DomainError('conflict', "The tenant's evidence_policy changed during this request. Send it again.");
}
