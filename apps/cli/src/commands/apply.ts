import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { UPDATE_ARGUMENT, updateOf } from '../service/update';
import { visible } from '../visible';

export const apply: Command = {
  about: 'It is refused if the subject has a newer version than the proposal. Then propose the change again.',
  arguments: [UPDATE_ARGUMENT],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    const updateId = textOf(options, 'update') ?? '';
    await asCaller(options, context, async (caller) => {
      const { update, subject } = await updateOf(caller, updateId);
      const applied = await subject.apply(updateId);
      showOne(options, context, applied, ({ snapshot_version: version, envelope_hash: hash }) =>
        visible(`${update.subject_type}/${update.subject_id}@${version} written, sha256 ${hash ?? ''}`),
      );
    });
  },
};
