import { type ReactNode, useEffect } from 'react';
import type { JsonObject } from '@iss/domain/pure';
import { type ApiCall, useGet } from '../../app/api.ts';
import { TrustedBy } from '../../entities/trust.tsx';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { Loaded } from '../../ui/page.tsx';
import { VerificationOutcome } from './outcome.tsx';
import { useVerification } from './verification.ts';

/** The seconds that the service waits until a new fact is in the log. */
export const WAIT_S = 10;

export interface ProvenFact<T extends object> {
  readonly call: ApiCall<T>;
  /** Members that the entry must have. For a proof without an entry, the members that its result must have. */
  readonly expected: JsonObject;
  /** Says what a verified proof means. */
  readonly meaning?: (proof: T) => ReactNode;
}

/** Verifies the log's proof of a fact with the trusted keys. */
export function FactProof<T extends object>({
  call,
  name,
  expected,
  meaning,
}: ProvenFact<T> & {
  name: string;
}) {
  const proof = useGet(call);
  const { keys } = useTrustedKeys();
  const { verification, begin } = useVerification(keys);
  const { data } = proof;
  const fact = JSON.stringify(expected);
  useEffect(() => {
    if (data !== undefined) begin({ name, blob: new Blob([JSON.stringify(data)]), entry: null, expected });
  }, [data, keys?.text, keys?.whose, name, fact]);
  return (
    <Loaded query={proof.error === null ? proof : { ...proof, data: undefined }}>
      {(answer) => (
        <>
          <TrustedBy />
          {verification?.outcome?.is === 'proved' && meaning?.(answer)}
          {verification !== null && <VerificationOutcome verification={verification} />}
        </>
      )}
    </Loaded>
  );
}
