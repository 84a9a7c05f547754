import { type api, patchOf } from '@identity-state/client';
import { type Command, Failure, textOf, textsOf, UsageError } from '../command';
import { shortValue } from '../leaves';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { edited, removalOf, settingOf } from '../service/edits';
import { evidenceText, isAttribution, readEvidence } from '../service/evidence';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

export const propose: Command = {
  about:
    'The edits become a patch (RFC 6902) of the verified latest version. The evidence is added and linked to each changed value, or for a removed value to the enclosing object or array. If an array element moves, its evidence moves with it. The subject does not change until iss apply.',
  arguments: [SUBJECT_ARGUMENT],
  options: {
    set: { value: 'PATH=JSON', about: 'New value, such as /attributes/legal/form=\'"plc"\'.', isRepeated: true },
    remove: { value: 'PATH', about: 'Value to remove.', isRepeated: true },
    evidence: {
      value: 'FILE',
      about: 'JSON file with one item of evidence or a list.',
      isRepeated: true,
    },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { type, id } = subjectOf(textOf(options, 'subject') ?? '');
    const edits = [...textsOf(options, 'remove').map(removalOf), ...textsOf(options, 'set').map(settingOf)];
    const evidence = readEvidence(textsOf(options, 'evidence'));
    if (edits.length === 0 && evidence.length === 0) {
      throw new UsageError('No change is named. Add --set PATH=JSON, --remove PATH or --evidence FILE.');
    }
    await asCaller(options, context, async ({ tenant }) => {
      const subject = tenant.subject(type, id);
      const base = await subject.latest();
      const patch = patchOf(base.envelope, edited(base.envelope, edits), evidence);
      if (patch.length === 0)
        throw new Failure(
          `Nothing would change: version ${visible(String(base.snapshot_version))} already has these values.`,
        );
      const update = await subject.propose({ base_snapshot_version: base.snapshot_version, patch_ops: patch });
      showOne(options, context, update, ({ update_id: updateId, base_snapshot_version: version, patch_ops: ops }) =>
        [
          visible(`Proposed ${updateId}, based on version ${version}`),
          ...(ops ?? []).filter(({ path }) => !isAttribution(path)).map(lineOf),
          ...(evidence.length === 0 ? [] : [`  with ${evidenceText(evidence)}`]),
          visible(`To apply it: iss apply ${updateId}`),
        ].join('\n'),
      );
    });
  },
};

function lineOf({ op, path, value }: api.PatchOperation): string {
  return `  ${visible(op)} ${visible(path)}${value === undefined ? '' : ` ${shortValue(value)}`}`;
}
