import { type api, patchOf } from '@identity-state/client';
import { type Command, Failure, textOf, textsOf, UsageError } from '../command';
import { shortValue } from '../leaves';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { edited, removalOf, settingOf } from '../service/edits';
import { evidenceText, isAttribution, readEvidence } from '../service/evidence';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

/** Proposes a change of the latest version. */
export const propose: Command = {
  about:
    'What is set and removed becomes a patch (RFC 6902) on the latest version, which is verified first. The evidence is added, and ' +
    'named for each value that changes; for a removed value, it is named for the object or array around it. Evidence of an array ' +
    'element moves with the element. Nothing is changed before it is applied: iss apply.',
  arguments: [SUBJECT_ARGUMENT],
  options: {
    set: { value: 'PATH=JSON', about: 'A value, as /attributes/legal/form=\'"plc"\'.', isRepeated: true },
    remove: { value: 'PATH', about: 'A value that is to go.', isRepeated: true },
    evidence: {
      value: 'FILE',
      about: 'Where it is known from: one item of evidence or a list, JSON.',
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
      throw new UsageError('What is to change? Name --set PATH=JSON, --remove PATH or --evidence FILE.');
    }
    await asCaller(options, context, async ({ tenant }) => {
      const subject = tenant.subject(type, id);
      const base = await subject.latest();
      const patch = patchOf(base.envelope, edited(base.envelope, edits), evidence);
      if (patch.length === 0)
        throw new Failure(`Version ${visible(String(base.snapshot_version))} says so already: nothing would change.`);
      const update = await subject.propose({ base_snapshot_version: base.snapshot_version, patch_ops: patch });
      showOne(options, context, update, ({ update_id: updateId, base_snapshot_version: version, patch_ops: ops }) =>
        [
          visible(`Proposed on version ${version}: ${updateId}`),
          ...(ops ?? []).filter(({ path }) => !isAttribution(path)).map(lineOf),
          ...(evidence.length === 0 ? [] : [`  with ${evidenceText(evidence)}`]),
          visible(`Apply it: iss apply ${updateId}`),
        ].join('\n'),
      );
    });
  },
};

function lineOf({ op, path, value }: api.PatchOperation): string {
  return `  ${visible(op)} ${visible(path)}${value === undefined ? '' : ` ${shortValue(value)}`}`;
}
