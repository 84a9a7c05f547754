import type { Snapshot } from '@identity-state/client';
import { UsageError } from '../../command';
import { defineCommand } from '../../define';
import { leavesOf, shortValue } from '../../service/leaves';
import { JSON_OPTION, type Style, styleOf } from '../../output';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../../service/caller';
import { contentChanges, type ValueChange } from '../../service/changes';
import { kindText } from '../../service/change-text';
import { coveringRefs, evidenceText, isAttribution } from '../../service/evidence';
import { SUBJECT_ARGUMENT } from '../../service/subject-name';
import { visible } from '../../visible';

export const diff = defineCommand({
  about:
    'iss verifies both versions and compares them locally. Without versions, it compares the latest version with the previous one. --json prints the diff of the service (RFC 6902), which no log proves, so it excludes --policy.',
  arguments: {
    subject: SUBJECT_ARGUMENT,
    versions: {
      label: 'FROM..TO',
      about: 'Versions, such as 1..3. A single number means that version and the previous one.',
      isOptional: true,
      read: versionsOf,
    },
  },
  options: { ...POLICY_OPTION, ...CALLER_OPTIONS, ...JSON_OPTION },
  async run({ subject: { type, id }, versions, policy, json }, context, options) {
    if (json && policy !== undefined) {
      throw new UsageError('--json prints the diff of the service, which --policy cannot prove. Remove one of them.');
    }
    await asCaller(options, context, async ({ tenant }) => {
      const subject = tenant.subject(type, id);
      const { from, to } = versions ?? withPrevious((await subject.latest()).snapshot_version);
      if (json) {
        context.print(JSON.stringify(await subject.diff({ from, to }), null, 2));
        return;
      }
      const [older, newer] = await Promise.all([subject.version(from), subject.version(to)]);
      context.print(asText(older, newer, styleOf(context.screen)));
    });
  },
});

function versionsOf(text: string): { from: number; to: number } {
  const [, one, other] = /^v?([1-9]\d{0,9})(?:\.\.v?([1-9]\d{0,9}))?$/.exec(text) ?? [];
  if (one === undefined) throw new UsageError('The versions must be FROM..TO, such as 1..3, or one number.');
  return other === undefined ? withPrevious(Number(one)) : { from: Number(one), to: Number(other) };
}

function withPrevious(version: number): { from: number; to: number } {
  if (version === 1) throw new UsageError('Version 1 has no previous version. Name two versions, such as 1..2.');
  return { from: version - 1, to: version };
}

function asText(older: Snapshot, newer: Snapshot, style: Style): string {
  const changes = contentChanges(older.envelope, newer.envelope);
  const values = changes.filter(({ path }) => !isAttribution(path));
  const evidence = changes.find(({ path }) => path === '/evidence');
  return [
    style.red(headOf('---', older)),
    style.green(headOf('+++', newer)),
    ...(changes.length === 0 ? ['The versions are equal.'] : []),
    ...values.flatMap((change) => ['', ...asLines(change, older, newer, style)]),
    ...(evidence === undefined ? [] : ['', style.bold('/evidence'), ...evidenceLines(evidence, style)]),
  ].join('\n');
}

function headOf(sign: string, { subject, snapshot_version: version, change_kind: kind, envelope }: Snapshot): string {
  const { subject_type: type, subject_id: id } = subject;
  return visible(
    `${sign} ${type}/${id}@${version}  ${envelope.generated_at}  ${envelope.audit.created_by}${kindText(kind)}`,
  );
}

function asLines({ path, before, after }: ValueChange, older: Snapshot, newer: Snapshot, style: Style): string[] {
  const refs = coveringRefs(after === undefined ? older.envelope : newer.envelope, path);
  const isCarried =
    before !== undefined &&
    after !== undefined &&
    refs.length > 0 &&
    JSON.stringify(refs) === JSON.stringify(coveringRefs(older.envelope, path));
  const from = `${evidenceText(refs, 'no evidence')}${isCarried ? ', not renewed' : ''}`;
  return [
    `${style.bold(visible(path))}  ${style.dim(from)}`,
    ...signed('-', before, style.red),
    ...signed('+', after, style.green),
  ];
}

function signed(sign: string, value: unknown, paint: (text: string) => string): string[] {
  if (value === undefined) return [];
  return leavesOf(value).map((leaf) =>
    paint(`${sign} ${leaf.path === '' ? '' : `${visible(leaf.path)} `}${shortValue(leaf.value)}`),
  );
}

/** Returns lines for the items of evidence that were removed and added. */
function evidenceLines({ before, after }: ValueChange, style: Style): string[] {
  const [old, now] = [before, after].map((items) =>
    Array.isArray(items) ? items.map((item) => shortValue(item)) : [],
  );
  const gone = (old ?? []).filter((item) => !(now ?? []).includes(item));
  const come = (now ?? []).filter((item) => !(old ?? []).includes(item));
  return [...gone.map((item) => style.red(`- ${item}`)), ...come.map((item) => style.green(`+ ${item}`))];
}
