import { type Command, textOf, textsOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { momentToCome } from '../service/moments';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

/** Asks the owner of a subject to bring it up to date. */
export const askRequest: Command = {
  arguments: [SUBJECT_ARGUMENT],
  options: {
    path: {
      value: 'PATH',
      about: 'What is asked for, as /attributes/legal: all of it, where it is left out.',
      isRepeated: true,
    },
    reason: { value: 'CODE', about: 'Why, as a code of your own.' },
    message: { value: 'TEXT', about: 'A message to the owner.' },
    due: { value: 'T', about: 'When the answer is wanted: a moment, a day, or how long, as 14d.' },
    expires: { value: 'T', about: 'When the request expires, if nobody has answered it: as --due.' },
    every: {
      value: 'DURATION',
      about: 'Repeats it, as P1Y or P3M (ISO 8601), until you cancel it: see iss requests cancel.',
    },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { type, id } = subjectOf(textOf(options, 'subject') ?? '');
    const paths = textsOf(options, 'path');
    const moment = (option: 'due' | 'expires'): string | null => {
      const text = textOf(options, option);
      return text === undefined ? null : momentToCome(option, text);
    };
    const asked = {
      ...(paths.length === 0 ? {} : { requested_paths: [...paths] }),
      reason_code: textOf(options, 'reason') ?? null,
      message: textOf(options, 'message') ?? null,
      due_at: moment('due'),
      expires_at: moment('expires'),
      every: textOf(options, 'every') ?? null,
    };
    await asCaller(options, context, async ({ tenant }) => {
      const { refreshRequests } = tenant.subject(type, id);
      const request = await refreshRequests.create({ requesting_tenant_id: tenant.tenantId, ...asked });
      showOne(options, context, request, ({ refresh_request_id: requestId }) =>
        visible(`Asked for ${type}/${id}: ${requestId}`),
      );
    });
  },
};
