import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { isJsonObject, type JsonValue, parseStoredJson } from '@iss/domain/pure';
import { type Fetched, noteOf, type Step, type VersionEvidence } from '@iss/proof';
import type { NewestAnswer } from '@iss/proof/complete';
import { parseCheckpoint, parseNote } from '@iss/tlog';
import { type api, ApiError, ErasedError, type ErasureReceipt, type IdentityState } from '@identity-state/client';
import type { SubjectAddress } from '../../app/address.ts';
import { tenantPath } from '../../app/api.ts';
import { useClient } from '../../app/context.tsx';
import type { SubjectAccess } from '../../entities/subject-access.ts';
import { keptCheckpoints, type TrustedKeys } from '../../entities/trusted-keys.ts';
import { useVerifyWorker } from '../verify/verification.ts';
import { TEXT } from './words.ts';

/** The seconds that the service waits until a new version is in the log. */
const WAIT_S = 10;

/** The steps of a proof, and the responses that they use. */
export interface Proven {
  readonly steps: readonly Step[];
  /** The response of `…/log-proof`, or null. */
  readonly proof: JsonValue | null;
  /** The response of `…/latest-proof`, or null. */
  readonly newest: JsonValue | null;
  /** The receipt of an erased version; null for any other. */
  readonly receipt: ErasureReceipt | null;
}

interface Known {
  readonly keys: TrustedKeys | null;
  /** The log can prove which version is the newest. */
  readonly hasMap: boolean;
  readonly access: SubjectAccess | undefined;
  /** Returns the receipt of an erased version, if it is already known. */
  readonly receiptOf: (version: number) => ErasureReceipt | null;
}

/** Reads everything that the proof of a version needs, and recomputes it in a worker. Keeps a valid checkpoint. */
export function useProof(
  subject: SubjectAddress,
  version: number | null,
  { keys, hasMap, access, receiptOf }: Known,
): UseQueryResult<Proven> {
  const mayProve = access?.may('read_snapshot_by_id') === true;
  const mayProveNewest = access?.may('read_latest') === true;
  const client = useClient();
  const worker = useVerifyWorker();
  return useQuery({
    queryKey: [
      ...subject.path.split('/').slice(1),
      'proof',
      version,
      mayProve,
      mayProveNewest,
      hasMap,
      keys?.whose,
      keys?.text,
    ],
    enabled: version !== null && keys !== null,
    queryFn: async ({ signal }) => {
      if (version === null || keys === null) throw new Error('There is nothing to prove.');
      const newestOf = async (): Promise<NewestAnswer> => {
        const answer = mayProveNewest
          ? await answerOf(async () => latestProof(client, subject, signal))
          : { not: TEXT.newestNotShared };
        return { answer, ...(await keptFor(client, 'got' in answer ? noteOfNewest(answer.got) : null, signal)) };
      };
      const [{ evidence, proof, receipt }, newest] = await Promise.all([
        gather(client, subject, version, { keys, mayProve, receiptOf, signal }),
        hasMap ? newestOf() : null,
      ]);
      const result = await worker.run({ is: 'version', evidence, newest });
      const steps = result.is === 'steps' ? result.steps : [];
      const proved = newest !== null && 'got' in newest.answer ? newest.answer.got : null;
      const note = (proof === null ? null : noteOf(proof)) ?? (proved === null ? null : noteOfNewest(proved));
      if (note !== null && steps.every(({ state }) => state !== 'fails'))
        await keep(note, evidence.kept ?? newest?.kept ?? null);
      return { steps, proof, newest: proved, receipt };
    },
  });
}

async function gather(
  client: IdentityState,
  { tenantId, subjectType, subjectId, path }: SubjectAddress,
  version: number,
  {
    keys: { text, whose },
    mayProve,
    receiptOf,
    signal,
  }: Pick<Known, 'receiptOf'> & { keys: TrustedKeys; mayProve: boolean; signal: AbortSignal },
): Promise<{ evidence: VersionEvidence } & Pick<Proven, 'proof' | 'receipt'>> {
  const read = async (of: number): Promise<Read> => {
    const receipt = receiptOf(of);
    if (receipt !== null) return whatIsLeft(receipt);
    try {
      const snapshot = await client.request<JsonValue>('GET', `${path}/snapshots/${of}`, { signal });
      return { snapshot, receipt: null };
    } catch (error) {
      if (!(error instanceof ErasedError) || error.receipt === null) throw error;
      return whatIsLeft(error.receipt);
    }
  };
  const { snapshot, receipt } = await read(version);
  const named = isJsonObject(snapshot) ? snapshot['snapshot_id'] : undefined;
  const snapshotId = typeof named === 'string' ? named : '';
  const proofPath = tenantPath(tenantId, 'snapshots', snapshotId, 'log-proof');
  const [previous, proof] = await Promise.all([
    version === 1 ? null : answerOf(async () => (await read(version - 1)).snapshot),
    mayProve
      ? answerOf(async () =>
          logProof(() => client.request<JsonValue>('GET', proofPath, { query: { wait: WAIT_S }, signal })),
        )
      : { not: TEXT.proofNotShared },
  ]);
  const evidence: VersionEvidence = {
    ...{ subjectType, subjectId, version, snapshot, previous, proof },
    trusted: text,
    isTrustOfService: whose === 'service',
    ...(await keptFor(client, 'got' in proof ? noteOf(proof.got) : null, signal)),
  };
  return { evidence, proof: 'got' in proof ? proof.got : null, receipt };
}

/** Returns the proof of a version; for an erased version, the proof of its index and of its erasure. */
async function logProof(ask: () => Promise<JsonValue>): Promise<JsonValue> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ErasedError) || error.receipt?.proof === undefined) throw error;
    return parseStoredJson(JSON.stringify(error.receipt.proof));
  }
}

async function latestProof(client: IdentityState, { path }: SubjectAddress, signal: AbortSignal): Promise<JsonValue> {
  return client.request<JsonValue>('GET', `${path}/latest-proof`, { query: { wait: WAIT_S }, signal });
}

interface Read {
  readonly snapshot: JsonValue;
  readonly receipt: ErasureReceipt | null;
}

/** Returns the header members of an erased version from its receipt. */
function whatIsLeft(receipt: ErasureReceipt): Read {
  const { snapshot_id, snapshot_version, envelope_hash, prev_hash } = receipt;
  return { snapshot: { snapshot_id, snapshot_version, envelope_hash, prev_hash }, receipt };
}

/** Returns a response, or the reason of a refusal, which belongs to one step. Other errors are thrown. */
async function answerOf<T>(work: () => Promise<T>): Promise<Fetched<T>> {
  try {
    return { got: await work() };
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 401)
      return { not: error instanceof ErasedError ? TEXT.erasureNotLogged : error.message };
    throw error;
  }
}

/** Returns the checkpoint of a response of `…/latest-proof`, or null. */
function noteOfNewest(answer: JsonValue): string | null {
  const map = isJsonObject(answer) ? answer['map'] : undefined;
  return map === undefined ? null : noteOf(map);
}

/**
 * Returns the checkpoint that this browser kept of the same log, and the proof of consistency between it and the given
 * checkpoint.
 */
async function keptFor(
  client: IdentityState,
  note: string | null,
  signal: AbortSignal,
): Promise<Pick<VersionEvidence, 'kept' | 'consistency'>> {
  const kept = note === null ? null : await keptOf(note);
  if (note === null || kept === null) return { kept: null, consistency: null };
  return { kept, consistency: await consistencyBetween(client, kept, note, signal) };
}

async function keptOf(note: string): Promise<string | null> {
  const shown = checkpointOf(note);
  return shown === null ? null : ((await keptCheckpoints.read(shown.origin)) ?? null);
}

async function consistencyBetween(
  client: IdentityState,
  kept: string,
  note: string,
  signal: AbortSignal,
): Promise<Fetched<readonly string[]> | null> {
  const sizes = [kept, note].map((one) => checkpointOf(one)?.size ?? 0).sort((one, other) => one - other);
  const [from = 0, to = 0] = sizes;
  if (from === 0 || from === to) return null;
  return answerOf(async () => {
    const query = { from, to };
    return (await client.request<api.ConsistencyProof>('GET', '/log/consistency', { query, signal })).proof;
  });
}

/** Replaces the kept checkpoint with a newer one that is proved to extend it. */
async function keep(note: string, kept: string | null): Promise<void> {
  const shown = checkpointOf(note);
  const before = kept === null ? null : checkpointOf(kept);
  if (shown === null || (before !== null && before.size >= shown.size)) return;
  await keptCheckpoints.replace(shown.origin, kept ?? undefined, note);
}

/** Parses a checkpoint. Returns null if that fails; the step of the checkpoint then fails too. */
function checkpointOf(note: string): { readonly origin: string; readonly size: number } | null {
  try {
    return parseCheckpoint(parseNote(note).text);
  } catch {
    return null;
  }
}
