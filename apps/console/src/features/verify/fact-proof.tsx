import { useEffect } from 'react';
import type { JsonObject } from '@iss/domain/pure';
import type { api, Query } from '@identity-state/client';
import { useGet } from '../../app/api.ts';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { Answer } from '../../ui/state.tsx';
import { TrustedBy } from '../../entities/trust.tsx';
import { Outcome } from './outcome.tsx';
import { useVerification } from './verification.ts';

/** The seconds that the service waits until a new fact is in the log. */
export const WAIT_S = 10;

/** Verifies the log's proof of a fact with the trusted keys. `expected` contains members that the entry must have. */
export function FactProof({
  path,
  query,
  name,
  expected,
}: {
  path: string;
  query: Query;
  name: string;
  expected: JsonObject;
}) {
  const proof = useGet<api.LogProof>(path, query);
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
