import { DomainError, type EvidencePolicy } from '@iss/domain';

/** The outcome of a write. A refused one names the tenant's current policy. */
type Outcome = { kind: string; evidencePolicy?: EvidencePolicy | null };

/** Policies are changed manually and hardly ever during a write. */
const MAX_TRIES = 3;

/**
 * Writes under the tenant's evidence policy. The policy is not cached. Instead, each attempt assumes one, and the write
 * refuses if another is in force; then it is tried again under that one. So a tenant without a policy causes no
 * additional query.
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
