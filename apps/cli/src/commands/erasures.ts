import { type Command, textOf } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

/** Lists the erasures of a subject. */
export const erasures: Command = {
  about: 'Newest first: what was asked for, what was confirmed or cancelled, and what was destroyed (docs/erasure.md).',
  arguments: [SUBJECT_ARGUMENT],
  options: { ...LIST_OPTIONS, ...CALLER_OPTIONS },
  async run(options, context) {
    const { type, id } = subjectOf(textOf(options, 'subject') ?? '');
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, tenant.subject(type, id).erasures(), {
        none: 'Nothing of it was ever to be erased.',
        paint: { erasure: style.yellow },
        asRow: (erasure) => ({
          erasure: visible(erasure.erasure_id),
          versions: visible(erasure.versions.join(', ')),
          status: visible(erasure.status),
          'asked by': visible(erasure.requested_by),
          'confirmed by': visible(erasure.confirmed_by ?? ''),
        }),
      }),
    );
  },
};
