import { encodeBase64, keyLabel, type VerifiedCheckpoint, type VerifierKey } from '@iss/tlog';
import { timeText } from './trust';

/** The result of a successful verification. */
export interface Proved {
  readonly verified: VerifiedCheckpoint;
  /** The result as rows of text. */
  readonly shown: readonly (readonly [heading: string, text: string])[];
  /** The same as data. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The map proves that nothing newer is in the log. */
  readonly isNewest?: boolean;
  /** Further sentences about what is not proved. */
  readonly notProved?: readonly string[];
}

const ALGORITHMS: Readonly<Record<VerifierKey['type'], string>> = {
  ed25519: 'Ed25519',
  'ed25519-cosignature': 'Ed25519',
  'ml-dsa-44-cosignature': 'ML-DSA-44',
};

/** A valid checkpoint, formatted for output. */
export interface ShownCheckpoint {
  log_origin: string;
  tree_size: number;
  /** Base64, as in the note. */
  root_hash: string;
  signed_by: { key: string; algorithm: string; at: string | null }[];
  cosigned_by: { witness: string; key: string; at: string | null }[];
}

export function shownCheckpoint({ checkpoint, logSignatures, cosignatures }: VerifiedCheckpoint): ShownCheckpoint {
  return {
    log_origin: checkpoint.origin,
    tree_size: checkpoint.size,
    root_hash: encodeBase64(checkpoint.root),
    signed_by: logSignatures.map(({ key, time }) => ({
      key: keyLabel(key),
      algorithm: ALGORITHMS[key.type],
      at: momentOf(time),
    })),
    cosigned_by: cosignatures.map(({ witness, signature: { key, time } }) => ({
      witness: witness.name,
      key: keyLabel(key),
      at: momentOf(time),
    })),
  };
}

function momentOf(seconds: number | null): string | null {
  return seconds === null ? null : timeText(seconds).replace('.000Z', 'Z');
}

/** An older checkpoint that the log is proved to continue. */
export interface Since {
  readonly size: number;
}

/** The result of a verification as text, with what it does not prove. */
export interface Report {
  readonly rows: readonly (readonly [heading: string, text: string])[];
  readonly notProved: readonly string[];
}

export function reportOf(proved: Proved, since: Since | null): Report {
  const checkpoint = shownCheckpoint(proved.verified);
  const { log_origin: origin, tree_size: size, root_hash: root, signed_by: signed, cosigned_by: cosigned } = checkpoint;
  const at = (time: string | null): string => (time === null ? '' : `, ${time}`);
  return {
    rows: [
      ...proved.shown,
      ['Log', `${origin}, ${size} entries, root ${root}`],
      ...signed.map((one) => ['Signed by', `${one.key} (${one.algorithm})${at(one.at)}`] as const),
      ...cosigned.map((one) => ['Witnessed by', `${one.witness}, ${one.key}${at(one.at)}`] as const),
      ...(since === null
        ? []
        : [['Consistent', `with the checkpoint of ${since.size} entries that you have`] as const]),
    ],
    notProved: notProved(checkpoint, since, proved),
  };
}

/** Returns the result as data. */
export function reportAsJson(proved: Proved, since: Since | null): object {
  const checkpoint = shownCheckpoint(proved.verified);
  return {
    verified: true,
    ...proved.json,
    ...checkpoint,
    consistent_with: since === null ? null : { tree_size: since.size },
    not_proved: notProved(checkpoint, since, proved),
  };
}

/** The sentence for proofs that look up only some of their versions. */
export const SECOND_ENTRY =
  'That the log has no second entry for one of these versions. A proof shows that an entry exists, not that it is the only one.';

function notProved(
  { tree_size: size, cosigned_by: cosigned }: ShownCheckpoint,
  since: Since | null,
  { isNewest = false, notProved: more = [] }: Proved,
): string[] {
  const times = cosigned.flatMap(({ at }) => (at === null ? [] : [at])).sort();
  const [first] = times;
  return [
    ...(isNewest
      ? [
          `That nothing was logged after these ${size} entries. Request a newer proof, and limit its age with --max-age.`,
        ]
      : [
          `That nothing newer exists. This is the log at ${size} entries. Request a newer proof to see later versions.`,
          SECOND_ENTRY,
        ]),
    ...more,
    'That the content is true. The log records what was written, by whom, and in which order.',
    first === undefined
      ? 'The time. No witness dated the checkpoint, so all times come from the service.'
      : `The exact time. The clock of a witness shows only that everything was in the log by ${first}.`,
    ...(cosigned.length === 0
      ? ['That everyone sees the same log. No trusted witness saw this checkpoint. Compare it with others.']
      : []),
    ...(since === null
      ? ['That the log kept its earlier entries. Keep this checkpoint, and pass it to the next check with --since.']
      : []),
  ];
}
