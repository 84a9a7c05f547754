import { type Snapshot, verificationOf } from '@identity-state/client';
import { UsageError } from '../../command';
import { defineCommand } from '../../define';
import { leavesOf, shortValue } from '../../service/leaves';
import { JSON_OPTION, showOne, type Style, styleOf } from '../../output';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../../service/caller';
import { kindText } from '../../service/change-text';
import { evidenceText } from '../../service/evidence';
import { momentAtEnd } from '../../service/moments';
import { VERSIONED_SUBJECT } from '../../service/subject-name';
import { visible } from '../../visible';

export const get = defineCommand({
  about: 'Without @VERSION or --as-of, it shows the latest version. iss verifies the hash of the content.',
  arguments: { subject: VERSIONED_SUBJECT },
  options: {
    'as-of': {
      value: 'TIME',
      about: 'Time, or a day for its end: the version that was the latest then.',
      read: momentAtEnd,
    },
    basis: {
      value: 'WHICH',
      about: 'For --as-of: recorded (when it was stored) or effective (the time that its writer set).',
      choices: ['recorded', 'effective'],
    },
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run({ subject: { subject, version }, 'as-of': asOf, basis }, context, options) {
    if (version !== null && asOf !== undefined)
      throw new UsageError('SUBJECT@VERSION and --as-of exclude each other. Remove one of them.');
    if (basis !== undefined && asOf === undefined)
      throw new UsageError('--basis applies to --as-of. Add --as-of TIME.');
    await asCaller(options, context, async ({ tenant }) => {
      const one = tenant.subject(subject.type, subject.id);
      const snapshot = version === null ? await one.latest({ asOf, basis }) : await one.version(version);
      showOne(options, context, snapshot, () => asText(snapshot, styleOf(context.screen)));
    });
  },
});

function asText(snapshot: Snapshot, style: Style): string {
  const { subject, snapshot_version: version, change_kind: kind, envelope_hash: hash, envelope } = snapshot;
  const { audit, evidence, attributes } = envelope;
  const leaves = leavesOf(attributes, '/attributes');
  const width = Math.max(...leaves.map(({ path }) => path.length));
  return [
    style.yellow(visible(`${subject.subject_type}/${subject.subject_id}@${version}${kindText(kind)}`)),
    visible(`Hash:     ${hash ?? 'none (imported without a hash)'}`),
    `By:       ${visible(audit.created_by)} (${visible(audit.source)})`,
    visible(`Made:     ${envelope.generated_at}, stored ${snapshot.created_at}`),
    `Evidence: ${evidenceText(evidence)}`,
    `Verified: ${verifiedText(snapshot)}`,
    '',
    ...leaves.map(({ path, value }) => `    ${style.cyan(visible(path).padEnd(width))}  ${shortValue(value)}`),
  ].join('\n');
}

function verifiedText(snapshot: Snapshot): string {
  const { log = null, mode } = verificationOf(snapshot) ?? {};
  if (log === null) return 'the content has this hash';
  const { size, cosignedBy } = log.checkpoint;
  const newest = mode === 'complete' ? ', the newest version in it' : '';
  const witnesses = cosignedBy.length === 0 ? '' : `, cosigned by ${cosignedBy.map(visible).join(', ')}`;
  return `the content has this hash and is entry ${log.logIndex} of a log of ${size}${newest}${witnesses}`;
}
