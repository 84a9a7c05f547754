import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { IdentityState, VerificationError } from '@identity-state/client';
import { readPolicy } from '@iss/proof';
import {
  type Checkpoint,
  cosignatureTime,
  createVerifier,
  keyLabel,
  type NoteSignature,
  parseCheckpoint,
  parseNote,
  type Policy,
  type VerifierKey,
} from '@iss/tlog';
import { useSession } from '../../app/context.tsx';
import { keptCheckpoints, type TrustedKeys } from '../../entities/trusted-keys.ts';

/** A signature line of the checkpoint. */
export interface ShownSignature {
  readonly key: string;
  readonly role: 'log' | 'witness' | 'unknown';
  /** True if the signature of a trusted key verifies; null for any other key. */
  readonly isValid: boolean | null;
  /** Seconds since 1970, where the signature has a time. */
  readonly time: number | null;
}

/** The newest checkpoint, and its relation to the checkpoint that this browser kept. */
export interface CheckpointLook {
  readonly note: string;
  readonly checkpoint: Checkpoint;
  readonly signatures: readonly ShownSignature[];
  /** The size of the previously kept checkpoint, or null. */
  readonly keptSize: number | null;
  /** The error of the verification; null if the checkpoint is valid and now kept. */
  readonly fault: VerificationError | null;
  readonly lookedAt: number;
}

/** The size of each log when this browser kept it before, or when this page first saw it. Growth is measured from it. */
const seenFirst = new Map<string, number>();

/** Verifies the newest checkpoint of the log with the trusted keys, and that it extends the kept checkpoint. */
export function useLook(keys: TrustedKeys | null): UseQueryResult<CheckpointLook> {
  const session = useSession();
  return useQuery({
    queryKey: ['log', 'look', keys?.text],
    enabled: keys !== null,
    queryFn: async ({ signal }) => {
      if (keys === null) throw new Error('There are no trusted keys.');
      const response = await fetch('/log/checkpoint', { signal });
      if (!response.ok) throw new Error(`/log/checkpoint: ${response.status}`);
      const note = await response.text();
      const checkpoint = parseCheckpoint(parseNote(note).text);
      const policy = await readPolicy(keys.text);
      const kept = await keptCheckpoints.read(checkpoint.origin);
      const client = new IdentityState({
        baseUrl: location.origin,
        ...(session.subject === '' ? {} : { token: session.token }),
        trust: { ...trustOf(policy, keys.text), store: keptCheckpoints },
      });
      const fault = await client.checkpoint({ signal }).then(
        () => null,
        (error: unknown) => {
          if (error instanceof VerificationError) return error;
          throw error;
        },
      );
      const keptSize = kept === undefined ? null : parseCheckpoint(parseNote(kept).text).size;
      const seenBefore = seenFirst.get(checkpoint.origin) ?? keptSize;
      if (fault === null) seenFirst.set(checkpoint.origin, seenBefore ?? checkpoint.size);
      return {
        note,
        checkpoint,
        fault,
        signatures: await signaturesOf(note, checkpoint, policy),
        keptSize: seenBefore,
        lookedAt: Date.now(),
      };
    },
  });
}

/** Returns the trust of the client: a policy, or a single key. */
function trustOf(policy: Policy, text: string): { policy: string } | { vkeys: string[] } {
  const line = text.trim();
  return policy.logs.length === 1 && !/\s/.test(line) ? { vkeys: [line] } : { policy: text };
}

async function signaturesOf(note: string, { origin }: Checkpoint, policy: Policy): Promise<ShownSignature[]> {
  const { text, signatures } = parseNote(note);
  const known: readonly (readonly [ShownSignature['role'], VerifierKey])[] = [
    ...policy.logs.filter(({ key }) => key.name === origin).map(({ key }) => ['log', key] as const),
    ...policy.witnesses.map(({ key }) => ['witness', key] as const),
  ];
  return Promise.all(
    signatures.map(async (line) => {
      const [role, key] = known.find(([, one]) => isOf(line, one)) ?? ['unknown', null];
      return {
        key: keyLabel(line),
        role,
        isValid: key === null ? null : await createVerifier(key).verify(text, line.signature),
        time: key === null ? null : cosignatureTime(key, line),
      };
    }),
  );
}

function isOf(line: NoteSignature, key: VerifierKey): boolean {
  return line.name === key.name && line.keyId === key.keyId;
}
