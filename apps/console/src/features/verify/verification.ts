import { useEffect, useRef, useState } from 'react';
import type { ProvedVersion } from '@iss/proof';
import type { TrustedKeys } from '../../entities/trusted-keys.ts';
import { useWorkerRoom, type WorkerRoom } from '../../app/worker.ts';
import type { FileOutcome, NamedFile, VerifyJob, VerifyProgress, VerifyResult, VersionValues } from './job.ts';
import workerUrl from './verify.worker.ts?worker&url';

/** The verification of a file, running or finished. */
export interface FileVerification {
  readonly file: NamedFile;
  readonly whose: TrustedKeys['whose'];
  /** The versions verified so far. */
  readonly versions: readonly ProvedVersion[];
  /** The count in the first line of a bundle, or null. */
  readonly of: number | null;
  readonly outcome: FileOutcome | null;
  /** An error that is not the fault of the file. */
  readonly failure: Error | null;
  readonly tookMs: number | null;
}

export function useVerifyWorker(): WorkerRoom<VerifyJob, VerifyProgress, VerifyResult> {
  return useWorkerRoom(workerUrl);
}

/** Verifies files in a worker, one after the other. A change of keys discards the outcome. */
export function useVerification(keys: TrustedKeys | null): {
  readonly verification: FileVerification | null;
  readonly begin: (file: NamedFile) => void;
  readonly stop: () => void;
  /** Reads the values of a verified version. */
  readonly read: (version: ProvedVersion) => Promise<VersionValues>;
} {
  const worker = useVerifyWorker();
  const [verification, setVerification] = useState<FileVerification | null>(null);
  const last = useRef(0);
  const stop = (): void => {
    last.current++;
    worker.end();
    worker.start();
    setVerification(null);
  };
  useEffect(() => {
    if (last.current > 0) stop();
  }, [keys?.text, keys?.whose]);
  const begin = (file: NamedFile): void => {
    if (keys === null) return;
    if (verification !== null && verification.outcome === null) stop();
    const mine = ++last.current;
    const begun = performance.now();
    const change = (by: (before: FileVerification) => Partial<FileVerification>): void => {
      if (last.current === mine) setVerification((before) => before && { ...before, ...by(before) });
    };
    const { whose } = keys;
    setVerification({ file, whose, versions: [], of: null, outcome: null, failure: null, tookMs: null });
    worker
      .run({ is: 'file', file, trusted: keys.text }, ({ versions, of }) =>
        change((before) => ({ of, versions: [...before.versions, ...versions] })),
      )
      .then(
        (result) => {
          if (result.is !== 'steps' && result.is !== 'values')
            change(() => ({ outcome: result, tookMs: performance.now() - begun }));
        },
        (error: unknown) => change(() => ({ failure: error instanceof Error ? error : new Error(String(error)) })),
      );
  };
  const read = async ({ version, facts }: ProvedVersion): Promise<VersionValues> => {
    if (verification === null || facts === null) throw new Error('No file was verified.');
    const { blob } = verification.file;
    const result = await worker.run({ is: 'values', blob, version, envelopeHash: facts.envelopeHash });
    if (result.is !== 'values') throw new Error(result.is);
    return result;
  };
  return { verification, begin, stop, read };
}
