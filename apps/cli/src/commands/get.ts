import { type Snapshot, verificationOf } from '@identity-state/client';
import { type Command, textOf, UsageError } from '../command';
import { leavesOf, shortValue } from '../leaves';
import { JSON_OPTION, showOne, type Style, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../service/caller';
import { SUBJECT_ARGUMENT, versionedSubjectOf } from '../service/subject-name';
import { evidenceText } from '../service/evidence';
import { visible } from '../visible';

/** Shows one version of a subject. */
export const get: Command = {
  about:
    'The latest version, the one behind @, or the one that was the latest at a moment. It is shown once its content has the ' +
    'hash that is claimed; with --policy once the log has it too.',
  usage: 'SUBJECT[@VERSION] [--as-of T [--basis WHICH]] [--policy FILE] [--tenant ID] [--profile NAME] [--json]',
  arguments: [SUBJECT_ARGUMENT],
  options: {
    'as-of': { value: 'T', about: 'The version that was the latest at this moment, as 2026-01-31T12:00:00Z.' },
    basis: { value: 'WHICH', about: 'By when it was stored (recorded), or by what its writer said (effective).' },
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { subject, version } = versionedSubjectOf(textOf(options, 'subject') ?? '');
    const asOf = textOf(options, 'as-of');
    if (version !== null && asOf !== undefined) throw new UsageError('Name one: SUBJECT@VERSION, or --as-of T.');
    const basis = basisOf(textOf(options, 'basis'), asOf);
    await asCaller(options, context, async ({ tenant }) => {
      const one = tenant.subject(subject.type, subject.id);
      const snapshot = version === null ? await one.latest({ asOf, basis }) : await one.version(version);
      showOne(options, context, snapshot, () => asText(snapshot, styleOf(context.screen)));
    });
  },
};

function basisOf(text: string | undefined, asOf: string | undefined): 'recorded' | 'effective' | undefined {
  if (text === undefined) return undefined;
  if (asOf === undefined) throw new UsageError('--basis says what --as-of T is about: name that too.');
  if (text === 'recorded' || text === 'effective') return text;
  throw new UsageError('--basis takes recorded or effective.');
}

function asText(snapshot: Snapshot, style: Style): string {
  const { subject, snapshot_version: version, envelope_hash: hash, envelope, created_at: storedAt } = snapshot;
  const { audit, evidence, attributes } = envelope;
  const leaves = leavesOf(attributes, '/attributes');
  const width = Math.max(...leaves.map(({ path }) => path.length));
  return [
    style.yellow(`${subject.subject_type}/${visible(subject.subject_id)}@${version}`),
    `Hash:     ${hash ?? 'none: it was imported without one'}`,
    `By:       ${visible(audit.created_by)} (${visible(audit.source)})`,
    `Made:     ${envelope.generated_at}, stored ${storedAt}`,
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
