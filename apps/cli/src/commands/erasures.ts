import type { api, Tenant } from '@identity-state/client';
import { type Command, textOf } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

export const erasures: Command = {
  about: 'Newest first, with the status of each and with the people who requested and confirmed it (docs/erasure.md).',
  arguments: [{ ...SUBJECT_ARGUMENT, isOptional: true }],
  options: { ...LIST_OPTIONS, ...CALLER_OPTIONS },
  async run(options, context) {
    const subject = textOf(options, 'subject');
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, erasuresOf(tenant, subject), {
        none: 'There are no erasures.',
        paint: { erasure: style.yellow },
        asRow: (erasure) => ({
          erasure: visible(erasure.erasure_id),
          ...(subject === undefined ? { subject: visible(`${erasure.subject_type}/${erasure.subject_id}`) } : {}),
          versions: visible(erasure.versions.join(', ')),
          status: visible(erasure.status),
          'asked by': visible(erasure.requested_by),
          'confirmed by': visible(erasure.confirmed_by ?? ''),
        }),
      }),
    );
  },
};

function erasuresOf(tenant: Tenant, subject: string | undefined): AsyncIterable<api.Erasure> {
  if (subject === undefined) return tenant.erasures();
  const { type, id } = subjectOf(subject);
  return tenant.subject(type, id).erasures();
}
