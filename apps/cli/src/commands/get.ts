import { type Snapshot, verificationOf } from '@identity-state/client';
import { choiceOf, type Command, type Options, textOf, UsageError } from '../command';
import { leavesOf, shortValue } from '../leaves';
import { JSON_OPTION, showOne, type Style, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../service/caller';
import { momentAtEnd } from '../service/moments';
import { SUBJECT_ARGUMENT, versionedSubjectOf } from '../service/subject-name';
import { evidenceText } from '../service/evidence';
import { visible } from '../visible';

const BASES = ['recorded', 'effective'] as const;

/** Shows one version of a subject. */
export const get: Command = {
  about:
    'The latest version, the one behind @, or the one that was the latest at a moment. It is shown once its content has the ' +
    'hash that is claimed; with --policy once the log has it too.',
  usage: 'SUBJECT[@VERSION] [--as-of T [--basis WHICH]] [--policy FILE] [--tenant ID] [--profile NAME] [--json]',
  arguments: [SUBJECT_ARGUMENT],
  options: {
    'as-of': {
      value: 'T',
      about:
        'The version that was the latest at this moment, as 2026-01-31T12:00:00Z, or at the end of this day, as 2026-01-31.',
    },
    basis: {
      value: 'WHICH',
      about: 'By when it was stored (recorded), or by what its writer said (effective).',
      choices: BASES,
    },
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { subject, version } = versionedSubjectOf(textOf(options, 'subject') ?? '');
    const named = textOf(options, 'as-of');
    const asOf = named === undefined ? undefined : momentAtEnd('as-of', named);
    if (version !== null && asOf !== undefined) throw new UsageError('Name one: SUBJECT@VERSION, or --as-of T.');
    const basis = basisOf(options);
    await asCaller(options, context, async ({ tenant }) => {
      const one = tenant.subject(subject.type, subject.id);
      const snapshot = version === null ? await one.latest({ asOf, basis }) : await one.version(version);
      showOne(options, context, snapshot, () => asText(snapshot, styleOf(context.screen)));
    });
  },
};

function basisOf(options: Options): (typeof BASES)[number] | undefined {
  const basis = choiceOf(options, 'basis', BASES);
  if (basis !== undefined && textOf(options, 'as-of') === undefined) {
    throw new UsageError('--basis says what --as-of T is about: name that too.');
  }
  return basis;
}

function asText(snapshot: Snapshot, style: Style): string {
  const { subject, snapshot_version: version, envelope_hash: hash, envelope, created_at: storedAt } = snapshot;
  const { audit, evidence, attributes } = envelope;
  const leaves = leavesOf(attributes, '/attributes');
  const width = Math.max(...leaves.map(({ path }) => path.length));
  return [
    style.yellow(visible(`${subject.subject_type}/${subject.subject_id}@${version}`)),
    visible(`Hash:     ${hash ?? 'none: it was imported without one'}`),
    `By:       ${visible(audit.created_by)} (${visible(audit.source)})`,
    visible(`Made:     ${envelope.generated_at}, stored ${storedAt}`),
    `Evidence: ${evidenceText(evidence)}`,
    `Verified: ${verifiedText(snapshot)}`,
    '',
    ...leaves.map(({ path, value }) => `    ${style.cyan(visible(path).padEnd(width))}  ${shortValue(value)}`),
  ].join('\n');
}

function verifiedText(snapshot: Snapshot): string {
  const log = verificationOf(snapshot)?.log;
  if (log === undefined || log === null) return 'its content has this hash';
  const { size, cosignedBy } = log.checkpoint;
  const witnesses = cosignedBy.length === 0 ? '' : `, cosigned by ${cosignedBy.map(visible).join(', ')}`;
  return `its content has this hash, and it is entry ${log.logIndex} of a log of ${size}${witnesses}`;
}
