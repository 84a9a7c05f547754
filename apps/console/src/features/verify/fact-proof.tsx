import { useEffect } from 'react';
import type { JsonObject } from '@iss/domain/pure';
import type { api } from '@identity-state/client';
import { type ApiCall, useGet } from '../../app/api.ts';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { Answer } from '../../ui/state.tsx';
import { TrustedBy } from '../../entities/trust.tsx';
import { Outcome } from './outcome.tsx';
import { useVerification } from './verification.ts';

/** The seconds that the service waits until a new fact is in the log. */
export const WAIT_S = 10;

/** Verifies the log's proof of a fact with the trusted keys. `expected` contains members that the entry must have. */
export function FactProof({
  call,
  name,
  expected,
}: {
  call: ApiCall<api.LogProof>;
  name: string;
  expected: JsonObject;
}) {
  const proof = useGet(call);
  const { keys } = useTrustedKeys();
  const { verification, begin } = useVerification(keys);
  const { data } = proof;
  const trusted = keys?.text;
  const fact = JSON.stringify(expected);
  useEffect(() => {
    if (data !== undefined) begin({ name, blob: new Blob([JSON.stringify(data)]), entry: null, expected });
  }, [data, trusted, name, fact]);
  return (
    <Answer query={proof.error === null ? proof : { ...proof, data: undefined }}>
      {() => (
        <>
          <TrustedBy />
          {verification !== null && <Outcome verification={verification} />}
        </>
      )}
    </Answer>
  );
}
