import { useRef, useState } from 'react';
import type { ProvedVersion } from '@identity-state/client/bundle';
import { useWorkerRoom, type WorkerRoom } from '../../app/worker.ts';
import type { FileOutcome, VerifyJob, VerifyProgress, VerifyResult } from './job.ts';
import workerUrl from './verify.worker.ts?worker&url';

/** A file's verification, under way or done. */
export interface Verification {
  readonly name: string;
  /** Those that hold, so far. */
  readonly versions: readonly ProvedVersion[];
  /** As the file's first line says; null: not told, or no bundle. */
  readonly of: number | null;
  readonly outcome: FileOutcome | null;
  /** What broke, which says nothing about the file. */
  readonly failure: Error | null;
  readonly tookMs: number | null;
}

export interface NamedFile {
  readonly name: string;
  readonly blob: Blob;
  /** Of a proof that does not hold it. */
  readonly entry: string | null;
}

export function useVerifyWorker(): WorkerRoom<VerifyJob, VerifyProgress, VerifyResult> {
  return useWorkerRoom(workerUrl);
}

/** Verifies one file after the other, in a worker. */
export function useVerification(): {
  readonly verification: Verification | null;
  readonly begin: (file: NamedFile, trusted: string) => void;
  readonly stop: () => void;
} {
  const worker = useVerifyWorker();
  const [verification, setVerification] = useState<Verification | null>(null);
  const last = useRef(0);
  const stop = (): void => {
    last.current++;
    worker.end();
    worker.start();
    setVerification(null);
  };
  const begin = ({ name, blob, entry }: NamedFile, trusted: string): void => {
    if (verification !== null && verification.outcome === null) stop();
    const mine = ++last.current;
    const begun = performance.now();
    const change = (by: (before: Verification) => Partial<Verification>): void => {
      if (last.current === mine) setVerification((before) => before && { ...before, ...by(before) });
    };
    setVerification({ name, versions: [], of: null, outcome: null, failure: null, tookMs: null });
    worker
      .run({ is: 'file', file: blob, trusted, entry }, ({ versions, of }) =>
        change((before) => ({ of, versions: [...before.versions, ...versions] })),
      )
      .then(
        (result) => {
          if (result.is !== 'steps') change(() => ({ outcome: result, tookMs: performance.now() - begun }));
        },
        (error: unknown) => change(() => ({ failure: error instanceof Error ? error : new Error(String(error)) })),
      );
  };
  return { verification, begin, stop };
}
