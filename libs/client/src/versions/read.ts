import { ErasedError, VerificationError } from '../errors.ts';
import { parseAnswer } from '../http/answer.ts';
import type { CallOptions, Query, Transport } from '../http/transport.ts';
import type { Snapshot, Verify, Version } from '../types.ts';
import type { Asked } from '../verify/snapshot.ts';
import { usesLog, type AnswerVerifier } from '../verify/verifier.ts';

export interface ReadOptions extends CallOptions {
  /** Defaults to the setting of the client. */
  verify?: Verify | undefined;
}

/** @internal The request for one snapshot. */
export interface SnapshotRequest {
  readonly tenantId: string;
  readonly path: string;
  readonly query?: Query;
  readonly asked: Asked;
  /** The newest version is requested. */
  readonly isNewest?: boolean;
}

/** @internal Reads and verifies a snapshot with its content. @throws VerificationError, ApiError (410 `ErasedError`) */
export async function readSnapshot<A>(
  transport: Transport,
  verifier: AnswerVerifier,
  { tenantId, path, query, asked, isNewest }: SnapshotRequest,
  { verify, ...options }: ReadOptions,
): Promise<Snapshot<A>> {
  const mode = verifier.modeOf(verify, isNewest);
  const text = await transport.text({ method: 'GET', path, query }, options).catch(async (error: unknown) => {
    if (usesLog(mode) && error instanceof ErasedError) {
      if (error.receipt === null)
        throw new VerificationError('envelope_missing', `${path}: the log does not say that it was erased.`);
      await verifier.erased(tenantId, error.receipt, asked, options);
    }
    throw error;
  });
  const version = await verifier.version<A>(tenantId, parseAnswer(text), asked, mode, options);
  if (hasContent(version)) return version;
  throw new VerificationError('envelope_missing', `${path} has no content.`);
}

/** @internal */
export function hasContent<A>(version: Version<A>): version is Snapshot<A> {
  return version.envelope !== undefined;
}
