import { useEffect, useRef, useState } from 'react';
import type { SubjectAddress } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';
import type { TrustedKeys } from '../../entities/trusted-keys.ts';
import { Button } from '../../ui/button.tsx';
import { download } from '../../ui/download.ts';
import { Problem, Section } from '../../ui/page.tsx';
import { VerificationOutcome } from '../verify/outcome.tsx';
import { useVerification } from '../verify/verification.ts';
import ui from '../../ui/ui.module.css';
import { TEXT } from './words.ts';

const NDJSON = 'application/x-ndjson';
/** The number of lines after which the page updates its count. */
const TOLD_AT_ONCE = 100;

/** Verifies or downloads the bundle of a subject. */
export function BundleActions({ subject, keys }: { subject: SubjectAddress; keys: TrustedKeys | null }) {
  const { fetched, fetchBundle } = useBundle(subject);
  const { verification, begin, stop, read } = useVerification(keys);
  const name = TEXT.bundleName(subject.subjectId);
  const verify = async (): Promise<void> => {
    const blob = await fetchBundle();
    if (blob !== null) begin({ name, blob, entry: null });
  };
  const take = async (): Promise<void> => {
    const blob = await fetchBundle();
    if (blob !== null) download(name, NDJSON, [blob]);
  };
  const isFetching = fetched.is === 'fetching';
  return (
    <Section
      title={TEXT.bundle}
      actions={
        <>
          <Button isPending={isFetching || keys === null} onClick={() => void verify()}>
            {TEXT.verifyAll}
          </Button>
          <Button isPending={isFetching} onClick={() => void take()}>
            {TEXT.take}
          </Button>
        </>
      }
    >
      <p>{TEXT.bundleText}</p>
      <div role="status">{isFetching && <p>{TEXT.fetching(fetched.lines)}</p>}</div>
      {fetched.is === 'failed' && <Problem error={fetched.error} />}
      {verification !== null && (
        <div className={ui.page}>
          <VerificationOutcome verification={verification} onStop={stop} read={read} />
        </div>
      )}
    </Section>
  );
}

type Fetched =
  | { readonly is: 'not' }
  | { readonly is: 'fetching'; readonly lines: number }
  | { readonly is: 'failed'; readonly error: Error };

/** Downloads the bundle byte for byte, so that a verifier need not trust this page. */
function useBundle({ tenantId, subjectType, subjectId }: SubjectAddress): {
  readonly fetched: Fetched;
  readonly fetchBundle: () => Promise<Blob | null>;
} {
  const client = useClient();
  const [fetched, setFetched] = useState<Fetched>({ is: 'not' });
  const end = useRef<AbortController>(null);
  useEffect(() => () => end.current?.abort(), []);
  const fetchBundle = async (): Promise<Blob | null> => {
    const controller = new AbortController();
    end.current = controller;
    setFetched({ is: 'fetching', lines: 0 });
    try {
      const parts: Blob[] = [];
      let lines: string[] = [];
      let count = 0;
      const bundle = client.tenant(tenantId).subject(subjectType, subjectId).bundle({ signal: controller.signal });
      for await (const line of bundle) {
        lines.push(line, '\n');
        if (++count % TOLD_AT_ONCE !== 0) continue;
        parts.push(new Blob(lines));
        lines = [];
        setFetched({ is: 'fetching', lines: count });
      }
      setFetched({ is: 'not' });
      return new Blob([...parts, ...lines], { type: NDJSON });
    } catch (error) {
      if (!controller.signal.aborted)
        setFetched({ is: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
      return null;
    }
  };
  return { fetched, fetchBundle };
}
