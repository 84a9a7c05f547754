import { type Command, textOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { UPDATE_ARGUMENT, updateOf } from '../service/update';
import { visible } from '../visible';

export const withdraw: Command = {
  arguments: [UPDATE_ARGUMENT],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    const updateId = textOf(options, 'update') ?? '';
    await asCaller(options, context, async (caller) => {
      const { subject } = await updateOf(caller, updateId);
      const withdrawn = await subject.withdraw(updateId);
      showOne(options, context, withdrawn, ({ subject_type: type, subject_id: id }) =>
        visible(`Withdrew the proposal on ${type}/${id}. The subject is unchanged.`),
      );
    });
  },
};
