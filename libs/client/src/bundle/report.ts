import { type ShownCheckpoint, shownCheckpoint } from './checkpoint.ts';
import type { Proved } from './proved.ts';

/** An older checkpoint that the log was proved to have gone on from. */
export interface Since {
  readonly size: number;
}

/** What a verification is worth, in words. */
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
    notProved: notProved(checkpoint, since),
  };
}

/** The same for machines. */
export function reportAsJson(proved: Proved, since: Since | null): object {
  const checkpoint = shownCheckpoint(proved.verified);
  return {
    verified: true,
    ...proved.json,
    ...checkpoint,
    consistent_with: since === null ? null : { tree_size: since.size },
    not_proved: notProved(checkpoint, since),
  };
}

function notProved({ tree_size: size, cosigned_by: cosigned }: ShownCheckpoint, since: Since | null): string[] {
  const times = cosigned.flatMap(({ at }) => (at === null ? [] : [at])).sort();
  const [first] = times;
  return [
    `That nothing newer exists. This is the log as it was at ${size} entries; ask for a newer proof to see what came after.`,
    'That the log has no second entry for one of these versions: an entry that is there is not the only one.',
    'That what was written is true. The log keeps what was said, by whom it was written, and in which order.',
    first === undefined
      ? 'When. The checkpoint has no time of a witness: times in the entries are the service’s own word.'
      : `When, more exactly than this: all of it was in the log by ${first}, by the witness’s clock.`,
    ...(cosigned.length === 0
      ? ['That everybody is shown the same log. No witness that you trust saw this checkpoint; compare it with others.']
      : []),
    ...(since === null
      ? ['That the log kept what it showed you before. Keep this checkpoint, and give the next check --since with it.']
      : []),
  ];
}
